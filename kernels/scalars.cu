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
// out        rows, each       parse        int32, int64 or float64
// undecided  floats * words   parse        bit per row of each column of float64: the host must look
#include "float64.cuh"
#include "number_kinds.cuh"

// As ValueKind of records.go. Those from false to string are single values.
enum { VALUE_NULL = 1, VALUE_FALSE, VALUE_TRUE, VALUE_NUMBER, VALUE_STRING };

// Also in scalars.go: which column a block takes is a byte, the number of the column below its type.
enum { COLUMN_INT32, COLUMN_INT64, COLUMN_FLOAT64 };
constexpr u64 FLOAT64_BITS = 0x2020202020202020ull;  // of COLUMN_FLOAT64, in 8 of them

// One thread, one row of one column.
KERNEL __launch_bounds__(BLOCK) scalars_read(const u8 *__restrict__ text, i64 n, const u32 *__restrict__ value_start, const u32 *__restrict__ value_end, const u8 *__restrict__ kind, i64 members, i64 rows, u32 columns, const u32 *s0, const u32 *s1, const u32 *s2, const u32 *s3, const u32 *s4, const u32 *s5, const u32 *s6, const u32 *s7, i64 *__restrict__ starts, i64 *__restrict__ ends, u64 *__restrict__ valid, u64 *__restrict__ numbers, u64 *__restrict__ trues, u32 *__restrict__ kinds) {
  __shared__ u32 all;
  const u32 column = blockIdx.x % columns;
  const i64 row = (i64)(blockIdx.x / columns) * BLOCK + threadIdx.x, words = (rows + WORD - 1) / WORD;
  u32 k = 0, mine = 0;
  if (threadIdx.x == 0) all = 0;
  if (row < rows) {
    const u32 member = select(column, s0, s1, s2, s3, s4, s5, s6, s7)[row];
    i64 start = 0, end = 0;
    if (member < members) k = kind[member], start = value_start[member], end = value_end[member];  // at once, needed or not
    if (k == VALUE_NUMBER) mine = number_kinds_of(text, n, start, end);
    const i64 quote = k == VALUE_STRING;
    const bool single = k >= VALUE_FALSE && k <= VALUE_STRING;
    starts[column * rows + row] = single ? start + quote : 0, ends[column * rows + row] = single ? end - quote : 0;
  }
  store_bits(valid + column * words, row, rows, k > VALUE_NULL);
  store_bits(numbers + column * words, row, rows, k == VALUE_NUMBER);
  store_bits(trues + column * words, row, rows, k == VALUE_TRUE);
  mine = __reduce_or_sync(WARP, mine);
  __syncthreads();
  if (lane_index() == 0 && mine) atomicOr(&all, mine);
  __syncthreads();
  // Few blocks bring anything new. What is read may be old, then the atomic is one too many.
  if (threadIdx.x == 0 && all & ~*(volatile u32 *)(kinds + column)) atomicOr(kinds + column, all);
}

// The integer text[at, end), which is one of up to 64 bits, in two's complement.
__device__ __forceinline__ u64 integer_bits(const u8 *__restrict__ text, i64 n, i64 at, i64 end) {
  if (at < 0 || at >= end || end > n || end - at > 21) return 0;  // 20 digits and a sign
  const bool negative = text[at] == '-';
  u64 v = 0;
  for (at += negative; at < end;) {
    const u32 k = end - at < 8 ? (u32)(end - at) : 8;
    v = v * TENS[k] + eight_digits((load_up_to_eight(text, n, at) ^ 0x3030303030303030ull) << (64 - 8 * k));
    at += k;
  }
  return negative ? 0 - v : v;
}

// One thread, one row of one column. -0 is an integer, and so 0 in any column; only as a token of two bytes it is one.
KERNEL __launch_bounds__(BLOCK) scalars_parse(const u8 *__restrict__ text, i64 n, i64 rows, const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u64 *__restrict__ numbers, const u64 *__restrict__ trues, u64 which, u32 columns, void *o0, void *o1, void *o2, void *o3, void *o4, void *o5, void *o6, void *o7, u64 *__restrict__ undecided) {
  const u32 i = blockIdx.x % columns, column = which >> 8 * i & 15, type = which >> (8 * i + 4) & 15;
  const i64 row = (i64)(blockIdx.x / columns) * BLOCK + threadIdx.x, words = (rows + WORD - 1) / WORD, word = column * words + row / WORD;
  void *out = select(i, o0, o1, o2, o3, o4, o5, o6, o7);
  bool unsure = false;
  if (row < rows) {
    const i64 start = starts[column * rows + row], end = ends[column * rows + row];
    const bool number = !numbers || numbers[word] >> row % WORD & 1, one = trues && trues[word] >> row % WORD & 1;
    if (type == COLUMN_FLOAT64) {
      u64 bits = one ? ONE_BITS : 0;
      if (number) {
        const Float64 v = float64_of(text, n, start, end, GRAMMAR_JSON);
        unsure = v.state == NUMBER_UNDECIDED;
        bits = v.bits << 1 || end - start != 2 ? v.bits : 0;
      }
      ((u64 *)out)[row] = bits;
    } else {
      const u64 v = number ? integer_bits(text, n, start, end) : one;
      if (type == COLUMN_INT64) ((u64 *)out)[row] = v;
      else ((u32 *)out)[row] = (u32)v;
    }
  }
  if (type == COLUMN_FLOAT64) store_bits(undecided + __popcll(which & FLOAT64_BITS & low_bits(8 * i)) * words, row, rows, unsure);
}
