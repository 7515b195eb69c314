// table.cuh: one field of a Table, for one thread, and what it says as a number.
//
// A field in quotes that has quotes inside is no number, whatever stands around them, so that
// nobody undoes them here.
#pragma once
#include "number/float64.cuh"
#include "number/number_kinds.cuh"

struct TableText {
  const u8 *__restrict__ text;
  i64 n;
  const i64 *__restrict__ starts;  // of rows
  const u32 *__restrict__ stops;   // of fields
  i64 rows;
  u32 quote;  // 0: none
};
struct Cell {
  i64 from, to;  // without the quotes around it
  bool quoted;
};

// A field of a row. Where rows have other fields than they should it is any part of the text.
__device__ __forceinline__ Cell table_cell(const TableText &t, u32 column, i64 row) {
  Cell c = {0, t.stops[column * t.rows + row], false};
  c.from = column ? (i64)t.stops[(column - 1) * t.rows + row] + 1 : t.starts[row];
  if (c.from >= c.to) {
    c.from = c.to;
  } else if (t.quote && t.text[c.from] == t.quote && c.to - c.from >= 2) {
    c.from++, c.to--, c.quoted = true;
  }
  return c;
}

__device__ __forceinline__ bool is_pad(u32 c) { return c == ' ' || c == '\t'; }
// A field without the blanks around it, of which there are LONGEST at most on each side: beyond
// these it keeps them, and unsure is set.
__device__ __forceinline__ Cell trimmed_cell(const TableText &t, Cell c, bool &unsure) {
  const i64 first = c.from, last = c.to;
  while (c.from < c.to && is_pad(t.text[c.from]) && c.from - first < LONGEST) c.from++;
  while (c.to > c.from && is_pad(t.text[c.to - 1]) && last - c.to < LONGEST) c.to--;
  unsure = c.from < c.to && (is_pad(t.text[c.from]) || is_pad(t.text[c.to - 1]));
  return c;
}

// Up to 8 bytes of a field with its letters in lower case; all ones for a longer one, and for one
// with a byte of 0.
//   N a N   'n' | 'a' << 8 | 'n' << 16
__device__ __forceinline__ u64 folded(const TableText &t, Cell c) {
  if (c.to - c.from > 8) return ~0ull;
  u64 v = 0;
  bool zero = false;
  for (i64 i = c.to; i-- > c.from;) {
    const u32 b = t.text[i];
    v = v << 8 | (b - 'A' < 26 ? b | 0x20 : b);
    zero |= b == 0;
  }
  return zero ? ~0ull : v;
}
template <int N>
__device__ __forceinline__ constexpr u64 word_of(const char (&s)[N]) {
  u64 v = 0;
  for (int i = N - 1; i-- > 0;) v = v << 8 | (u8)s[i];
  return v;
}
enum { WORD_NONE, WORD_FALSE, WORD_TRUE };
__device__ __forceinline__ u32 boolean_word(u64 v) {
  if (v == word_of("true")) return WORD_TRUE;
  if (v == word_of("false")) return WORD_FALSE;
  return WORD_NONE;
}
// nan, inf and -inf are numbers without digits.
constexpr u64 QUIET_NAN_BITS = 0x7ff8000000000000ull;
__device__ __forceinline__ bool special_number(u64 v, u64 &bits) {
  if (v == word_of("nan")) bits = QUIET_NAN_BITS;
  else if (v == word_of("inf")) bits = INFINITY_BITS;
  else if (v == word_of("-inf")) bits = INFINITY_BITS | 1ull << 63;
  else return false;
  return true;
}
// Also in readers/csv/value.go.
__device__ __forceinline__ bool says_null(u64 v) {
  return v == 0 || v == word_of("null") || v == word_of("nan") || v == word_of("na") ||
         v == word_of("n/a") || v == word_of("none") || v == word_of("\\n") ||
         v == word_of("#n/a") || v == word_of("-");
}
