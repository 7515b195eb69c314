// structure.cuh: reads the planes that structure_tiles leaves behind.
#pragma once
#include "quote.cuh"

// One word's classes, see structure.cu; brackets, colons and commas outside strings.
struct WordClasses {
  u64 inside, open, close, curly, colon, comma;  // curly: of open and close together
  u64 quotes;                                    // that begin and end strings
};
// Has the planes of this thread's word know of an escape that reaches into the tile.
__device__ __forceinline__ void settle_first(const QuoteTile &t, u64 &a, u64 &b) {
  if (!t.first || (t.first - 1) / 64 != threadIdx.x) return;
  const u64 bit = 1ull << (t.first - 1) % 64;  // from class 0 to 3 or back
  a ^= bit, b ^= bit;
}
// The classes that three planes say. outside: what is not inside, and what is behind the text.
__device__ __forceinline__ WordClasses classes_of(u64 a, u64 b, u64 c, u64 inside, u64 outside) {
  WordClasses r = {inside, c & ~b & outside, c & b & outside, c & a & outside, b & ~a & ~c & outside, a & ~b & ~c & outside, a & b & ~c};
  return r;
}
// All threads of a block call, each with a word of the same tile. shared holds 33 elements.
__device__ __forceinline__ WordClasses word_classes(const u64 *__restrict__ planes, i64 n, i64 word, const QuoteTile &t, u32 *shared) {
  const i64 words = (n + WORD - 1) / WORD;
  u64 a = 0, b = 0, c = 0;
  if (word < words) a = planes[word], b = planes[words + word], c = planes[2 * words + word];
  settle_first(t, a, b);
  const u64 quotes = a & b & ~c;
  u32 all;
  const u32 before = t.quotes ^ block_parity(__popcll(quotes), shared, all);
  const u64 inside = prefix_xor(quotes) ^ (before ? ~0ull : 0);
  return classes_of(a, b, c, inside & word_valid(n, word), ~inside);
}
