// geometry_kinds.cuh: what is said of all geometries together.
#pragma once
#include "core.cuh"

// Also in geometry_kinds.go.
struct GeometryReport {
  u32 kinds;  // bit per kind
  u32 odd;    // GEOMETRY_*
  u32 named;  // bit per kind that the records' own types name; the last one TYPE_UNDECIDED
};
enum { KIND_POINT = 1, KIND_COLLECTION = 7, KIND_Z = 8 };
enum { GEOMETRY_UNLIKE = 1, GEOMETRY_HOLLOW = 2 };

// Adds bits to a report of which most have been there for long; the block calls together, once.
__device__ __forceinline__ void report_bits(GeometryReport *report, u32 kinds, u32 odd, u32 named) {
  __shared__ u32 shared[3];
  if (threadIdx.x < 3) shared[threadIdx.x] = 0;
  __syncthreads();
  kinds = __reduce_or_sync(WARP, kinds), odd = __reduce_or_sync(WARP, odd),
  named = __reduce_or_sync(WARP, named);
  if (lane_index() == 0 && kinds) atomicOr(&shared[0], kinds);
  if (lane_index() == 0 && odd) atomicOr(&shared[1], odd);
  if (lane_index() == 0 && named) atomicOr(&shared[2], named);
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (shared[0] & ~*(volatile u32 *)&report->kinds) atomicOr(&report->kinds, shared[0]);
  if (shared[1] & ~*(volatile u32 *)&report->odd) atomicOr(&report->odd, shared[1]);
  if (shared[2] & ~*(volatile u32 *)&report->named) atomicOr(&report->named, shared[2]);
}
