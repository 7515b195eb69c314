// What the lanes of a warp do together (CUDA C++ Programming Guide, "Warp Vote", "Match", "Reduce" and "Shuffle Functions").
//
// mask names the lanes that take part. The operation completes when all of them that have not exited have asked for the same operation with
// the same mask. Lanes that have exited, or that the last warp of a block never had, take no part: a vote counts them as absent.
// A call whose mask lacks the calling lane ends the launch with an error.
#ifndef CUDAEMU_WARP_H
#define CUDAEMU_WARP_H

#include <string.h>

#include "qualifiers.h"

inline uint64_t cudaemu_warp(unsigned op, uint32_t mask, uint64_t value, unsigned source, const char *file, int line) {
  return cudaemu_current->warp(cudaemu_current, op, mask, value, source, file, line);
}

inline void __syncwarp(uint32_t mask = 0xffffffff, CUDAEMU_SITE) { cudaemu_warp(CUDAEMU_SYNCWARP, mask, 0, 0, file, line); }

// On a GPU the lanes that run in step at this moment, which no rule of the language says. The lane itself is the one answer that is
// right whatever the others do, and it is given here always.
inline uint32_t __activemask() { return 1u << (threadIdx.x & 31); }

inline uint32_t __ballot_sync(uint32_t mask, int predicate, CUDAEMU_SITE) {
  return (uint32_t)cudaemu_warp(CUDAEMU_BALLOT, mask, predicate != 0, 0, file, line);
}
inline int __any_sync(uint32_t mask, int predicate, CUDAEMU_SITE) { return (int)cudaemu_warp(CUDAEMU_ANY, mask, predicate != 0, 0, file, line); }
inline int __all_sync(uint32_t mask, int predicate, CUDAEMU_SITE) { return (int)cudaemu_warp(CUDAEMU_ALL, mask, predicate != 0, 0, file, line); }

// Values of 4 or 8 bytes travel in one word.
template <class T> inline uint64_t cudaemu_word(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warp operations take values of 4 or 8 bytes");
  uint64_t word = 0;
  memcpy(&word, &value, sizeof value);
  return word;
}
template <class T> inline T cudaemu_value(uint64_t word) {
  T value;
  memcpy(&value, &word, sizeof value);
  return value;
}

// The lanes fall into segments of width lanes. A source outside of the lane's own segment means the lane itself, except for __shfl_sync,
// which takes its source modulo width. A source that takes no part gives bytes 0xa5, as CUDA gives anything.
template <class T> inline T cudaemu_shuffle(unsigned op, uint32_t mask, T value, int source, int width, const char *file, int line) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) cudaemu_fail("the width of a shuffle is not a power of two up to 32", file, line);
  return cudaemu_value<T>(cudaemu_warp(op, mask, cudaemu_word(value), (unsigned)source, file, line));
}

template <class T> inline T __shfl_sync(uint32_t mask, T value, int source, int width = 32, CUDAEMU_SITE) {
  const int lane = threadIdx.x & 31, segment = lane & ~(width - 1);
  return cudaemu_shuffle(CUDAEMU_SHFL, mask, value, segment | (source & (width - 1)), width, file, line);
}
template <class T> inline T __shfl_up_sync(uint32_t mask, T value, unsigned delta, int width = 32, CUDAEMU_SITE) {
  const int lane = threadIdx.x & 31, segment = lane & ~(width - 1);
  const int source = delta <= (unsigned)(lane - segment) ? lane - (int)delta : lane;
  return cudaemu_shuffle(CUDAEMU_SHFL_UP, mask, value, source, width, file, line);
}
template <class T> inline T __shfl_down_sync(uint32_t mask, T value, unsigned delta, int width = 32, CUDAEMU_SITE) {
  const int lane = threadIdx.x & 31, segment = lane & ~(width - 1);
  const int source = delta < (unsigned)(segment + width - lane) ? lane + (int)delta : lane;
  return cudaemu_shuffle(CUDAEMU_SHFL_DOWN, mask, value, source, width, file, line);
}
// Unlike the other shuffles this one reads lower segments too (PTX ISA, shfl.bfly): only a source past the lane's segment is the lane itself.
template <class T> inline T __shfl_xor_sync(uint32_t mask, T value, int bits, int width = 32, CUDAEMU_SITE) {
  const int lane = threadIdx.x & 31, segment = lane & ~(width - 1), other = lane ^ (bits & 31);
  return cudaemu_shuffle(CUDAEMU_SHFL_XOR, mask, value, other < segment + width ? other : lane, width, file, line);
}

template <class T> inline uint32_t __match_any_sync(uint32_t mask, T value, CUDAEMU_SITE) {
  return (uint32_t)cudaemu_warp(CUDAEMU_MATCH_ANY, mask, cudaemu_word(value), 0, file, line);
}
template <class T> inline uint32_t __match_all_sync(uint32_t mask, T value, int *predicate, CUDAEMU_SITE) {
  const uint32_t equal = (uint32_t)cudaemu_warp(CUDAEMU_MATCH_ALL, mask, cudaemu_word(value), 0, file, line);
  *predicate = equal != 0;
  return equal;
}

inline uint32_t __reduce_add_sync(uint32_t mask, uint32_t v, CUDAEMU_SITE) { return (uint32_t)cudaemu_warp(CUDAEMU_REDUCE_ADD, mask, v, 0, file, line); }
inline uint32_t __reduce_min_sync(uint32_t mask, uint32_t v, CUDAEMU_SITE) { return (uint32_t)cudaemu_warp(CUDAEMU_REDUCE_MIN, mask, v, 0, file, line); }
inline uint32_t __reduce_max_sync(uint32_t mask, uint32_t v, CUDAEMU_SITE) { return (uint32_t)cudaemu_warp(CUDAEMU_REDUCE_MAX, mask, v, 0, file, line); }
inline uint32_t __reduce_and_sync(uint32_t mask, uint32_t v, CUDAEMU_SITE) { return (uint32_t)cudaemu_warp(CUDAEMU_REDUCE_AND, mask, v, 0, file, line); }
inline uint32_t __reduce_or_sync(uint32_t mask, uint32_t v, CUDAEMU_SITE) { return (uint32_t)cudaemu_warp(CUDAEMU_REDUCE_OR, mask, v, 0, file, line); }
inline uint32_t __reduce_xor_sync(uint32_t mask, uint32_t v, CUDAEMU_SITE) { return (uint32_t)cudaemu_warp(CUDAEMU_REDUCE_XOR, mask, v, 0, file, line); }
inline int __reduce_add_sync(uint32_t mask, int v, CUDAEMU_SITE) { return (int)cudaemu_warp(CUDAEMU_REDUCE_ADD, mask, (uint32_t)v, 0, file, line); }
inline int __reduce_min_sync(uint32_t mask, int v, CUDAEMU_SITE) { return (int)cudaemu_warp(CUDAEMU_REDUCE_MIN_S, mask, (uint32_t)v, 0, file, line); }
inline int __reduce_max_sync(uint32_t mask, int v, CUDAEMU_SITE) { return (int)cudaemu_warp(CUDAEMU_REDUCE_MAX_S, mask, (uint32_t)v, 0, file, line); }

#endif
