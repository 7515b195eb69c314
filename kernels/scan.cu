// scan.cu: running sums of any number of integers.
//
// buffer   elements   written by    what
// sums     n/4096     scan_sums     of each tile; scan_apply adds up those before its own, or finds them scanned
// out      n or n+1   one, apply    the sum before each element, and at n the sum of all
// total    1          one, apply    the sum of all
//
// A row is 128 elements, 4 in a row for each lane of a warp. What lies before a row's elements
// comes from the rows before it in the warp's share, and what lies
// before the share from the warps and blocks before:
//
//   one     | warp 0: rows  | warp 1: rows  | ... | warp 31 |      one block, as many rows as there are for
//                                                                  each of 32 warps: adds up, then reads
//                                                                  again
//   tile    | warp 0: 4 rows | warp 1: 4 rows | ... | warp 7 |     4096 elements: one of many blocks
//   row     | lane 0: 4 | lane 1: 4 | ...
//
// Sums are 64 bits wide. What is summed here are counts of bytes, of which there are less than
// 2^63, so that no sum overflows.
#include "core.cuh"

constexpr int ROW = 128, ROWS = 4, WARP_ITEMS = ROW * ROWS;
constexpr i64 SCAN_TILE = (i64)WARP_ITEMS * (BLOCK / 32);

// The 4 elements from at on; those at n and after it are 0. at is a multiple of 4.
template <class T>
__device__ __forceinline__ void load_four(const T *in, i64 at, i64 n, T v[4]) {
  if (at + 4 <= n && ((u64)in & 15) == 0) {
    if constexpr (sizeof(T) == 4) {
      uint4 a = *(const uint4 *)(in + at);
      v[0] = (T)a.x, v[1] = (T)a.y, v[2] = (T)a.z, v[3] = (T)a.w;
    } else {
      const ulonglong2 *p = (const ulonglong2 *)(in + at);
      ulonglong2 a = p[0], b = p[1];
      v[0] = (T)a.x, v[1] = (T)a.y, v[2] = (T)b.x, v[3] = (T)b.y;
    }
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; k++) v[k] = at + k < n ? in[at + k] : 0;
}
// Writes the sums before 4 elements, of which at is before the first.
template <class T>
__device__ __forceinline__ void store_four(i64 *out, i64 at, i64 n, const T v[4], i64 sum) {
  i64 s[4] = {sum, sum + v[0], sum + v[0] + v[1], sum + v[0] + v[1] + v[2]};
  if (at + 4 <= n && ((u64)out & 15) == 0) {
    ulonglong2 *p = (ulonglong2 *)(out + at);
    p[0] = make_ulonglong2((u64)s[0], (u64)s[1]), p[1] = make_ulonglong2((u64)s[2], (u64)s[3]);
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (at + k < n) out[at + k] = s[k];
}
// The sum over the lanes before this one; row gets that over the warp.
__device__ __forceinline__ i64 lane_sums(i64 mine, i64 &row) {
  i64 x = mine;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    i64 y = __shfl_up_sync(WARP, x, d);
    if (lane_index() >= d) x += y;
  }
  row = __shfl_sync(WARP, x, 31);
  return x - mine;
}
// The sum over a lane's 4 elements.
template <class T>
__device__ __forceinline__ i64 sum_four(const T v[4]) {
  return (i64)v[0] + v[1] + v[2] + v[3];
}
// Where this thread's first row starts.
__device__ __forceinline__ i64 first_item() {
  return blockIdx.x * SCAN_TILE + (threadIdx.x >> 5) * WARP_ITEMS + lane_index() * 4;
}

template <class T>
__device__ __forceinline__ void scan_sums(const T *in, i64 n, i64 *sums) {
  __shared__ i64 shared[33];
  i64 sum = 0;
  T v[4];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    load_four(in, first_item() + r * ROW, n, v);
    sum += sum_four(v);
  }
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// before: the sum before each tile where these are scanned, else of each tile. out has room
// elements, total may be null. in and out may be the same memory: a
// block has read its elements before it writes them, and reads no others.
template <class T>
__device__ __forceinline__ void scan_apply(
    const T *in, i64 n, const i64 *before, u32 scanned, i64 *out, i64 room, i64 *total) {
  __shared__ i64 shared[33];
  i64 base = 0;
  if (scanned) {
    base = before[blockIdx.x];
  } else {
    for (i64 i = threadIdx.x; i < blockIdx.x; i += BLOCK) base += before[i];
    base = block_sum(base, shared);
  }
  T v[ROWS][4];
  i64 sum[ROWS], warp = 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    load_four(in, first_item() + r * ROW, n, v[r]);
    i64 row;
    sum[r] = warp + lane_sums(sum_four(v[r]), row);
    warp += row;
  }
  i64 tile, start = block_exclusive(lane_index() == 0 ? warp : 0, shared, tile);
  start = __shfl_sync(WARP, start, 0);
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (room) store_four(out, first_item() + r * ROW, n, v[r], base + start + sum[r]);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    if (room > n) out[n] = base + tile;
    if (total) *total = base + tile;
  }
}

// As scan_apply, by one block.
template <class T>
__device__ __forceinline__ void scan_one(const T *in, i64 n, i64 *out, i64 room, i64 *total) {
  __shared__ i64 shared[32];
  const i64 rows = (n + ROW - 1) / ROW, each = (rows + 31) / 32 * ROW,
            from = (threadIdx.x >> 5) * each, to = min(n, from + each);
  T v[4];
  i64 sum = 0;
#pragma unroll 4
  for (i64 row = from; row < to; row += ROW) {
    load_four(in, row + lane_index() * 4, n, v);
    sum += sum_four(v);
  }
  lane_sums(sum, sum);
  if (lane_index() == 0) shared[threadIdx.x >> 5] = sum;
  __syncthreads();
  i64 all;
  const i64 before = lane_sums(shared[lane_index()], all);  // lane i: what lies before warp i
  sum = __shfl_sync(WARP, before, threadIdx.x >> 5);
#pragma unroll 4
  for (i64 row = from; row < to && room; row += ROW) {
    i64 width;
    load_four(in, row + lane_index() * 4, n, v);
    store_four(out, row + lane_index() * 4, n, v, sum + lane_sums(sum_four(v), width));
    sum += width;
  }
  if (threadIdx.x > 0) return;
  if (room > n) out[n] = all;
  if (total) *total = all;
}

KERNEL __launch_bounds__(SCAN, 1) scan_one_i32(
    const i32 *__restrict__ in, i64 n, i64 *__restrict__ out, i64 room, i64 *__restrict__ total) {
  scan_one(in, n, out, room, total);
}

KERNEL __launch_bounds__(BLOCK) scan_sums_i32(
    const i32 *__restrict__ in, i64 n, i64 *__restrict__ sums) {
  scan_sums(in, n, sums);
}

KERNEL __launch_bounds__(BLOCK) scan_apply_i32(const i32 *__restrict__ in, i64 n,
    const i64 *__restrict__ before, u32 scanned, i64 *__restrict__ out, i64 room,
    i64 *__restrict__ total) {
  scan_apply(in, n, before, scanned, out, room, total);
}

KERNEL __launch_bounds__(SCAN, 1) scan_one_u32(
    const u32 *__restrict__ in, i64 n, i64 *__restrict__ out, i64 room, i64 *__restrict__ total) {
  scan_one(in, n, out, room, total);
}

KERNEL __launch_bounds__(BLOCK) scan_sums_u32(
    const u32 *__restrict__ in, i64 n, i64 *__restrict__ sums) {
  scan_sums(in, n, sums);
}

KERNEL __launch_bounds__(BLOCK) scan_apply_u32(const u32 *__restrict__ in, i64 n,
    const i64 *__restrict__ before, u32 scanned, i64 *__restrict__ out, i64 room,
    i64 *__restrict__ total) {
  scan_apply(in, n, before, scanned, out, room, total);
}

KERNEL __launch_bounds__(SCAN, 1) scan_one_i64(
    const i64 *in, i64 n, i64 *out, i64 room, i64 *__restrict__ total) {
  scan_one(in, n, out, room, total);
}

KERNEL __launch_bounds__(BLOCK) scan_sums_i64(
    const i64 *__restrict__ in, i64 n, i64 *__restrict__ sums) {
  scan_sums(in, n, sums);
}

KERNEL __launch_bounds__(BLOCK) scan_apply_i64(const i64 *in, i64 n, const i64 *__restrict__ before,
    u32 scanned, i64 *out, i64 room, i64 *__restrict__ total) {
  scan_apply(in, n, before, scanned, out, room, total);
}
