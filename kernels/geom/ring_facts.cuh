// ring_facts.cuh: what is odd about a ring, or a line.
#pragma once
#include "core.cuh"

// Also in ring_facts.go.
struct RingFact {
  u64 unclosed, few, single;
};
enum { RING_OPEN = 1, RING_FEW = 2, LINE_SINGLE = 4 };

// What is odd about the positions from one on, RING_* if they are a ring of a polygon and LINE_* if
// they are a line; both where that is not known. there: can they be looked at.
__device__ __forceinline__ u32 ring_odd(
    const double *__restrict__ x, const double *__restrict__ y, i64 from, i64 places, bool there) {
  const i64 last = from + places - 1;
  u32 odd = (places < 4 ? RING_FEW : 0) | (places == 1 ? LINE_SINGLE : 0);
  // all four on their way at a time
  if (there && !((x[from] == x[last]) & (y[from] == y[last]))) odd |= RING_OPEN;
  return odd;
}
// Counts what is odd about the rings and lines of a warp. All lanes call.
__device__ __forceinline__ void count_odd(RingFact *facts, u32 odd) {
  if (!__any_sync(WARP, odd != 0)) return;
  const u32 open = __ballot_sync(WARP, odd & RING_OPEN), few = __ballot_sync(WARP, odd & RING_FEW),
            single = __ballot_sync(WARP, odd & LINE_SINGLE);
  if (lane_index()) return;
  if (open) atomicAdd(&facts->unclosed, (u64)__popc(open));
  if (few) atomicAdd(&facts->few, (u64)__popc(few));
  if (single) atomicAdd(&facts->single, (u64)__popc(single));
}
