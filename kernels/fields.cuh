// fields.cuh: the hash of a key.
#pragma once
#include "bytes.cuh"

// A step of the hash: the product's halves folded, so that every bit of word reaches all bits. Also in fields.go.
__device__ __forceinline__ u64 field_hash(u64 hash, u64 word) {
  const u64 v = hash ^ word, odd = 0x9e3779b97f4a7c15ull;
  return v * odd ^ __umul64hi(v, odd);
}
// The hash of text[start, end), which lies in the text.
__device__ __forceinline__ u64 key_hash(const u8 *__restrict__ text, i64 n, i64 start, i64 end, u64 seed) {
  u64 hash = field_hash(seed, (u32)(end - start));
  for (i64 at = start; at < end; at += 8) hash = field_hash(hash, load_window(text, n, at) & low_bytes(end - at));
  return hash;
}
