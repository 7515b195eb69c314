// compact.cu: the set bits of a mask as a list, and the elements of an array that a mask keeps.
//
// buffer   elements     written by   what
// before   n/16384      counts       set bits of each tile; scanned: before each tile
// out      room         positions    base + place of each set bit, in order
//                       elements     the elements whose bits are set, in order
//
// A tile is 256 words of the mask. Whatever lies in it, a block reads it once and writes what it
// finds side by side; what does not fit in out is
// left out.
#include "compact.cuh"

// One warp counts a tile, without waiting for the others.
KERNEL __launch_bounds__(BLOCK) compact_counts(
    const u64 *__restrict__ mask, i64 words, i64 *__restrict__ count) {
  const i64 tile = thread_index() / 32, tiles = (words + BLOCK - 1) / BLOCK;
  if (tile >= tiles) return;  // the same in the whole warp
  u32 bits = 0;
#pragma unroll
  for (int k = 0; k < BLOCK / 32; k++) {
    i64 word = tile * BLOCK + k * 32 + lane_index();
    if (word < words) bits += __popcll(mask[word]);
  }
  bits = __reduce_add_sync(WARP, bits);
  if (lane_index() == 0) count[tile] = bits;
}

KERNEL __launch_bounds__(BLOCK) compact_positions(const u64 *__restrict__ mask, i64 words,
    const i64 *__restrict__ before, i64 base, i64 *__restrict__ out, i64 room) {
  __shared__ u32 shared[33];
  __shared__ u16 place[TILE];
  const i64 word = thread_index(), first = before[blockIdx.x], start = base + blockIdx.x * TILE;
  u32 count = tile_places(word < words ? mask[word] : 0, place, shared);
  for (u32 i = threadIdx.x; i < count; i += BLOCK)
    if (first + i < room) out[first + i] = start + place[i];
}

template <class T>
__device__ __forceinline__ void compact_elements(const T *__restrict__ in,
    const u64 *__restrict__ mask, i64 words, const i64 *__restrict__ before, T *__restrict__ out,
    i64 room, u16 *place, u32 *shared) {
  const i64 word = thread_index(), first = before[blockIdx.x], start = blockIdx.x * TILE;
  u32 count = tile_places(word < words ? mask[word] : 0, place, shared);
  for (u32 i = threadIdx.x; i < count; i += BLOCK)
    if (first + i < room) out[first + i] = in[start + place[i]];
}

KERNEL __launch_bounds__(BLOCK) compact_8(const u8 *__restrict__ in, const u64 *__restrict__ mask,
    i64 words, const i64 *__restrict__ before, u8 *__restrict__ out, i64 room) {
  __shared__ u32 shared[33];
  __shared__ u16 place[TILE];
  compact_elements(in, mask, words, before, out, room, place, shared);
}

KERNEL __launch_bounds__(BLOCK) compact_32(const u32 *__restrict__ in, const u64 *__restrict__ mask,
    i64 words, const i64 *__restrict__ before, u32 *__restrict__ out, i64 room) {
  __shared__ u32 shared[33];
  __shared__ u16 place[TILE];
  compact_elements(in, mask, words, before, out, room, place, shared);
}

KERNEL __launch_bounds__(BLOCK) compact_64(const u64 *__restrict__ in, const u64 *__restrict__ mask,
    i64 words, const i64 *__restrict__ before, u64 *__restrict__ out, i64 room) {
  __shared__ u32 shared[33];
  __shared__ u16 place[TILE];
  compact_elements(in, mask, words, before, out, room, place, shared);
}
