// number_kinds.cu: which kinds of numbers a column holds, one thread a token.
//
// buffer   elements   written by     what
// kinds    1          number_kinds   the kinds of all tokens together; 0 before
// count    1          count          tokens that are of one of some kinds; 0 before
//
// Neighbours in a warp read neighbouring text. A warp takes as long as its longest token, of which
// at most 1 KiB is read.
#include "number/number_kinds.cuh"

KERNEL __launch_bounds__(BLOCK) number_kinds(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 count,
    const u64 *__restrict__ valid, u32 *__restrict__ kinds) {
  __shared__ u32 all;
  const i64 i = thread_index();
  u32 mine = 0;
  if (i < count && (!valid || valid[i / 64] >> i % 64 & 1))
    mine = number_kinds_of(text, n, starts[i], ends[i]);
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  mine = __reduce_or_sync(WARP, mine);
  if (lane_index() == 0) atomicOr(&all, mine);
  __syncthreads();
  // Few blocks bring anything new. What is read may be old, then the atomic is one too many.
  if (threadIdx.x == 0 && all & ~*(volatile u32 *)kinds) atomicOr(kinds, all);
}

KERNEL __launch_bounds__(BLOCK) number_kinds_count(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 count,
    const u64 *__restrict__ valid, u32 want, u64 *__restrict__ found) {
  const i64 i = thread_index();
  const bool is = i < count && (!valid || valid[i / 64] >> i % 64 & 1) &&
                  number_kinds_of(text, n, starts[i], ends[i]) & want;
  const int some = __syncthreads_count(is);
  if (threadIdx.x == 0 && some) atomicAdd(found, (u64)some);
}
