// search.cuh: where a value belongs in an ascending array.
#pragma once
#include "vf.cuh"

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
// The last place in [from, to) whose element is at most v; from if there is none. In an array of exclusive sums it is the owner of the v-th item.
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
