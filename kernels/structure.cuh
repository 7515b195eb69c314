// structure.cuh: reads the planes that structure_tiles leaves behind.
#pragma once
#include "quote.cuh"

// One word's classes, see structure.cu; brackets, colons and commas outside strings.
struct WordClasses {
  u64 inside, open, close, curly, colon, comma;  // curly: of open and close together
  u64 quotes;                                    // that begin and end strings
};
// All threads of a block call, each with a word of the same tile. shared holds 33 elements.
__device__ __forceinline__ WordClasses word_classes(const u64 *__restrict__ planes, i64 n, i64 word, const QuoteTile &t, u32 *shared) {
  const i64 words = (n + WORD - 1) / WORD;
  u64 a = 0, b = 0, c = 0;
  if (word < words) a = planes[word], b = planes[words + word], c = planes[2 * words + word];
  if (t.first && (t.first - 1) / 64 == threadIdx.x) {
    u64 bit = 1ull << (t.first - 1) % 64;  // from class 0 to 3 or back
    a ^= bit, b ^= bit;
  }
  u64 quotes = a & b & ~c;
  u32 all, before = t.quotes ^ block_parity(__popcll(quotes), shared, all);
  u64 inside = prefix_xor(quotes) ^ (before ? ~0ull : 0), outside = ~inside;
  WordClasses r = {inside & word_valid(n, word), c & ~b & outside, c & b & outside, c & a & outside, b & ~a & ~c & outside, a & ~b & ~c & outside, quotes};
  return r;
}
