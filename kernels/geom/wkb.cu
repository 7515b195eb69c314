// wkb.cu: geometries as ISO WKB.
//
// buffer       elements    written by             what
// offsets      rows + 1    sizes, offsets         bytes of the rows before each row in its block; then before it in all
// sums         rows/256    sizes                  bytes of each block's rows
// narrow       rows + 1    offsets                the offsets in 32 bits
// row_ring     rows + 1    sizes                  the first ring of each row
// head         rows        sizes                  what the header of each row says: its kind, and in the
//                                                 upper half a count; 0 where it has none
// part_at      parts       starts                 the byte of each part's header, or of its row where it has none
// part_kind    parts       starts                 kind of its row
// ring_at      rings       starts                 the byte of each ring's first position: its header stands before
// ring_kind    rings       starts                 kind of its row
// out          bytes       bytes
// facts        1           bytes                  see ring_facts.cuh, of rings and lines by the kinds of
//                                                 their rows; 0 before
//
// A block makes a tile of 16 KiB of the output, whatever lies in it: it looks for the rows, parts
// and rings that reach into the tile, puts their headers and positions
// together in shared memory, where they may lie as they like, and stores whole words. So a geometry
// of millions of positions costs what millions of
// geometries cost. Bytes of members of collections are copied from another such output. A row of no
// bytes, a null, is looked at and no more.
#include "geom/ring_facts.cuh"
#include "geom/wkb.cuh"

// One thread, one row, and one for the last offset. The bytes of a collection's members are those
// from src[c] to src[c + 1].
struct WkbSizesArgs {
  i64 rows, collections;
  i64 *row_ring;
  u64 *head;
  i64 *offsets, *sums;
};

KERNEL __launch_bounds__(BLOCK) wkb_sizes(const u8 *__restrict__ kinds,
    const i64 *__restrict__ span_part, const i64 *__restrict__ part_ring,
    const i64 *__restrict__ ring_place, const i64 *__restrict__ row, const i64 *__restrict__ first,
    const i64 *__restrict__ src, const __grid_constant__ WkbSizesArgs args) {
  __shared__ i64 shared[BLOCK / 32];
  const i64 i = thread_index(), rows = args.rows;
  const u32 kind = i < rows ? kinds[i] : 0, k = kind & 7;
  i64 size = 0, counted = 0, all;
  if (i <= rows) args.row_ring[i] = part_ring[span_part[i]];
  if (kind) {
    const i64 part0 = span_part[i], part1 = span_part[i + 1], ring0 = part_ring[part0],
              ring1 = part_ring[part1], places = ring_place[ring1] - ring_place[ring0];
    size = wkb_before(wkb_layout(kind), part1 - part0, ring1 - ring0, places);
    counted = k == WKB_POLYGONS                    ? part1 - part0
              : k == WKB_POLYGON || k == WKB_LINES ? ring1 - ring0
                                                   : places;
    if (k == WKB_COLLECTION) {
      const i64 c = lower_bound(row, 0, args.collections, i);
      if (c < args.collections && row[c] == i)
        size += src[c + 1] - src[c], counted = first[c + 1] - first[c];
    }
  }
  const i64 before = tile_before(size, shared, all);
  if (i <= rows) args.offsets[i] = before;
  if (i < rows) args.head[i] = k > WKB_POINT ? kind | (u64)counted << 32 : 0;
  if (threadIdx.x == 0) args.sums[blockIdx.x] = all;
}

// What lies before a block's rows is added up by the block itself, unless the sums were scanned.
KERNEL __launch_bounds__(BLOCK) wkb_offsets(const i64 *__restrict__ sums, u32 scanned, i64 rows,
    i64 *__restrict__ offsets, i32 *__restrict__ narrow) {
  __shared__ i64 shared[33];
  const i64 i = thread_index();
  i64 before = 0;
  for (i64 b = threadIdx.x; b < blockIdx.x && !scanned; b += BLOCK) before += sums[b];
  before = scanned ? sums[blockIdx.x] : block_sum(before, shared);
  if (i > rows) return;
  const i64 at = offsets[i] + before;
  offsets[i] = at, narrow[i] = (i32)min(at, 0x7fffffffll);
}

struct WkbStartsArgs {
  i64 rows, parts, rings;
  i64 *part_at;
  u8 *part_kind;
  i64 *ring_at;
  u8 *ring_kind;
};

// One thread, one part, and one ring. The rows of the first and the last of a block's, between
// which those of the others lie, are found by a warp each.
KERNEL __launch_bounds__(BLOCK) wkb_starts(const u8 *__restrict__ kinds,
    const i64 *__restrict__ span_part, const i64 *__restrict__ part_ring,
    const i64 *__restrict__ ring_place, const i64 *__restrict__ row_ring,
    const i64 *__restrict__ offsets, const __grid_constant__ WkbStartsArgs args) {
  __shared__ i64 bound[4];
  const i64 i = thread_index(), start = (i64)blockIdx.x * BLOCK, parts = args.parts,
            rings = args.rings;
  const u32 warp = threadIdx.x / 32;
  if (warp < 4) {
    const i64 owner = warp_owner_of(warp < 2 ? span_part : row_ring, 0, args.rows,
        warp & 1 ? min(start + BLOCK, warp < 2 ? parts : rings) - 1 : start);
    if (lane_index() == 0) bound[warp] = owner;
  }
  __syncthreads();
  if (i < parts) {
    const i64 row = owner_of(span_part, bound[0], bound[1] + 1, i), ring = part_ring[i],
              ring0 = row_ring[row];
    const u32 kind = kinds[row];
    const WkbLayout l = wkb_layout(kind);
    args.part_at[i] = offsets[row] + (l.part ? wkb_before(l, i - span_part[row], ring - ring0,
                                                   ring_place[ring] - ring_place[ring0])
                                             : 0),
    args.part_kind[i] = (u8)kind;
  }
  if (i < rings) {
    const i64 row = owner_of(row_ring, bound[2], bound[3] + 1, i), ring0 = row_ring[row];
    const u32 kind = kinds[row];
    const WkbLayout l = wkb_layout(kind);
    const i64 before =
        l.part ? owner_of(part_ring, span_part[row], span_part[row + 1], i) - span_part[row] : 0;
    args.ring_at[i] = offsets[row] +
                      wkb_before(l, before, i - ring0, ring_place[i] - ring_place[ring0]) + l.part +
                      l.ring,
    args.ring_kind[i] = (u8)kind;
  }
}

// What lies across the ends of a tile is put into the bytes next to it. They are more than the 37 of
// a position.
constexpr i64 WKB_MARGIN = 48;

// A tile of the output, from byte `from` on, in words of shared memory that are 0 at first.
//
//   word          |  w        |  w + 1    |  w + 2    |
//   put at 6         .  .  5  5  5  5  5  5  5  5  .        the words at its ends are others' too, who put
//                                                           their bytes there at the same time
struct WkbTile {
  u32 *words;
  i64 from;

  // May something that begins at byte `at` of the tile reach into it?
  static __device__ __forceinline__ bool near(i64 at) { return at > -WKB_MARGIN && at < TILE; }
  // Puts four bytes at byte `at` of the tile. Those that are 0 may be others'.
  __device__ __forceinline__ void put(i32 at, u32 v) const {
    u32 *const w = words + (at >> 2);
    // a shift is one by its lowest 5 bits
    atomicOr(w, __funnelshift_l(0, v, 8 * at)), atomicOr(w + 1, __funnelshift_l(v, 0, 8 * at));
  }
  // Likewise eight.
  __device__ __forceinline__ void put(i32 at, u32 low, u32 high) const {
    u32 *const w = words + (at >> 2);
    atomicOr(w, __funnelshift_l(0, low, 8 * at)),
        atomicOr(w + 1, __funnelshift_l(low, high, 8 * at)),
        atomicOr(w + 2, __funnelshift_l(high, 0, 8 * at));
  }
  // Puts an x and a y there. The three words between those at the ends are theirs.
  __device__ __forceinline__ void put_position(i32 at, u64 x, u64 y) const {
    const u32 x0 = (u32)x, x1 = (u32)(x >> 32), y0 = (u32)y, y1 = (u32)(y >> 32);
    u32 *const w = words + (at >> 2);
    w[1] = __funnelshift_l(x0, x1, 8 * at), w[2] = __funnelshift_l(x1, y0, 8 * at),
    w[3] = __funnelshift_l(y0, y1, 8 * at);
    atomicOr(w, __funnelshift_l(0, x0, 8 * at)), atomicOr(w + 4, __funnelshift_l(y1, 0, 8 * at));
  }
  // Puts a header with a count there.
  __device__ __forceinline__ void put_counted(i32 at, u32 kind, u32 count) const {
    put(at, wkb_header(kind), count << 8);  // a header's fifth byte is 0
    if (count >> 24) put(at + 8, count >> 24);
  }
};

// Some rings in shared memory, and which of their positions reach into a tile, counted from the
// first position of the first ring.
struct WkbRings {
  i32 place[BLOCK];  // the first position of each; where there is no ring, more than any
  // of the tile, where position 0 would lie if it and all between were the ring's, modulo 2^32
  u32 byte[BLOCK];
  u8 kind[BLOCK], size[BLOCK];  // size: bytes of a position
  i32 from, to;
};
// The ordinates of all positions; z and m may be null.
struct WkbOrdinates {
  const u64 *x, *y, *z, *m;
};
// Puts rings from number first on there, up to BLOCK of those that are left: their headers and
// positions. A ring is counted where the byte before its positions lies, which is
// one of a header.
__device__ __forceinline__ void wkb_rings(const WkbTile &tile, WkbRings &s, i32 n,
    const i64 *__restrict__ ring_place, const i64 *__restrict__ ring_at,
    const u8 *__restrict__ ring_kind, i64 first, i64 left, const WkbOrdinates &of,
    RingFact *facts) {
  const i64 base = ring_place[first], i = first + threadIdx.x;
  u32 odd = 0;
  s.place[threadIdx.x] = 0x7fffffff;
  if (threadIdx.x < left) {
    const u32 kind = ring_kind[i], k = kind & 7, size = wkb_position(kind);
    const i64 at = ring_at[i] - tile.from, from = ring_place[i], places = ring_place[i + 1] - from;
    if (k == WKB_LINES && tile.near(at - WKB_COUNTED))
      tile.put_counted((i32)(at - WKB_COUNTED), WKB_LINE | (kind & WKB_DIMS), (u32)places);
    if ((k == WKB_POLYGON || k == WKB_POLYGONS) && tile.near(at - WKB_COUNT))
      tile.put((i32)(at - WKB_COUNT), (u32)places);
    s.place[threadIdx.x] = (i32)(from - base),
    s.byte[threadIdx.x] = (u32)at - size * (u32)(from - base), s.kind[threadIdx.x] = (u8)kind,
    s.size[threadIdx.x] = (u8)size;
    const u32 odds = k == WKB_POLYGON || k == WKB_POLYGONS ? RING_OPEN | RING_FEW
                     : k == WKB_LINE || k == WKB_LINES     ? LINE_SINGLE
                                                           : 0;
    if (at > 0 && at <= n && odds)
      odd = odds & ring_odd((const double *)of.x, (const double *)of.y, from, places,
                       places > 0 && odds & RING_OPEN);
    if (threadIdx.x == 0) s.from = (i32)min((i64)((u64)max(-at, 0ll) / size), places);
    if (threadIdx.x == min(left, (i64)BLOCK) - 1)
      s.to = (i32)(from - base + min((i64)((u64)max(TILE - at + size - 1, 0ll) / size), places));
  }
  count_odd(facts, odd);
  __syncthreads();
  const u64 *__restrict__ x = of.x + base, *__restrict__ y = of.y + base;
  for (i32 p = s.from + (i32)threadIdx.x; p < s.to; p += BLOCK) {
    const u64 px = x[p], py = y[p];
    u32 ring = 0;
#pragma unroll
    for (u32 step = BLOCK / 2; step; step /= 2)
      if (s.place[ring + step] <= p) ring += step;
    const u32 kind = s.kind[ring];
    i32 at = (i32)(s.byte[ring] + s.size[ring] * (u32)p);
    // changes nothing, unless lists are not what they have to be
    at = min(max(at, -(i32)WKB_MARGIN), (i32)TILE);
    if (wkb_single(kind)) tile.put(at, wkb_header(WKB_POINT | (kind & WKB_DIMS))), at += WKB_HEADER;
    tile.put_position(at, px, py);
    at += 16;
    if (kind & WKB_Z) {
      const u64 z = __ldg(of.z + base + p);
      tile.put(at, (u32)z, (u32)(z >> 32)), at += 8;
    }
    if (kind & WKB_M) {
      const u64 m = __ldg(of.m + base + p);
      tile.put(at, (u32)m, (u32)(m >> 32));
    }
  }
  __syncthreads();
}

// The rows that are collections, and the bytes of their members: those of collection c are from
// src[c] to src[c + 1].
struct WkbMembers {
  i64 collections;
  const i64 *row;
  const u8 *bytes;
};
// Puts the members of collections there.
__device__ __forceinline__ void wkb_members(const WkbTile &tile, const i64 *__restrict__ offsets,
    i64 rows_from, i64 rows_to, const i64 *__restrict__ src, const WkbMembers &members) {
  const i64 *row = members.row;
  const i64 from = warp_lower_bound(row, 0, members.collections, rows_from),
            to = warp_lower_bound(row, 0, members.collections, rows_to);
  if (from >= to) return;
  const i64 skip = max(tile.from - offsets[__ldg(row + from)] - WKB_COUNTED, 0ll),
            upto = max(tile.from + TILE - offsets[__ldg(row + to - 1)] - WKB_COUNTED, 0ll);
  const i64 end = min(src[to - 1] + upto, src[to]);
  for (i64 s = src[from] + skip + threadIdx.x; s < end; s += BLOCK) {
    const i64 c = owner_of(src, from, to, s),
              at = offsets[__ldg(row + c)] + WKB_COUNTED + s - src[c] - tile.from;
    if (tile.near(at)) tile.put((i32)at, (u32)__ldg(members.bytes + s));
  }
}

struct WkbBytesArgs {
  i64 rows, parts, rings;
  const u64 *z, *m;  // may be null
  WkbMembers members;
  u8 *out;
  i64 room;
  RingFact *facts;
};

KERNEL __launch_bounds__(BLOCK) wkb_bytes(const i64 *__restrict__ offsets,
    const u64 *__restrict__ head, const i64 *__restrict__ part_ring,
    const i64 *__restrict__ part_at, const u8 *__restrict__ part_kind,
    const i64 *__restrict__ ring_place, const i64 *__restrict__ ring_at,
    const u8 *__restrict__ ring_kind, const u64 *__restrict__ x, const u64 *__restrict__ y,
    const i64 *__restrict__ src, const __grid_constant__ WkbBytesArgs args) {
  __shared__ uint4 words[(TILE + 2 * WKB_MARGIN) / 16];
  __shared__ i64 bound[6];
  __shared__ WkbRings shared;
  uint4 *const inside = words + WKB_MARGIN / 16;
  const WkbTile tile = {(u32 *)inside, (i64)blockIdx.x * TILE};
  const i32 n = (i32)max(min(TILE, min(args.room, offsets[args.rows]) - tile.from), 0ll);
  for (i32 i = threadIdx.x; i < TILE / 16; i += BLOCK) inside[i] = make_uint4(0, 0, 0, 0);
  // A warp looks for each end of what reaches into the tile: of rows, parts and rings, of which the
  // first may begin before the tile.
  const u32 warp = threadIdx.x / 32, last = warp & 1;
  if (warp < 6) {
    const i64 end = warp_lower_bound(warp < 2   ? offsets
                                     : warp < 4 ? part_at
                                                : ring_at,
        0,
        warp < 2   ? args.rows
        : warp < 4 ? args.parts
                   : args.rings,
        tile.from + (warp == 5 ? TILE + WKB_COUNTED
                        : last ? TILE
                               : 1));
    if (lane_index() == 0) bound[warp] = last ? end : max(end - 1, 0ll);
  }
  __syncthreads();
  if (n == 0) return;
  for (i64 i = bound[0] + threadIdx.x; i < bound[1]; i += BLOCK) {
    const i64 at = offsets[i] - tile.from;
    const u64 h = head[i];
    // both are loaded at the same time
    if (h != 0 & tile.near(at)) tile.put_counted((i32)at, (u32)h, (u32)(h >> 32));
  }
  // From the last thread on: the first ones may still be at rows.
  for (i64 i = bound[2] + (BLOCK - 1 - threadIdx.x); i < bound[3]; i += BLOCK) {
    if ((part_kind[i] & 7) != WKB_POLYGONS) continue;
    const i64 at = part_at[i] - tile.from;
    if (tile.near(at))
      tile.put_counted(
          (i32)at, WKB_POLYGON | (part_kind[i] & WKB_DIMS), (u32)(part_ring[i + 1] - part_ring[i]));
  }
  for (i64 i = bound[4]; i < bound[5]; i += BLOCK)
    wkb_rings(tile, shared, n, ring_place, ring_at, ring_kind, i, bound[5] - i,
        {x, y, args.z, args.m}, args.facts);
  if (args.members.collections) wkb_members(tile, offsets, bound[0], bound[1], src, args.members);
  __syncthreads();
#pragma unroll 4
  for (i32 i = threadIdx.x; i < n / 16; i += BLOCK)
    ((uint4 *)(args.out + tile.from))[i] = inside[i];
  if (threadIdx.x < n % 16)
    args.out[tile.from + n / 16 * 16 + threadIdx.x] = ((u8 *)(inside + n / 16))[threadIdx.x];
}

// A collection has a z or an m if it or one of its members has, and then all of its members are
// written with it: first the members tell it, then it tells them.
KERNEL __launch_bounds__(BLOCK) wkb_dims_join(const i64 *__restrict__ first, i64 collections,
    const u8 *__restrict__ member_kinds, i64 members, u32 *__restrict__ dims) {
  const i64 i = thread_index();
  const u32 own = i < members ? member_kinds[i] & WKB_DIMS : 0;
  if (!own) return;
  u32 *const all = dims + owner_of(first, 0, collections, i);
  if (own & ~*(volatile u32 *)all) atomicOr(all, own);
}
KERNEL __launch_bounds__(BLOCK) wkb_dims_rows(
    const i64 *__restrict__ row, i64 collections, u8 *__restrict__ kinds, u32 *__restrict__ dims) {
  const i64 i = thread_index();
  if (i >= collections) return;
  const u32 all = dims[i] | (kinds[row[i]] & WKB_DIMS);
  dims[i] = all, kinds[row[i]] = (u8)(WKB_COLLECTION | all);
}
KERNEL __launch_bounds__(BLOCK) wkb_dims_members(const i64 *__restrict__ first, i64 collections,
    const u32 *__restrict__ dims, u8 *__restrict__ member_kinds, i64 members) {
  const i64 i = thread_index();
  if (i >= members) return;
  member_kinds[i] = (u8)(member_kinds[i] | dims[owner_of(first, 0, collections, i)]);
}
