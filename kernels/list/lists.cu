// lists.cu: the elements of the arrays that are values of members, all of one depth, and what kinds
// of values they are.
//
//   text     [ 1 , " a " , [ 2 ] , null ]
//   first    . 1 . 1     . .       1          elements that are scalars
//   last     . 1 .     1 .               1
//   member   has a number, a string, and something else: no list of one kind
//
// A word finds where elements begin and end, without a look at what lies between; an element is
// then read by one thread, a number of a bounded length.
//
// buffer        elements       written by       what
// planes        3 * n/64       -                see structure.cu
// tile          n/16384        -                see quote.cuh, joined
// within        n/64           -                bytes of the arrays
// first, last   n/64           elements         the first and the last byte of each scalar that is an element
// flags         members        elements, kinds  LIST_* and kinds of numbers of each member's elements; 0 before
// report        1              rows             the same of a column, LIST_EMPTY and LIST_ODD among them; 0 before
// sizes         rows           rows             elements of each row
// starts, ends  elements       gather           of a column's elements
#include "json/check_values.cuh"
#include "number/number_kinds.cuh"
#include "search.cuh"

// Also in lists.go. The bits below are kinds of numbers.
enum {
  LIST_BOOL = 1 << 16,
  LIST_STRING = 1 << 17,
  LIST_NUMBER = 1 << 18,
  LIST_ODD = 1 << 19,
  LIST_EMPTY = 1 << 20
};

// as ValueKind of records.go; all from false to string are single values
constexpr u32 KIND_ARRAY = 7, KIND_FALSE = 2, KIND_STRING = 5;
__device__ __forceinline__ bool single_value(u32 kind) {
  return kind >= KIND_FALSE && kind <= KIND_STRING;
}

__device__ __forceinline__ void add_flags(u32 *__restrict__ flags, u32 more) {
  if (more & ~*(volatile u32 *)flags) atomicOr(flags, more);  // most elements bring nothing new
}

KERNEL __launch_bounds__(BLOCK) lists_elements(const u8 *__restrict__ text,
    const u64 *__restrict__ planes, i64 n, const QuoteTile *__restrict__ tile,
    const u64 *__restrict__ within, i64 level, const u32 *__restrict__ value_start, i64 members,
    u64 *__restrict__ first, u64 *__restrict__ last, u32 *__restrict__ flags) {
  __shared__ u32 shared[33];
  __shared__ i32 shared_depth[33];
  const i64 word = thread_index();
  const u64 mine = word * WORD < n ? within[word] & word_valid(n, word) : 0;
  if (!__syncthreads_or(mine != 0)) {
    if (word * WORD < n) first[word] = last[word] = 0;
    return;
  }
  const QuoteTile t = tile[blockIdx.x];
  const WordClasses x = word_classes(planes, n, word, t, shared);
  i32 change = __popcll(x.open) - __popcll(x.close), total;
  i64 depth = (i64)t.depth + block_exclusive(change, shared_depth, total);
  if (word * WORD >= n) return;
  const ValueWord w = value_word(text, planes, n, word, t, x, within, mine);
  // The bytes at the depth of elements, and the brackets that open deeper ones.
  u64 here = depth == level ? ~0ull : 0, nested = 0;
  for (u64 m = x.open | x.close; m; m &= m - 1) {
    const u64 bit = m & (0 - m);
    if (x.open & bit && depth == level) nested |= bit & mine;
    depth += x.open & bit ? 1 : -1;
    here = (here & (bit - 1)) | (depth == level ? ~(bit | (bit - 1)) : 0);
  }
  first[word] = here & w.token & ~(w.open | w.close | w.colon | w.comma);
  last[word] = here & w.end;
  for (u64 m = nested; m && members > 0; m &= m - 1)
    add_flags(
        flags + owner_of(value_start, 0, members, (u32)(word * WORD + first_bit(m))), LIST_ODD);
}

// One thread, one element.
KERNEL __launch_bounds__(BLOCK) lists_kinds(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ lasts, i64 count,
    const u32 *__restrict__ value_start, i64 members, u32 *__restrict__ flags) {
  const i64 i = thread_index();
  if (i >= count || members == 0) return;
  const i64 start = starts[i];
  const u32 c = text[start];
  u32 mine = LIST_ODD;
  if (c == '"') mine = LIST_STRING;
  else if (c == 't' || c == 'f') mine = LIST_BOOL;
  else if (c == '-' || c - '0' < 10)
    mine = LIST_NUMBER | number_kinds_of(text, n, start, lasts[i] + 1);
  add_flags(flags + owner_of(value_start, 0, members, (u32)start), mine);
}

// One thread, one row. starts and ends: elements before and after the row's array.
KERNEL __launch_bounds__(BLOCK) lists_rows(const u32 *__restrict__ slots, i64 rows,
    const u8 *__restrict__ kind, i64 members, const u32 *__restrict__ flags,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 *__restrict__ sizes,
    u32 *__restrict__ report) {
  const i64 row = thread_index();
  u32 mine = 0;
  if (row < rows) {
    const u32 member = slots[row], k = member < members ? kind[member] : 0;
    if (k == KIND_ARRAY) {
      mine = flags[member];
      const u32 family = mine & (LIST_BOOL | LIST_STRING | LIST_NUMBER | LIST_ODD);
      if (!mine) mine = LIST_EMPTY;
      else if (family & LIST_ODD || family & (family - 1)) mine = LIST_ODD;
    }
    sizes[row] = single_value(k) ? 1 : ends[row] - starts[row];
  }
  mine = __reduce_or_sync(WARP, mine);
  if (lane_index() == 0 && mine) add_flags(report, mine);
}

struct ListsGatherArgs {
  i64 n, members, rows;
  i64 all;    // elements of all columns
  i64 count;  // elements of the column
  i64 *starts, *ends;
  u64 *trues;
};

// One thread, one element of the column. offsets: of the rows' elements; rank: of a row's first
// element among all.
KERNEL __launch_bounds__(BLOCK) lists_gather(const u8 *__restrict__ text,
    const u32 *__restrict__ slots, const u8 *__restrict__ kind, const u32 *__restrict__ value_start,
    const u32 *__restrict__ value_end, const i64 *__restrict__ offsets,
    const i64 *__restrict__ rank, const i64 *__restrict__ all_starts,
    const i64 *__restrict__ all_lasts, const __grid_constant__ ListsGatherArgs args) {
  const i64 i = thread_index(), count = args.count;
  u32 c = 0;
  if (i < count) {
    const i64 row = owner_of(offsets, 0, args.rows, i), at = rank[row] + (i - offsets[row]);
    const u32 member = slots[row];
    i64 start = 0, end = 0;
    if (member < args.members && single_value(kind[member]))
      start = value_start[member], end = value_end[member];
    else if (at >= 0 && at < args.all) start = all_starts[at], end = all_lasts[at] + 1;
    if (start < args.n && start < end) c = text[start];
    const i64 quote = c == '"';
    args.starts[i] = start + quote, args.ends[i] = end - quote;
  }
  store_bits(args.trues, i, count, c == 't');
}
