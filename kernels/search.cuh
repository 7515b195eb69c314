// search.cuh: where a value belongs in an ascending array.
#pragma once
#include "core.cuh"

// The first place in [from, to) whose element is not less than v, or to.
template <class T>
__device__ __forceinline__ i64 lower_bound(const T *__restrict__ sorted, i64 from, i64 to, T v) {
  while (from < to) {
    i64 middle = from + (to - from) / 2;
    if (sorted[middle] < v) from = middle + 1;
    else to = middle;
  }
  return from;
}
// The last place in [from, to) whose element is at most v; from if there is none. In an array of
// exclusive sums it is the owner of the v-th item.
//   sums   0 2 2 5     owners of the items 0 to 4:  0 0 2 2 2
template <class T>
__device__ __forceinline__ i64 owner_of(const T *__restrict__ sums, i64 from, i64 to, T v) {
  while (to - from > 1) {
    i64 middle = from + (to - from) / 2;
    if (sums[middle] <= v) from = middle;
    else to = middle;
  }
  return from;
}
// lower_bound by a warp, which looks at 32 places at a time: a fifth of the steps, each of which
// waits for memory. All lanes call, with the same arguments.
//
//   sorted   0 . . . . . . . | . . . . . . . .     v lies after the element of lane 1 and not after that of lane 2,
//            lane 0   lane 1   lane 2              so that one of those between is next
template <class T>
__device__ __forceinline__ i64 warp_lower_bound(
    const T *__restrict__ sorted, i64 from, i64 to, T v) {
  while (from < to) {
    const i64 step = (to - from + 31) / 32, at = from + lane_index() * step;
    const i64 less = __popc(__ballot_sync(WARP, at < to && sorted[at] < v));
    if (less < 32) to = min(to, from + less * step);
    if (less > 0) from += (less - 1) * step + 1;
  }
  return from;
}
// warp_lower_bound of all of count elements, which takes one step where the place is near a guess.
template <class T>
__device__ __forceinline__ i64 warp_lower_bound_near(
    const T *__restrict__ sorted, i64 count, T v, i64 guess) {
  const i64 first = guess - 16, at = first + lane_index();
  const u32 less = __ballot_sync(WARP, at < 0 || (at < count && sorted[at] < v));
  return (less & 1) && !(less >> 31) ? first + __popc(less) : warp_lower_bound(sorted, 0, count, v);
}
// owner_of by a warp, of integers.
template <class T>
__device__ __forceinline__ i64 warp_owner_of(const T *__restrict__ sums, i64 from, i64 to, T v) {
  return max(from, warp_lower_bound(sums, from, to, v + 1) - 1);
}
// The owners of the first and the last item of a block, between which those of its other items lie.
// All threads of the block call.
template <class T>
__device__ __forceinline__ void block_owners(
    const T *__restrict__ sums, i64 from, i64 to, T first, T last, i64 bound[2]) {
  const int warp = threadIdx.x >> 5;
  if (warp < 2) {
    const i64 owner = warp_owner_of(sums, from, to, warp ? last : first);
    if (lane_index() == 0) bound[warp] = owner;
  }
  __syncthreads();
}
