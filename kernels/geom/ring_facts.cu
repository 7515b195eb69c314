// ring_facts.cu: how many rings are odd: open, too short for a ring, too short for a line.
//
// buffer   elements    written by   what
// ring     rings + 1   -            positions before each ring, and all
// facts    1           ring_facts   see RingFact; zero before
#include "geom/ring_facts.cuh"

// One thread a ring, which looks at its first position and its last. Positions that are not there
// make it no more than short.
KERNEL __launch_bounds__(BLOCK) ring_facts(const double *__restrict__ x,
    const double *__restrict__ y, i64 positions, const i64 *__restrict__ ring, i64 rings,
    RingFact *__restrict__ facts) {
  const i64 i = thread_index();
  u32 odd = 0;
  if (i < rings) {
    const i64 from = ring[i], to = ring[i + 1];
    odd = ring_odd(x, y, from, to - from, 0 <= from && from < to && to <= positions);
  }
  count_odd(facts, odd);
}
