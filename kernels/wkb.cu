// wkb.cu: geometries as ISO WKB.
//
// buffer       elements    written by             what
// offsets      rows + 1    sizes, offsets         bytes of the rows before each row in its block; then before it in all
// sums         rows/256    sizes                  bytes of each block's rows
// narrow       rows + 1    offsets                the offsets in 32 bits
// row_ring     rows + 1    sizes                  the first ring of each row
// part_at      parts       starts                 the byte of each part's header, or of its row where it has none
// part_kind    parts       starts                 kind of its row
// ring_at      rings       starts                 the byte of each ring's first position: its header stands before
// ring_kind    rings       starts                 kind of its row
// out          bytes       bytes
//
// A block makes a tile of 16 KiB of the output, whatever lies in it: it looks for the rows, parts, rings and positions that reach into the tile, puts their bytes
// together in shared memory, where they may lie as they like, and stores whole words. So a geometry of millions of positions costs what millions of
// geometries cost. Bytes of members of collections are copied from another such output. A row of no bytes, a null, is looked at and no more.
#include "wkb.cuh"

// One thread, one row, and one for the last offset. The bytes of a collection's members are those from src[c] to src[c + 1].
KERNEL __launch_bounds__(BLOCK) wkb_sizes(const u8 *__restrict__ kinds, const i64 *__restrict__ span_part, const i64 *__restrict__ part_ring, const i64 *__restrict__ ring_place, i64 rows, const i64 *__restrict__ row, const i64 *__restrict__ src, i64 collections, i64 *__restrict__ row_ring, i64 *__restrict__ offsets, i64 *__restrict__ sums) {
  __shared__ i64 shared[BLOCK / 32];
  const i64 i = thread_index();
  const u32 kind = i < rows ? kinds[i] : 0;
  i64 size = 0, all;
  if (i <= rows) row_ring[i] = part_ring[span_part[i]];
  if (kind) {
    const i64 part0 = span_part[i], part1 = span_part[i + 1], ring0 = part_ring[part0], ring1 = part_ring[part1];
    size = wkb_before(wkb_layout(kind), part1 - part0, ring1 - ring0, ring_place[ring1] - ring_place[ring0]);
    if ((kind & 7) == WKB_COLLECTION) {
      const i64 c = lower_bound(row, 0, collections, i);
      if (c < collections && row[c] == i) size += src[c + 1] - src[c];
    }
  }
  const i64 before = tile_before(size, shared, all);
  if (i <= rows) offsets[i] = before;
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// What lies before a block's rows is added up by the block itself, unless the sums were scanned.
KERNEL __launch_bounds__(BLOCK) wkb_offsets(const i64 *__restrict__ sums, u32 scanned, i64 rows, i64 *__restrict__ offsets, i32 *__restrict__ narrow) {
  __shared__ i64 shared[33];
  const i64 i = thread_index();
  i64 before = 0;
  for (i64 b = threadIdx.x; b < blockIdx.x && !scanned; b += BLOCK) before += sums[b];
  before = scanned ? sums[blockIdx.x] : block_sum(before, shared);
  if (i > rows) return;
  const i64 at = offsets[i] + before;
  offsets[i] = at, narrow[i] = (i32)min(at, 0x7fffffffll);
}

// One thread, one part, and one ring. The rows of the first and the last of a block's, between which those of the others lie, are found by a warp each.
KERNEL __launch_bounds__(BLOCK) wkb_starts(const u8 *__restrict__ kinds, const i64 *__restrict__ span_part, const i64 *__restrict__ part_ring, const i64 *__restrict__ ring_place, i64 rows, i64 parts, i64 rings, const i64 *__restrict__ row_ring, const i64 *__restrict__ offsets, i64 *__restrict__ part_at, u8 *__restrict__ part_kind, i64 *__restrict__ ring_at, u8 *__restrict__ ring_kind) {
  __shared__ i64 bound[4];
  const i64 i = thread_index(), start = (i64)blockIdx.x * BLOCK;
  const u32 warp = threadIdx.x / 32;
  if (warp < 4) {
    const i64 owner = warp_owner_of(warp < 2 ? span_part : row_ring, 0, rows, warp & 1 ? min(start + BLOCK, warp < 2 ? parts : rings) - 1 : start);
    if (lane_index() == 0) bound[warp] = owner;
  }
  __syncthreads();
  if (i < parts) {
    const i64 row = owner_of(span_part, bound[0], bound[1] + 1, i), ring = part_ring[i], ring0 = row_ring[row];
    const u32 kind = kinds[row];
    const WkbLayout l = wkb_layout(kind);
    part_at[i] = offsets[row] + (l.part ? wkb_before(l, i - span_part[row], ring - ring0, ring_place[ring] - ring_place[ring0]) : 0), part_kind[i] = (u8)kind;
  }
  if (i < rings) {
    const i64 row = owner_of(row_ring, bound[2], bound[3] + 1, i), ring0 = row_ring[row];
    const u32 kind = kinds[row];
    const WkbLayout l = wkb_layout(kind);
    const i64 before = l.part ? owner_of(part_ring, span_part[row], span_part[row + 1], i) - span_part[row] : 0;
    ring_at[i] = offsets[row] + wkb_before(l, before, i - ring0, ring_place[i] - ring_place[ring0]) + l.part + l.ring, ring_kind[i] = (u8)kind;
  }
}

// A tile of the output: n bytes from byte `from` on.
struct WkbTile {
  u8 *bytes;
  i64 from;
  i32 n;

  // Puts the lowest `count` bytes of v at byte `at` of the output, as far as they lie in the tile. count is 8 at most.
  __device__ __forceinline__ void put(i64 at, u64 v, int count) const {
    at -= from;
    if (at <= -8 || at >= n) return;
    const int a = (int)at;
    if (a >= 0 && a + 8 <= n) {
#pragma unroll
      for (int b = 0; b < 8; b++)
        if (b < count) bytes[a + b] = (u8)(v >> 8 * b);
      return;
    }
    for (int b = 0; b < count; b++)
      if (a + b >= 0 && a + b < n) bytes[a + b] = (u8)(v >> 8 * b);
  }
  __device__ __forceinline__ void put_counted(i64 at, u32 kind, i64 count) const { put(at, wkb_header(kind), WKB_HEADER), put(at + WKB_HEADER, (u64)count, WKB_COUNT); }
};

// What of a list reaches into a tile: items [from, to).
struct WkbRange {
  i64 from, to;
};
// The range of items that begin at ascending bytes, the first one's perhaps before the tile. reach: how far before its byte an item has a header. The warps from
// number warp on look for it, one for each end.
__device__ __forceinline__ void wkb_range(const i64 *__restrict__ at, i64 count, const WkbTile &tile, i64 reach, u32 warp, WkbRange &r) {
  if (threadIdx.x / 32 == warp) {
    const i64 from = warp_owner_of(at, 0, count, tile.from);
    if (lane_index() == 0) r.from = from;
  }
  if (threadIdx.x / 32 == warp + 1) {
    const i64 to = warp_lower_bound(at, 0, count, tile.from + tile.n + reach);
    if (lane_index() == 0) r.to = to;
  }
}

// Puts positions there.
__device__ __forceinline__ void wkb_places(const WkbTile &tile, const i64 *__restrict__ ring_place, const i64 *__restrict__ ring_at, const u8 *__restrict__ ring_kind, WkbRange rings, const u64 *__restrict__ x, const u64 *__restrict__ y, const u64 *__restrict__ z, const u64 *__restrict__ m) {
  if (rings.from >= rings.to) return;
  const i64 end = tile.from + tile.n, last = owner_of(ring_at, rings.from, rings.to, end - 1);
  const i64 skip = max(tile.from - ring_at[rings.from], 0ll) / wkb_layout(ring_kind[rings.from]).position;
  const i64 upto = max(end - ring_at[last] + wkb_layout(ring_kind[last]).position - 1, 0ll) / wkb_layout(ring_kind[last]).position;
  const i64 to = min(ring_place[last] + upto, ring_place[last + 1]);
  for (i64 p = min(ring_place[rings.from] + skip, ring_place[rings.from + 1]) + threadIdx.x; p < to; p += BLOCK) {
    const i64 ring = owner_of(ring_place, rings.from, last + 1, p);
    const u32 kind = ring_kind[ring], k = kind & 7;
    i64 at = ring_at[ring] + wkb_layout(kind).position * (p - ring_place[ring]);
    if (k == WKB_POINT || k == WKB_POINTS) tile.put(at, wkb_header(WKB_POINT | (kind & WKB_DIMS)), WKB_HEADER), at += WKB_HEADER;
    tile.put(at, x[p], 8), tile.put(at + 8, y[p], 8);
    at += 16;
    if (kind & WKB_Z) tile.put(at, z[p], 8), at += 8;
    if (kind & WKB_M) tile.put(at, m[p], 8);
  }
}

// Puts the headers of collections there, and their members.
__device__ __forceinline__ void wkb_members(const WkbTile &tile, const u8 *__restrict__ kinds, const i64 *__restrict__ offsets, WkbRange rows, const i64 *__restrict__ row, const i64 *__restrict__ first, const i64 *__restrict__ src, i64 collections, const u8 *__restrict__ members) {
  const i64 from = warp_lower_bound(row, 0, collections, rows.from), to = warp_lower_bound(row, 0, collections, rows.to);
  if (from >= to) return;
  for (i64 c = from + threadIdx.x; c < to; c += BLOCK) tile.put_counted(offsets[row[c]], kinds[row[c]], first[c + 1] - first[c]);
  const i64 skip = max(tile.from - offsets[row[from]] - WKB_COUNTED, 0ll), upto = max(tile.from + tile.n - offsets[row[to - 1]] - WKB_COUNTED, 0ll);
  const i64 end = min(src[to - 1] + upto, src[to]);
  for (i64 s = src[from] + skip + threadIdx.x; s < end; s += BLOCK) {
    const i64 c = owner_of(src, from, to, s);
    tile.put(offsets[row[c]] + WKB_COUNTED + s - src[c], members[s], 1);
  }
}

KERNEL __launch_bounds__(BLOCK) wkb_bytes(const u8 *__restrict__ kinds, const i64 *__restrict__ span_part, const i64 *__restrict__ part_ring, const i64 *__restrict__ ring_place, i64 rows, i64 parts, i64 rings, const u64 *__restrict__ x, const u64 *__restrict__ y, const u64 *__restrict__ z, const u64 *__restrict__ m, const i64 *__restrict__ offsets, const i64 *__restrict__ part_at, const u8 *__restrict__ part_kind, const i64 *__restrict__ ring_at, const u8 *__restrict__ ring_kind, const i64 *__restrict__ row, const i64 *__restrict__ first, const i64 *__restrict__ src, i64 collections, const u8 *__restrict__ members, u8 *__restrict__ out, i64 room) {
  __shared__ uint4 words[TILE / 16];
  __shared__ WkbRange range[3];
  WkbTile tile = {(u8 *)words, (i64)blockIdx.x * TILE, 0};
  tile.n = (i32)max(min(TILE, min(room, offsets[rows]) - tile.from), 0ll);
  if (tile.n == 0) return;
  wkb_range(offsets, rows, tile, 0, 0, range[0]), wkb_range(part_at, parts, tile, 0, 2, range[1]), wkb_range(ring_at, rings, tile, WKB_COUNTED, 4, range[2]);
  __syncthreads();
  for (i64 i = range[0].from + threadIdx.x; i < range[0].to; i += BLOCK) {
    const u32 kind = kinds[i], k = kind & 7;
    if (k <= WKB_POINT || k == WKB_COLLECTION) continue;
    const i64 part0 = span_part[i], part1 = span_part[i + 1], ring0 = part_ring[part0], ring1 = part_ring[part1];
    const i64 count = k == WKB_POLYGONS ? part1 - part0 : k == WKB_POLYGON || k == WKB_LINES ? ring1 - ring0 : ring_place[ring1] - ring_place[ring0];
    tile.put_counted(offsets[i], kind, count);
  }
  for (i64 i = range[1].from + threadIdx.x; i < range[1].to; i += BLOCK)
    if ((part_kind[i] & 7) == WKB_POLYGONS) tile.put_counted(part_at[i], WKB_POLYGON | (part_kind[i] & WKB_DIMS), part_ring[i + 1] - part_ring[i]);
  for (i64 i = range[2].from + threadIdx.x; i < range[2].to; i += BLOCK) {
    const u32 kind = ring_kind[i], k = kind & 7;
    const i64 count = ring_place[i + 1] - ring_place[i], at = ring_at[i];
    if (k == WKB_LINES) tile.put_counted(at - WKB_COUNTED, WKB_LINE | (kind & WKB_DIMS), count);
    else if (k == WKB_POLYGON || k == WKB_POLYGONS) tile.put(at - WKB_COUNT, (u64)count, WKB_COUNT);
  }
  wkb_places(tile, ring_place, ring_at, ring_kind, range[2], x, y, z, m);
  if (collections) wkb_members(tile, kinds, offsets, range[0], row, first, src, collections, members);
  __syncthreads();
  for (i32 i = threadIdx.x; i < tile.n / 16; i += BLOCK) ((uint4 *)(out + tile.from))[i] = words[i];
  for (i32 i = tile.n / 16 * 16 + threadIdx.x; i < tile.n; i += BLOCK) out[tile.from + i] = tile.bytes[i];
}

// A collection has a z or an m if it or one of its members has, and then all of its members are written with it: first the members tell it, then it tells them.
KERNEL __launch_bounds__(BLOCK) wkb_dims_join(const i64 *__restrict__ first, i64 collections, const u8 *__restrict__ member_kinds, i64 members, u32 *__restrict__ dims) {
  const i64 i = thread_index();
  const u32 own = i < members ? member_kinds[i] & WKB_DIMS : 0;
  if (!own) return;
  u32 *const all = dims + owner_of(first, 0, collections, i);
  if (own & ~*(volatile u32 *)all) atomicOr(all, own);
}
KERNEL __launch_bounds__(BLOCK) wkb_dims_rows(const i64 *__restrict__ row, i64 collections, u8 *__restrict__ kinds, u32 *__restrict__ dims) {
  const i64 i = thread_index();
  if (i >= collections) return;
  const u32 all = dims[i] | (kinds[row[i]] & WKB_DIMS);
  dims[i] = all, kinds[row[i]] = (u8)(WKB_COLLECTION | all);
}
KERNEL __launch_bounds__(BLOCK) wkb_dims_members(const i64 *__restrict__ first, i64 collections, const u32 *__restrict__ dims, u8 *__restrict__ member_kinds, i64 members) {
  const i64 i = thread_index();
  if (i >= members) return;
  member_kinds[i] = (u8)(member_kinds[i] | dims[owner_of(first, 0, collections, i)]);
}
