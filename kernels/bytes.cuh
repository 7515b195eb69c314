// bytes.cuh: runs of bytes at any address, read and written eight at a time by aligned accesses.
// The first byte is the lowest of its word.
#pragma once
#include "core.cuh"

constexpr u64 ONES = 0x0101010101010101ull, HIGHS = 0x8080808080808080ull;

// The 8 bytes of text from byte `at` < n on. text is 8-byte aligned; no word after that of the
// last byte is touched, and bytes past n are anything.
__device__ __forceinline__ u64 load_window(const u8 *__restrict__ text, i64 n, i64 at) {
  const u64 *word = (const u64 *)(text + (at & ~7ll));
  int shift = (at & 7) * 8;
  u64 low = word[0] >> shift;
  return shift && (at | 7) + 1 < n ? low | word[1] << (64 - shift) : low;
}
// 16 bytes, the first one the lowest of low.
struct Sixteen {
  u64 low, high;
};
// They are on their way until they are taken, so that something else can be done meanwhile.
struct SixteenAsked {
  uint4 a, b;  // the words of 16 bytes that they lie in
  u32 from;    // in a
};
// The bytes of text from at on, of which the first count, 1 to 16, are asked for; the others are
// anything. text is 16-byte aligned. Threads of a warp that read far from
// each other pay for each access, not for its width: there are two of 16 bytes at most, each with a
// byte in it that is asked for.
__device__ __forceinline__ SixteenAsked ask_sixteen(
    const u8 *__restrict__ text, i64 at, u32 count) {
  const uint4 *word = (const uint4 *)(text + (at & ~15ll));
  SixteenAsked r = {word[0], {0, 0, 0, 0}, (u32)at & 15};
  if (r.from + count > 16) r.b = word[1];
  return r;
}
__device__ __forceinline__ Sixteen take_sixteen(const SixteenAsked &x) {
  const u32 shift = x.from % 8 * 8;
  const u64 w0 = x.a.x | (u64)x.a.y << 32, w1 = x.a.z | (u64)x.a.w << 32,
            w2 = x.b.x | (u64)x.b.y << 32, w3 = x.b.z | (u64)x.b.w << 32;
  const u64 low = x.from < 8 ? w0 : w1, middle = x.from < 8 ? w1 : w2, high = x.from < 8 ? w2 : w3;
  Sixteen r = {low, middle};
  if (shift)
    r.low = low >> shift | middle << (64 - shift), r.high = middle >> shift | high << (64 - shift);
  return r;
}
__device__ __forceinline__ Sixteen load_sixteen(const u8 *__restrict__ text, i64 at, u32 count) {
  return take_sixteen(ask_sixteen(text, at, count));
}
// The n lowest bytes of a word; n from 0 to 8.
__device__ __forceinline__ u64 low_bytes(i64 n) { return low_bits(8 * n); }
// Bit 7 of each byte that is 0; exact for all bytes.
__device__ __forceinline__ u64 zero_bytes(u64 v) { return ~(((v & ~HIGHS) + ~HIGHS) | v) & HIGHS; }
// Bit 7 of each byte from lo to hi; all bytes of v are below 128.
__device__ __forceinline__ u64 bytes_between(u64 v, u32 lo, u32 hi) {
  return (v + ONES * (128 - lo)) & ~(v + ONES * (127 - hi)) & HIGHS;
}

// Eight hexadecimal digits of either case as the four bytes they write, first byte lowest. bad gets
// bits for bytes that are not digits, which count as anything.
//   v       'f' 'F' '0' '1' ...
//   result   0xff    0x01   ...
__device__ __forceinline__ u32 hex_bytes(u64 v, u64 &bad) {
  u64 low = v & ~HIGHS;
  bad = HIGHS & ~((bytes_between(low, '0', '9') | bytes_between(low | ONES * 0x20, 'a', 'f')) & ~v);
  u64 digit = (v & ONES * 15) + (v >> 6 & ONES) * 9;  // bit 6 tells letters from digits
  u64 pair = (digit << 4 | digit >> 8) & 0x00ff00ff00ff00ffull;
  pair = (pair | pair >> 8) & 0x0000ffff0000ffffull;
  return (u32)(pair | pair >> 16);
}

// Writes bytes one after the other. Full words are written whole; the first and the last are
// shared with neighbours and written byte by byte.
struct Writer {
  u8 *word;        // 8-byte aligned; the bytes wait for it
  u64 waiting;     // its bytes so far
  int from, fill;  // [from, fill) of them are ours

  __device__ __forceinline__ explicit Writer(u8 *at)
      : word((u8 *)((u64)at & ~7ull)), waiting(0), from((int)((u64)at & 7)), fill(from) {}
  // n from 0 to 8; the bytes of v after them are 0.
  __device__ __forceinline__ void put(u64 v, int n) {
    waiting |= v << 8 * fill;
    if (fill + n < 8) {
      fill += n;
      return;
    }
    if (from) {
      bytes(8);
    } else {
      *(u64 *)word = waiting;
    }
    waiting = fill ? v >> (64 - 8 * fill) : 0;
    word += 8, fill += n - 8, from = 0;
  }
  // Writes what waits; call it last.
  __device__ __forceinline__ void flush() { bytes(fill); }
  __device__ __forceinline__ void bytes(int to) {
    for (int b = from; b < to; b++) word[b] = (u8)(waiting >> 8 * b);
  }
};
