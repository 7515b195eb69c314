// scalars.cu: columns of single values: all columns of a table in one launch, so that a few columns fill a card, and members that lie beside each other are read at
// about the same time.
//
//   block    | rows 0 to 255 of column 0 | the same rows of column 1 | ... | rows 256 to 511 of column 0 | ...
//
// buffer     elements         written by   what
// slots      rows, each       -            member of each row, all ones where there is none
// starts     columns * rows   read         of the text of each row's value; 0 where it has no single value
// ends       columns * rows   read         likewise
// valid      columns * words  read         bit per row: a value that is not null
// numbers    columns * words  read         bit per row: a number
// trues      columns * words  read         bit per row: true
// kinds      columns          read         the kinds of all numbers of a column; 0 before
// out        rows, each       read, parse  int32, int64 or float64; read makes those of columns whose type is expected
// undecided  floats * words   read, parse  bit per row of each column of float64 that is made: the host must look
#include "float64.cuh"
#include "number_kinds.cuh"

// As ValueKind of records.go. Those from false to string are single values.
enum { VALUE_NULL = 1, VALUE_FALSE, VALUE_TRUE, VALUE_NUMBER, VALUE_STRING };

// Also in scalars.go.
enum { COLUMN_INT32, COLUMN_INT64, COLUMN_FLOAT64, COLUMN_NONE };

// Writes the value of a row, which is a number, or true, or neither. What a number becomes that the type does not hold is left open: then the kinds say so.
// True if the host must look at it.
__device__ __forceinline__ bool store_value(void *out, u32 type, i64 row, bool number, const Decimal &d, bool one) {
  if (type == COLUMN_FLOAT64) {
    Number v = {one ? ONE_BITS : 0, 0, NUMBER_VALID};
    if (number) v = rounded(d);
    ((u64 *)out)[row] = v.bits;
    return v.state == NUMBER_UNDECIDED;
  }
  const u64 v = !number ? one : d.negative ? 0 - d.digits : d.digits;
  if (type == COLUMN_INT64) ((u64 *)out)[row] = v;
  if (type == COLUMN_INT32) ((u32 *)out)[row] = (u32)v;
  return false;
}

// The types of a launch's columns are 4 bits each, the first one's lowest. This is how many of float64, which alone is 2 in its lower two bits, lie before one of them.
//
//   types   2 0 2 1 3   the first one left
//   result  0 1 1 2 2
__device__ __forceinline__ u32 floats_before(u32 types, u32 i) { return __popc(types >> 1 & ~types & 0x11111111u & (u32)low_bits(4 * i)); }

// One thread, one row of one column.
KERNEL __launch_bounds__(BLOCK) scalars_read(const u8 *__restrict__ text, i64 n, const u32 *__restrict__ value_start, const u32 *__restrict__ value_end, const u8 *__restrict__ kind, i64 members, i64 rows, u32 columns, const u32 *s0, const u32 *s1, const u32 *s2, const u32 *s3, const u32 *s4, const u32 *s5, const u32 *s6, const u32 *s7, i64 *__restrict__ starts, i64 *__restrict__ ends, u64 *__restrict__ valid, u64 *__restrict__ numbers, u64 *__restrict__ trues, u32 *__restrict__ kinds, u32 types, void *o0, void *o1, void *o2, void *o3, void *o4, void *o5, void *o6, void *o7, u64 *__restrict__ undecided) {
  __shared__ u32 all;
  const u32 column = blockIdx.x % columns, type = types >> 4 * column & 15;
  const i64 row = (i64)(blockIdx.x / columns) * BLOCK + threadIdx.x, words = (rows + WORD - 1) / WORD;
  u32 k = 0, mine = 0;
  bool unsure = false;
  if (threadIdx.x == 0) all = 0;
  if (row < rows) {
    const u32 member = select(column, s0, s1, s2, s3, s4, s5, s6, s7)[row];
    i64 start = 0, end = 0;
    if (member < members) k = kind[member], start = value_start[member], end = value_end[member];  // at once, needed or not
    Decimal d = {};
    if (k == VALUE_NUMBER) mine = number_kinds_of(text, n, start, end, d);
    if (type != COLUMN_NONE) unsure = store_value(select(column, o0, o1, o2, o3, o4, o5, o6, o7), type, row, k == VALUE_NUMBER, d, k == VALUE_TRUE);
    const i64 quote = k == VALUE_STRING;
    const bool single = k >= VALUE_FALSE && k <= VALUE_STRING;
    starts[column * rows + row] = single ? start + quote : 0, ends[column * rows + row] = single ? end - quote : 0;
  }
  store_bits(valid + column * words, row, rows, k > VALUE_NULL);
  store_bits(numbers + column * words, row, rows, k == VALUE_NUMBER);
  store_bits(trues + column * words, row, rows, k == VALUE_TRUE);
  if (type == COLUMN_FLOAT64) store_bits(undecided + floats_before(types, column) * words, row, rows, unsure);
  mine = __reduce_or_sync(WARP, mine);
  __syncthreads();
  if (lane_index() == 0 && mine) atomicOr(&all, mine);
  __syncthreads();
  // Few blocks bring anything new. What is read may be old, then the atomic is one too many.
  if (threadIdx.x == 0 && all & ~*(volatile u32 *)(kinds + column)) atomicOr(kinds + column, all);
}

// One thread, one row of one column. The columns are numbered by 4 bits of which each, as their types.
KERNEL __launch_bounds__(BLOCK) scalars_parse(const u8 *__restrict__ text, i64 n, i64 rows, const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u64 *__restrict__ numbers, const u64 *__restrict__ trues, u32 which, u32 types, u32 columns, void *o0, void *o1, void *o2, void *o3, void *o4, void *o5, void *o6, void *o7, u64 *__restrict__ undecided) {
  const u32 i = blockIdx.x % columns, column = which >> 4 * i & 15, type = types >> 4 * i & 15;
  const i64 row = (i64)(blockIdx.x / columns) * BLOCK + threadIdx.x, words = (rows + WORD - 1) / WORD, word = column * words + row / WORD;
  bool unsure = false;
  if (row < rows) {
    const bool number = !numbers || numbers[word] >> row % WORD & 1, one = trues && trues[word] >> row % WORD & 1;
    Decimal d = {};
    if (number) number_kinds_of(text, n, starts[column * rows + row], ends[column * rows + row], d);
    unsure = store_value(select(i, o0, o1, o2, o3, o4, o5, o6, o7), type, row, number, d, one);
  }
  if (type == COLUMN_FLOAT64) store_bits(undecided + floats_before(types, i) * words, row, rows, unsure);
}
