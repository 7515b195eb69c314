// shift.cu: offsets of lists that follow others. One thread, one offset.
#include "core.cuh"

KERNEL __launch_bounds__(BLOCK) shift_offsets(
    const i32 *__restrict__ from, i64 n, i32 by, i32 *__restrict__ to) {
  const i64 i = thread_index();
  if (i < n) to[i] = from[i] + by;
}
