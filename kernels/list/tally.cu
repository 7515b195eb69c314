// tally.cu: how often each value comes among bytes.
//
// buffer   elements   written by   what
// counts   256        tally        0 before
#include "core.cuh"

// Lanes of a warp that have the same value count together: most bytes are alike. As many blocks as
// fill a GPU go on to the end of the bytes together.
KERNEL __launch_bounds__(BLOCK) tally(
    const u8 *__restrict__ values, i64 n, const u64 *__restrict__ among, u64 *counts) {
  __shared__ u32 counted[256];
  counted[threadIdx.x] = 0;
  __syncthreads();
  for (i64 from = (i64)blockIdx.x * BLOCK; from < n; from += (i64)gridDim.x * BLOCK) {
    const i64 i = from + threadIdx.x;
    const bool mine = i < n && (!among || (among[i / 64] >> i % 64 & 1));
    const u32 value = mine ? values[i] : 256;
    const u32 peers = __match_any_sync(WARP, value);
    if (mine && lane_index() == __ffs((int)peers) - 1)
      atomicAdd(counted + value, (u32)__popc(peers));
  }
  __syncthreads();
  if (counted[threadIdx.x]) atomicAdd(counts + threadIdx.x, (u64)counted[threadIdx.x]);
}
