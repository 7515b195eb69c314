// offsets.cu: from rows that own items to the offsets of Arrow's lists, and to validity bitmaps.
//
// buffer    elements   written by   what
// sizes     n+1        counts       items of each row; a scan makes offsets of them
// offsets   n+1        lists        items of the rows before each row
// bitmap    n/64       validity     bit i % 64 of word i / 64 is row i: least significant bit first, as in Arrow
#include "search.cuh"

// Rows are added up in each warp first, so that one row that owns everything costs 1/32 of an atomic for each of its items.
KERNEL __launch_bounds__(BLOCK) offsets_counts(const i64 *__restrict__ rows, const i32 *__restrict__ counts, i64 items, i64 *__restrict__ sizes, i64 n) {
  const i64 item = thread_index();
  i64 row = item < items ? rows[item] : -1;
  u32 count = 0;
  if (row >= n) row = -1;
  if (row >= 0) count = counts ? (u32)max(counts[item], 0) : 1;
  u32 peers = __match_any_sync(WARP, row);
  // In halves: 32 counts may exceed 32 bits.
  u64 sum = __reduce_add_sync(peers, count & 0xffff) + ((u64)__reduce_add_sync(peers, count >> 16) << 16);
  if (row >= 0 && lane_index() == __ffs((int)peers) - 1) atomicAdd((u64 *)&sizes[row], sum);
}

// One thread an offset. The block's first and last rows bound where the others look, so that they look at few items.
KERNEL __launch_bounds__(BLOCK) offsets_lists(const i64 *__restrict__ rows, i64 items, i64 *__restrict__ offsets, i64 n) {
  __shared__ i64 bound[2];
  const i64 row = thread_index(), first = (i64)blockIdx.x * BLOCK;
  if (threadIdx.x < 2) bound[threadIdx.x] = lower_bound(rows, 0, items, threadIdx.x ? first + BLOCK : first);
  __syncthreads();
  if (row <= n) offsets[row] = lower_bound(rows, bound[0], bound[1], row);
}

// Ascending offsets fit if the last does; those that do not become the largest that does.
KERNEL __launch_bounds__(BLOCK) offsets_narrow(const i64 *__restrict__ wide, i64 n, i32 *__restrict__ narrow, u32 *__restrict__ overflow) {
  const i64 i = thread_index();
  if (i >= n) return;
  i64 v = wide[i];
  narrow[i] = v > 0x7fffffff ? 0x7fffffff : (i32)v;
  if (i == n - 1) *overflow = v > 0x7fffffff;
}

KERNEL __launch_bounds__(BLOCK) offsets_validity(const i64 *__restrict__ rows, i64 items, u64 *__restrict__ bitmap, i64 n) {
  const i64 item = thread_index();
  i64 row = item < items ? rows[item] : -1;
  i64 half = row >= 0 && row < n ? row >> 5 : -1;
  u32 peers = __match_any_sync(WARP, half);
  u32 bits = __reduce_or_sync(peers, half < 0 ? 0 : 1u << (row & 31));
  if (half >= 0 && lane_index() == __ffs((int)peers) - 1) atomicOr((u32 *)bitmap + half, bits);
}
