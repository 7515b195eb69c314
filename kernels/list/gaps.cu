// gaps.cu: how far apart offsets are at most.
//
// buffer   elements   written by   what
// starts   n          -            ascending
// longest  1          longest      the greatest distance from one to the next, the last one's to end; 0 before
#include "core.cuh"

KERNEL __launch_bounds__(BLOCK) gaps_longest(
    const i64 *__restrict__ starts, i64 n, i64 end, i64 *__restrict__ longest) {
  const i64 i = thread_index();
  i64 gap = i < n ? (i + 1 < n ? starts[i + 1] : end) - starts[i] : 0;
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const i64 other = __shfl_xor_sync(WARP, gap, d);
    gap = gap < other ? other : gap;
  }
  // Few warps bring anything new. What is read may be old, then the atomic is one too many.
  if (lane_index() == 0 && gap > *(volatile i64 *)longest) atomicMax(longest, gap);
}
