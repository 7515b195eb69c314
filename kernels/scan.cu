// scan.cu: running sums of any number of integers.
//
// buffer   elements   written by    what
// sums     n/4096     scan_sums     of each tile; the same kernels scan them before scan_apply adds them
// out      n or n+1   scan_apply    the sum before each element, and at n the sum of all
// total    1          scan_apply    the sum of all
//
// A block takes a tile, 4096 elements in 8 warps. A warp takes 4 rows, in which each lane has 4 elements in a row:
//
//   tile   | warp 0            | warp 1            | ...
//   warp   | row 0: 128 | row 1 | row 2 | row 3 |
//   row    | lane 0: 4 | lane 1: 4 | ...
//
// Sums are 64 bits wide. What is summed here are counts of bytes, of which there are less than 2^63, so that no sum overflows.
#include "vf.cuh"

constexpr int ROW = 128, ROWS = 4, WARP_ITEMS = ROW * ROWS;
constexpr i64 SCAN_TILE = (i64)WARP_ITEMS * (BLOCK / 32);

// The 4 elements from at on; those at n and behind it are 0. at is a multiple of 4.
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
// Where this thread's first row starts.
__device__ __forceinline__ i64 first_item() { return blockIdx.x * SCAN_TILE + (threadIdx.x >> 5) * WARP_ITEMS + lane_index() * 4; }

template <class T>
__device__ __forceinline__ void scan_sums(const T *in, i64 n, i64 *sums) {
  __shared__ i64 shared[33];
  i64 sum = 0;
  T v[4];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    load_four(in, first_item() + r * ROW, n, v);
    sum += (i64)v[0] + v[1] + v[2] + v[3];
  }
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// before: the sum before each tile, or null where there is one. out has room elements, total may be null. in and out may be the same memory: a
// block has read its elements before it writes them, and reads no others.
template <class T>
__device__ __forceinline__ void scan_apply(const T *in, i64 n, const i64 *before, i64 *out, i64 room, i64 *total) {
  __shared__ i64 shared[33];
  T v[ROWS][4];
  i64 sum[ROWS], warp = 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    load_four(in, first_item() + r * ROW, n, v[r]);
    i64 mine = (i64)v[r][0] + v[r][1] + v[r][2] + v[r][3], x = mine;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      i64 y = __shfl_up_sync(WARP, x, d);
      if (lane_index() >= d) x += y;
    }
    sum[r] = warp + x - mine;
    warp += __shfl_sync(WARP, x, 31);
  }
  i64 tile, start = block_exclusive(lane_index() == 0 ? warp : 0, shared, tile);
  start = __shfl_sync(WARP, start, 0);
  i64 base = before ? before[blockIdx.x] : 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (room) store_four(out, first_item() + r * ROW, n, v[r], base + start + sum[r]);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    if (room > n) out[n] = base + tile;
    if (total) *total = base + tile;
  }
}

KERNEL __launch_bounds__(BLOCK) scan_sums_i32(const i32 *__restrict__ in, i64 n, i64 *__restrict__ sums) {
  scan_sums(in, n, sums);
}

KERNEL __launch_bounds__(BLOCK) scan_sums_u32(const u32 *__restrict__ in, i64 n, i64 *__restrict__ sums) {
  scan_sums(in, n, sums);
}

KERNEL __launch_bounds__(BLOCK) scan_sums_i64(const i64 *__restrict__ in, i64 n, i64 *__restrict__ sums) {
  scan_sums(in, n, sums);
}

KERNEL __launch_bounds__(BLOCK) scan_apply_i32(const i32 *__restrict__ in, i64 n, const i64 *__restrict__ before, i64 *__restrict__ out, i64 room, i64 *__restrict__ total) {
  scan_apply(in, n, before, out, room, total);
}

KERNEL __launch_bounds__(BLOCK) scan_apply_u32(const u32 *__restrict__ in, i64 n, const i64 *__restrict__ before, i64 *__restrict__ out, i64 room, i64 *__restrict__ total) {
  scan_apply(in, n, before, out, room, total);
}

KERNEL __launch_bounds__(BLOCK) scan_apply_i64(const i64 *in, i64 n, const i64 *__restrict__ before, i64 *out, i64 room, i64 *__restrict__ total) {
  scan_apply(in, n, before, out, room, total);
}
