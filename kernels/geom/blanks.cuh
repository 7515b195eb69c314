// blanks.cuh: over white space of any length in a bounded number of steps.
#pragma once
#include "number/decimal.cuh"

// Which words of 64 bytes of the text hold more than blanks: one bit each, and above that one bit
// for each word of bits, up to a level of one word.
//
//   level 0   64 bytes a bit      1 . . . 1 1 . ... | . . . . | . . 1 ...
//   level 1   4 KiB a bit         1                   .         1
//   level 2   256 KiB a bit
//
// The levels lie one after the other, level 0 first.
struct Blanks {
  const u64 *level;  // null: nobody has looked
  i64 words;         // of level 0
};

// RFC 8259 section 2; WKT has the same.
__device__ __forceinline__ bool is_blank(u32 c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The first set bit of level 0 at i or after it, or -1.
__device__ __forceinline__ i64 next_solid(const Blanks &blanks, i64 i) {
  const u64 *level = blanks.level;
  i64 words = blanks.words;
  int up = 0;
  for (;; up++) {
    i64 word = i / 64;
    if (word >= words) return -1;
    u64 bits = level[word] & ~low_bits(i % 64);
    if (bits) {
      i = word * 64 + first_bit(bits);
      break;
    }
    if (words == 1) return -1;
    i = word + 1, level += words, words = (words + 63) / 64;
  }
  for (; up > 0; up--) {
    level = blanks.level, words = blanks.words;
    for (int k = 1; k < up; k++) level += words, words = (words + 63) / 64;
    i = i * 64 + first_bit(level[i]);
  }
  return i;
}
// The first byte at or after at that is no blank, or n. A few short runs are gone over as they
// come, longer ones by words: -1 where these are not known, and
// more than NEAR_BLANKS follow.
constexpr i64 NEAR_BLANKS = 256;
__device__ __forceinline__ i64 skip_blanks(
    const u8 *__restrict__ text, i64 n, i64 at, const Blanks &blanks) {
  if (at >= n || !is_blank(text[at])) return at < n ? at : n;
  at++;
  for (int tries = 0; tries < 8 && n - at > 8; tries++) {
    u64 v = load_eight(text + at) ^ 0x2020202020202020ull;  // spaces are 0
    int k = v ? first_bit(v) >> 3 : 8;
    at += k;
    if (k == 8) continue;
    if (!is_blank(((u32)(v >> 8 * k) & 0xff) ^ 0x20)) return at;
    at++;
  }
  for (const i64 end = blanks.level ? min(n, (at + WORD - 1) / WORD * WORD)
                                    : min(n, at + NEAR_BLANKS);
      at < end; at++)
    if (!is_blank(text[at])) return at;
  if (at >= n) return n;
  if (!blanks.level) return -1;
  i64 word = next_solid(blanks, at / WORD);
  if (word < 0) return n;
  for (at = word * WORD; is_blank(text[at]);) at++;
  return at;
}
