// compact.cuh: the places of the set bits of a tile of a mask, in order.
#pragma once
#include "core.cuh"

// Writes the places in the tile of the bits that are set, each thread having one word; gives how
// many there are. place holds TILE elements, shared 33.
// From there the block writes what belongs to them side by side, whichever thread found them:
//
//   word    | 1 . . 1 . . . . | . . . . . . . . | . 1 1 . . . . .
//   place     0 3 17 18
__device__ __forceinline__ u32 tile_places(u64 bits, u16 *place, u32 *shared) {
  u32 count, at = block_exclusive((u32)__popcll(bits), shared, count);
  for (; bits; bits &= bits - 1) place[at++] = (u16)(threadIdx.x * WORD + first_bit(bits));
  __syncthreads();
  return count;
}
