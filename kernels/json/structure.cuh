// structure.cuh: reads the planes that structure_tiles writes.
#pragma once
#include "text/quote.cuh"

// One word's classes, see structure.cu; brackets, colons and commas outside strings.
struct WordClasses {
  u64 inside, open, close, curly, colon, comma;  // curly: of open and close together
  u64 quotes;                                    // that begin and end strings
};
// One word's planes, which may be on their way while something else is looked for.
struct ClassPlanes {
  u64 a, b, c;
};
__device__ __forceinline__ ClassPlanes load_classes(
    const u64 *__restrict__ planes, i64 n, i64 word) {
  const i64 words = (n + WORD - 1) / WORD;
  ClassPlanes p = {0, 0, 0};
  if (word < words) p.a = planes[word], p.b = planes[words + word], p.c = planes[2 * words + word];
  return p;
}
// Changes the planes of this thread's word for an escape that reaches into the tile.
__device__ __forceinline__ void apply_first(const QuoteTile &t, ClassPlanes &p) {
  if (!t.first || (t.first - 1) / 64 != threadIdx.x) return;
  const u64 bit = 1ull << (t.first - 1) % 64;  // from class 0 to 3 or back
  p.a ^= bit, p.b ^= bit;
}
// The classes that planes say. outside: what is not inside, and what is after the text.
__device__ __forceinline__ WordClasses classes_of(const ClassPlanes &p, u64 inside, u64 outside) {
  const u64 a = p.a, b = p.b, c = p.c;
  WordClasses r = {inside, c & ~b & outside, c & b & outside, c & a & outside,
      b & ~a & ~c & outside, a & ~b & ~c & outside, a & b & ~c};
  return r;
}
// All threads of a block call, each with a word of the same tile. shared holds 33 elements.
__device__ __forceinline__ WordClasses word_classes(
    ClassPlanes p, i64 n, i64 word, const QuoteTile &t, u32 *shared) {
  apply_first(t, p);
  const u64 quotes = p.a & p.b & ~p.c;
  u32 all;
  const u32 before = t.quotes ^ block_parity(__popcll(quotes), shared, all);
  const u64 inside = prefix_xor(quotes) ^ (before ? ~0ull : 0);
  return classes_of(p, inside & word_valid(n, word), ~inside);
}
__device__ __forceinline__ WordClasses word_classes(
    const u64 *__restrict__ planes, i64 n, i64 word, const QuoteTile &t, u32 *shared) {
  return word_classes(load_classes(planes, n, word), n, word, t, shared);
}
// What changes by 1 at some bytes, modulo 2^BITS: bit k of what it is at each byte in b[k]. The
// lowest bit turns over at each of them, the next one where a carry or a borrow
// leaves the one below: going up where that becomes 0, going down where it becomes 1. A bit is the
// parity of its turns up to a byte, and of what it was before the word.
//
//   text    [ [ [ 1 , 2 ] , [ 3 , 4 ] ] ]
//   level   0 1 2 2 2 2 1 1 2 2 2 2 1 0 7     7 before: -1, in three bits
//   turns   1 1 1 . . . 1 . 1 . . . 1 1 1
//   b[0]    . 1 . . . . 1 1 . . . . 1 . 1
//   turns   1 . 1 . . . 1 . 1 . . . 1 . 1
//   b[1]    . . 1 1 1 1 . . 1 1 1 1 . . 1
//   turns   1 . . . . . . . . . . . . . 1
//   b[2]    . . . . . . . . . . . . . . 1
template <int BITS>
struct Levels {
  u64 b[BITS];
};
template <int BITS>
__device__ __forceinline__ Levels<BITS> byte_levels(u64 up, u64 down, u32 before) {
  Levels<BITS> x;
#pragma unroll
  for (int k = 0; k < BITS; k++) {
    x.b[k] = prefix_xor(up | down) ^ (before >> k & 1 ? ~0ull : 0);
    up &= ~x.b[k], down &= x.b[k];
  }
  return x;
}
