// ring_facts.cu: how many rings are odd: open, too short for a ring, too short for a line.
//
// buffer   elements    written by   what
// ring     rings + 1   -            positions before each ring, and all
// facts    1           ring_facts   see RingFact; zero before
#include "vf.cuh"

struct RingFact {
  u64 open, few, single;
};

// One thread a ring, which looks at its first position and its last.
KERNEL __launch_bounds__(BLOCK) ring_facts(const double *__restrict__ x, const double *__restrict__ y, i64 positions, const i64 *__restrict__ ring, i64 rings, RingFact *__restrict__ facts) {
  const i64 i = thread_index();
  u32 open = 0, few = 0, single = 0;
  if (i < rings) {
    const i64 from = ring[i], last = ring[i + 1] - 1;
    few = last < from + 3, single = last == from;
    if (0 <= from && from <= last && last < positions) open = !(x[from] == x[last] && y[from] == y[last]);
  }
  open = __syncthreads_count(open), few = __syncthreads_count(few), single = __syncthreads_count(single);
  if (threadIdx.x) return;
  if (open) atomicAdd(&facts->open, (u64)open);
  if (few) atomicAdd(&facts->few, (u64)few);
  if (single) atomicAdd(&facts->single, (u64)single);
}
