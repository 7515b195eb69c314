// blanks.cu: which words of the text hold more than blanks.
//
// buffer  elements      written by     what
// lower   n/4096        blanks_words   level 0 of blanks.cuh
// upper   lower/64      blanks_level   the level above
#include "blanks.cuh"

KERNEL __launch_bounds__(BLOCK) blanks_words(const u8 *__restrict__ text, i64 n, u64 *__restrict__ lower) {
  const i64 word = thread_index(), words = (n + WORD - 1) / WORD;
  u64 solid = 0;
  if (word < words) {
    Planes p = load_planes(text, n, word);
    solid = word_valid(n, word) & ~(bytes_equal(p, ' ') | bytes_equal(p, '\t') | bytes_equal(p, '\n') | bytes_equal(p, '\r'));
  }
  store_bits(lower, word, words, solid != 0);
}

KERNEL __launch_bounds__(BLOCK) blanks_level(const u64 *__restrict__ lower, i64 words, u64 *__restrict__ upper) {
  const i64 word = thread_index();
  store_bits(upper, word, words, word < words && lower[word] != 0);
}
