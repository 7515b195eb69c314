// blanks.cu: which words of the text hold more than blanks.
//
// A word is read in full only if its first 16 bytes might be blanks:
//
//   blanks          09 0a 0d 20
//   in any of them  2d
//   in none         d0            the high bit, letters (40) and digits (10)
//
// buffer  elements      written by     what
// lower   n/4096        blanks_words   level 0 of blanks.cuh
// upper   lower/63      blanks_levels  the levels above
#include "geom/blanks.cuh"

constexpr u32 NO_BLANK = 0xd0d0d0d0u;

KERNEL __launch_bounds__(BLOCK) blanks_words(
    const u8 *__restrict__ text, i64 n, u64 *__restrict__ lower) {
  const i64 word = thread_index(), words = (n + WORD - 1) / WORD;
  bool solid = false;
  if (word * WORD + 16 <= n) {
    const uint4 v = *(const uint4 *)(text + word * WORD);
    solid = ((v.x | v.y | v.z | v.w) & NO_BLANK) != 0;
  }
  if (!solid && word < words) {
    Planes p = load_planes(text, n, word);
    solid = (word_valid(n, word) & ~(bytes_equal(p, ' ') | bytes_equal(p, '\t') |
                                       bytes_equal(p, '\n') | bytes_equal(p, '\r'))) != 0;
  }
  store_bits(lower, word, words, solid);
}

// One block. level: level 0, of more than one word. Four words a thread are on their way at a time.
KERNEL __launch_bounds__(SCAN, 1) blanks_levels(u64 *level, i64 words) {
  constexpr int EACH = 4;
  for (; words > 1; words = (words + 63) / 64) {
    for (i64 from = threadIdx.x; from - threadIdx.x < words; from += EACH * SCAN) {
      u32 solid[EACH];
#pragma unroll
      for (int k = 0; k < EACH; k++)
        solid[k] = from + k * SCAN < words && level[from + k * SCAN] != 0;
#pragma unroll
      for (int k = 0; k < EACH; k++) store_bits(level + words, from + k * SCAN, words, solid[k]);
    }
    __syncthreads();
    level += words;
  }
}
