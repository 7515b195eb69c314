// add_offsets.cu: the offsets of two columns of strings, added.
#include "core.cuh"

KERNEL __launch_bounds__(BLOCK) add_offsets(
    i64 *__restrict__ sums, i64 count, const i64 *__restrict__ more) {
  const i64 i = thread_index();
  if (i < count) sums[i] += more[i];
}
