// xml_text.cu: text of XML as it is meant, and what kinds of values it has.
//
//   text    A & a m p ; B \r \n C < ! [ C D A T A [ & ] ] >
//   copy    A & a m p ; B \r \n C < ! [ C D A T A [ & ] ] >     with the character of each reference in its first byte
//   keep    1 1 . . . . 1 .  1  1 1 1 1 1 1 1 1 1 1 1 1 1 1
//
// buffer     elements         written by   what
// within     n/64             -            bytes of CDATA sections, in which "&" means itself
// copy       n                plain        the text, of which Compact keeps what is meant
// keep       n/64             plain        its bytes that are kept
// from, to   columns * rows   values       the text of each value; then without the blanks around it, and
//                                          empty where there is none
// valid      words, each      values       bit per row: it has text
// numbers    words, each      values       bit per row: a number
// trues      words, each      values       bit per row: true
// kinds      columns          values       KIND_* and CELL_* of all values of a column; 0 before
#include "xml/xml.cuh"
#include "number/float64.cuh"
#include "number/number_kinds.cuh"

// One thread, one word.
KERNEL __launch_bounds__(BLOCK) xml_plain(const u8 *__restrict__ text, i64 n,
    const u64 *__restrict__ within, u64 *__restrict__ keep, u8 *__restrict__ copy) {
  const i64 word = thread_index(), start = word * WORD;
  if (start >= n) return;
  const Planes p = load_planes(text, n, word);
  u64 kept = word_valid(n, word);
  for (int i = 0; i < 8 && start + 8 * i < n; i++) {
    if (start + 8 * i + 8 <= n) {
      *(u64 *)(copy + start + 8 * i) = *(const u64 *)(text + start + 8 * i);
    } else {
      for (i64 at = start + 8 * i; at < n; at++) copy[at] = text[at];
    }
  }
  for (u64 m = bytes_equal(p, '\r'); m; m &= m - 1) {
    const i64 at = start + first_bit(m);
    copy[at] = '\n';
    if (at + 1 < n && text[at + 1] == '\n') kept &= ~(m & (0 - m));
  }
  u32 means;
  for (u64 m = bytes_equal(p, '&') & ~within[word]; m; m &= m - 1) {
    const int bit = first_bit(m);
    const u32 length = entity_at(text, n, start + bit, means);
    if (!length) continue;
    copy[start + bit] = (u8)means;
    kept &= ~(low_bits(bit + length) & ~low_bits(bit + 1));
  }
  // those that begin in the word before
  for (i64 at = start - LONGEST_ENTITY + 1; word && at < start; at++)
    if (text[at] == '&' && !(within[word - 1] >> at % WORD & 1))
      kept &= ~low_bits(max(0ll, at + (i64)entity_at(text, n, at, means) - start));
  keep[word] = kept;
}

// As of table_values.cu and xml_text.go.
enum { CELL_TEXT = 1 << 10, CELL_BOOL = 1 << 11, CELL_ODD = 1 << 13 };

// Does a text that is no number as JSON has it become one if its point gets a digit on either side?
// A text of more bytes is not one.
constexpr i64 LONGEST_ODD = 32;
__device__ __forceinline__ bool lacks_digit(const u8 *__restrict__ text, i64 n, i64 from, i64 to) {
  if (to - from > LONGEST_ODD) return false;
  for (i64 at = from; at < to; at++)
    if (text[at] == '.')
      return (at == from || text[at - 1] - '0' > 9u || at + 1 == to || text[at + 1] - '0' > 9u) &&
             float64_of(text, n, from, to, GRAMMAR_LENIENT).state != NUMBER_MALFORMED;
  return false;
}

// The kinds of text[from, to), which is not empty and has no blanks around it.
//
//   12 -3                          integers
//   1.5 1e3                        numbers
//   true false                     booleans
//   007 +5 1e400 NaN INF           text, as is an integer beyond int64
//   .5 5. and what a host is to say    odd
__device__ __forceinline__ u32 xml_kinds(const u8 *__restrict__ text, i64 n, i64 from, i64 to) {
  const u32 first = text[from];
  if (first == 't')
    return to - from == 4 && text[from + 1] == 'r' && text[from + 2] == 'u' && text[from + 3] == 'e'
               ? CELL_BOOL
               : CELL_TEXT;
  if (first == 'f')
    return to - from == 5 && text[from + 1] == 'a' && text[from + 2] == 'l' &&
                   text[from + 3] == 's' && text[from + 4] == 'e'
               ? CELL_BOOL
               : CELL_TEXT;
  if (first - '0' > 9 && first != '-' && first != '.') return CELL_TEXT;
  const u32 kinds = number_kinds_of(text, n, from, to);
  if (kinds & KIND_UNDECIDED) return CELL_ODD;
  if (kinds & KIND_MALFORMED) return lacks_digit(text, n, from, to) ? CELL_ODD : CELL_TEXT;
  return kinds & (KIND_UINT64 | KIND_HUGE | KIND_RANGE) ? (u32)CELL_TEXT : kinds;
}

// One thread, one row of one column.
KERNEL __launch_bounds__(BLOCK) xml_values(const u8 *__restrict__ text, i64 n, i64 rows,
    u32 columns, i64 *__restrict__ from, i64 *__restrict__ to, u64 *__restrict__ valid,
    u64 *__restrict__ numbers, u64 *__restrict__ trues, u32 *__restrict__ kinds) {
  __shared__ u32 all;
  const u32 column = blockIdx.x % columns;
  const i64 row = (i64)(blockIdx.x / columns) * BLOCK + threadIdx.x,
            words = (rows + WORD - 1) / WORD;
  u32 mine = 0;
  bool has = false, yes = false;
  if (threadIdx.x == 0) all = 0;
  if (row < rows) {
    i64 first = from[column * rows + row], last = to[column * rows + row];
    if (first >= 0 && first <= last && last <= n) {
      const i64 least = max(first, last - (i64)LONGEST), most = min(last, first + (i64)LONGEST);
      while (first < most && is_white(text[first])) first++;
      if (first == most && first < last) mine = CELL_ODD;
      while (last > first && last > least && is_white(text[last - 1])) last--;
      if (last == least && last > first && is_white(text[last - 1])) mine = CELL_ODD;
      has = first < last;
      if (has)
        mine |= xml_kinds(text, n, first, last), yes = mine & CELL_BOOL && text[first] == 't';
    }
    from[column * rows + row] = has ? first : 0, to[column * rows + row] = has ? last : 0;
  }
  store_bits(valid + column * words, row, rows, has);
  store_bits(numbers + column * words, row, rows, has && !(mine & (CELL_TEXT | CELL_BOOL)));
  store_bits(trues + column * words, row, rows, yes);
  mine = __reduce_or_sync(WARP, mine);
  __syncthreads();
  if (lane_index() == 0 && mine) atomicOr(&all, mine);
  __syncthreads();
  // Few blocks bring anything new. What is read may be old, then the atomic is one too many.
  if (threadIdx.x == 0 && all & ~*(volatile u32 *)(kinds + column)) atomicOr(kinds + column, all);
}
