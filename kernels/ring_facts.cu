// ring_facts.cu: how many rings are odd: open, too short for a ring, too short for a line.
//
// buffer   elements    written by   what
// ring     rings + 1   -            positions before each ring, and all
// kinds    rings       -            of the geometry of each ring; may be null: every ring counts as a ring and as a line
// facts    1           ring_facts   see RingFact; zero before
#include "vf.cuh"

struct RingFact {
  u64 open, few, single;
};

constexpr u32 POLYGONS = 1u << 3 | 1u << 6, LINES = 1u << 2 | 1u << 5;  // bits of kinds, as in WKB

// One thread a ring, which looks at its first position and its last.
KERNEL __launch_bounds__(BLOCK) ring_facts(const double *__restrict__ x, const double *__restrict__ y, i64 positions, const i64 *__restrict__ ring, i64 rings, const u8 *__restrict__ kinds, RingFact *__restrict__ facts) {
  const i64 i = thread_index();
  u32 open = 0, few = 0, single = 0;
  if (i < rings) {
    const i64 from = ring[i], last = ring[i + 1] - 1;
    few = last < from + 3, single = last == from;
    if (0 <= from && from <= last && last < positions) open = !(x[from] == x[last] && y[from] == y[last]);
    const u32 kind = kinds ? 1u << (kinds[i] & 7) : POLYGONS | LINES;
    if (!(kind & POLYGONS)) open = few = 0;
    if (!(kind & LINES)) single = 0;
  }
  open = __syncthreads_count(open), few = __syncthreads_count(few), single = __syncthreads_count(single);
  if (threadIdx.x) return;
  if (open) atomicAdd(&facts->open, (u64)open);
  if (few) atomicAdd(&facts->few, (u64)few);
  if (single) atomicAdd(&facts->single, (u64)single);
}
