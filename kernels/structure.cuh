// structure.cuh: reads the planes that structure_tiles leaves behind.
#pragma once
#include "quote.cuh"

// One word's classes, see structure.cu; brackets, colons and commas outside strings.
struct WordClasses {
  u64 inside, open, close, curly, colon, comma;  // curly: of open and close together
  u64 quotes;                                    // that begin and end strings
};
// The parity of count over the threads before this one of a block that reads a tile: block_parity in fewer steps. shared holds BLOCK / 32 elements.
__device__ __forceinline__ u32 tile_parity(int count, u32 *shared) {
  const u32 odd = __ballot_sync(WARP, count & 1), lower = (1u << lane_index()) - 1;
  if (lane_index() == 0) shared[threadIdx.x / 32] = (u32)__popc(odd) & 1;
  __syncthreads();
  const u32 warps = __ballot_sync(WARP, shared[lane_index() % (BLOCK / 32)]) & ((1u << threadIdx.x / 32) - 1);
  __syncthreads();
  return (u32)(__popc(odd & lower) + __popc(warps)) & 1;
}
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
  const u32 before = t.quotes ^ tile_parity(__popcll(quotes), shared);
  const u64 inside = prefix_xor(quotes) ^ (before ? ~0ull : 0);
  return classes_of(a, b, c, inside & word_valid(n, word), ~inside);
}
