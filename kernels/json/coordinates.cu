// coordinates.cu: the parts, rings and positions of GeoJSON coordinates, found and checked in the
// structure of the text, for 64 bytes at a time.
//
// What rings.cu does bracket by bracket is done here for all brackets of a word at once: the level
// of each byte is kept modulo 8, a bit in each of three words, each
// a parity of brackets. Levels of coordinates lie between -1 and 3, a bracket changes them by 1:
// the first one that lies elsewhere is seen as such, and after that nothing
// counts.
//
//   text       " : [ [ [ 1 , 2 ] , [ 3 , 4 ] ] ] ,
//   span           a a a a a a a a a a a a a a a           one, of kind Polygon
//   level          0 1 2 2 2 2 1 1 2 2 2 2 1 0 -1          an opener counts at itself, a closer no longer does
//   begins         P R p           p
//   follows        [ [         , [           ] ]           what follows an opener that has brackets
//                                                          inside, and after a closer
//
// Whatever is inside a position's bracket is for positions.cu to read. What follows is looked for
// in the next two bytes, and the text is read only where it is
// not there: where blanks are, and at the end of a tile.
//
// buffer      elements     written by   what
// planes      3 * n/64     -            see structure.cu
// tile        n/16384      -            see quote.cuh, joined
// records     tiles        -            records before each tile, as records_join has them: span i lies in
//                                       record i; may be null
// begins      3 * n/64     count        one after the other: parts, rings and positions, a bit for the byte
//                                       at which each begins; whole tiles
// first       tiles + 1    count        the first span that begins in a tile or after it
// counts      3 * tiles    count        parts of each of n/16384 + 1 tiles, then rings, then positions
// result      1 + groups   count        see RingsFound; after that of the text those of groups of 2^group
//                                       tiles, which hold sums and nothing else
// span_part, part_ring, ring_place, place, span_ring, short_place    emit    see rings.cu
#include "json/records.cuh"
#include "geom/rings_result.cuh"

// for the parts, rings or positions before a word in its tile: at most one a byte
constexpr int TILE_BITS = 21;
constexpr i64 FAR_BLANKS = 4096;  // what follows more is not looked for

// What a kernel is given.
struct CoordinateText {
  const u8 *__restrict__ text;
  i64 n;
  ClassPlanes planes;  // of this thread's word
  QuoteTile tile;
  i64 deep;  // the depth in a span's outermost bracket
  const i64 *__restrict__ starts, *__restrict__ ends;
  const u8 *__restrict__ kinds;
  i64 from, to;  // the spans that begin in this tile
};
// What begins in a word, a bit for each byte.
struct CoordinateWord {
  u64 part, ring, place;
};
struct CoordinateTile {
  // in the tile, of the span before the first that begins in the tile, and then of those that do;
  // more of them stay where they are
  i32 end[BLOCK];
  u8 kind[BLOCK];
  u32 marks[2 * BLOCK], shared[33], sums[BLOCK / 32], next[BLOCK / 32 + 1];
};

// Where a span ends, from the beginning of the tile on; far after it is far enough.
__device__ __forceinline__ i32 end_in_tile(i64 end) {
  return (i32)min(max(end - blockIdx.x * TILE, 0ll), 2 * TILE);
}

// The bytes at a level from 0 to 3, which two bits of each byte say.
__device__ __forceinline__ u64 at_level(const Levels<3> &x, u64 from2, u64 odd) {
  return ~x.b[2] & ~(x.b[1] ^ from2) & ~(x.b[0] ^ odd);
}
// The bytes at a level above that, or below 0.
__device__ __forceinline__ u64 above_level(const Levels<3> &x, u64 from2, u64 odd) {
  return x.b[2] | (x.b[1] & ~from2) | (~(x.b[1] ^ from2) & x.b[0] & ~odd);
}

__device__ __forceinline__ bool is_white(u32 c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
// The first byte at or after at that is not blank. The search ends at n, or FAR_BLANKS bytes after
// at.
__device__ __forceinline__ i64 past_white(const u8 *__restrict__ text, i64 n, i64 at) {
  for (const i64 end = min(n, at + FAR_BLANKS); at < end; at++)
    if (!is_white(text[at])) return at;
  return at;
}
// Does what has to follow an opener that has brackets inside, or a closer? RINGS_SOUND,
// RINGS_STRAY, RINGS_UNDECIDED. Curly brackets are at fault where they stand.
__device__ __forceinline__ u32 follows(const u8 *__restrict__ text, i64 n, i64 at, bool opener) {
  at = past_white(text, n, at + 1);
  u32 c = at < n ? text[at] : '!';
  const bool comma = !opener && c == ',';
  if (comma) at = past_white(text, n, at + 1), c = at < n ? text[at] : '!';
  const bool opens = (c | 0x20) == '{', closes = (c | 0x20) == '}';
  return (opens && (opener || comma)) || (closes && !comma) ? RINGS_SOUND
         : is_white(c)                                      ? RINGS_UNDECIDED
                                                            : RINGS_STRAY;
}

// This thread's word. All threads of the block call.
__device__ __forceinline__ CoordinateWord coordinate_word(
    const CoordinateText &x, CoordinateTile &s, u64 *fault) {
  const i64 tile = blockIdx.x * TILE;
  const int warp = threadIdx.x >> 5;
  s.marks[threadIdx.x] = s.marks[BLOCK + threadIdx.x] = 0;
  const i64 mine = x.from - 1 + threadIdx.x;
  if (mine >= 0 && mine < x.to)
    s.end[threadIdx.x] = end_in_tile(x.ends[mine]), s.kind[threadIdx.x] = x.kinds[mine];
  // a barrier for what is shared
  const WordClasses w = word_classes(x.planes, x.n, thread_index(), x.tile, s.shared);
  // The next two bytes of a thread are its neighbour's; those after the tile are not known.
  u32 next = (u32)(w.open & 3) | (u32)(w.close & 1) << 2 | (u32)(w.comma & 1) << 3;
  if (lane_index() == 0) s.next[warp] = next;
  if (threadIdx.x == 0) s.next[BLOCK / 32] = 0;
  for (i64 i = x.from + threadIdx.x; i < x.to; i += BLOCK) {
    const i64 at = x.starts[i] - tile;
    // not so only where the spans are out of order
    if (at >= 0 && at < TILE) atomicOr(&s.marks[at / 32], 1u << at % 32);
  }
  __syncthreads();
  CoordinateWord r = {0, 0, 0};
  // where spans begin
  u64 marks = s.marks[2 * threadIdx.x] | (u64)s.marks[2 * threadIdx.x + 1] << 32;
  // Two sums in one: changes of the level, of up to 64 a word, made positive, and spans.
  u32 all;
  const u32 sums = tile_before(
      (u32)(64 + __popcll(w.open) - __popcll(w.close)) | (u32)__popcll(marks) << 16, s.sums, all);
  const i32 spans = (i32)(sums >> 16);  // that begin before the word and in its tile
  next = __shfl_down_sync(WARP, next, 1);
  if (lane_index() == 31) next = s.next[warp + 1];
  if (!(w.open | w.close)) return r;
  // the level before the word
  const i32 before =
      depth_saturated((i64)x.tile.depth + ((i32)(sums & 0xffff) - 64 * (i32)threadIdx.x) - x.deep);
  // Which bytes are whose: of spans with how many levels of brackets around a position, as two
  // bits, and the last byte of each span.
  u64 taken = 0, odd = 0, from2 = 0, final = 0, wrong = 0, rest = ~0ull;
  for (i32 owner = spans - 1;; owner++) {
    const u64 mark = marks & (0 - marks);
    if (owner >= 0 || x.from > 0) {
      const bool near = owner + 1 < BLOCK;
      const i32 inside = (near ? s.end[owner + 1] : end_in_tile(x.ends[x.from + owner])) -
                         (i32)threadIdx.x * (i32)WORD;
      const u32 kind = near ? s.kind[owner + 1] : x.kinds[x.from + owner];
      // without a mark all up to the end
      const u64 among =
          inside > 0 && kind - 1 < RING_KINDS - 1 ? rest & (mark - 1) & low_bits(inside) : 0;
      if (among) {
        const u32 last = (u32)ring_levels(kind);
        const u64 low = rest & (0 - rest);
        taken |= among, odd |= last & 1 ? among : 0, from2 |= last & 2 ? among : 0;
        if (inside <= WORD) final |= 1ull << (inside - 1);
        if (owner >= spans && before + depth_change(w.open, w.close, low - 1) != -1) wrong |= low;
      }
    }
    if (!mark) break;
    rest = 0 - mark, marks ^= mark;
  }
  if (!taken) return r;
  const Levels<3> level = byte_levels<3>(w.open, w.close, (u32)before & 7);
  const u64 opens = w.open & taken, closes = w.close & taken;
  r.place = opens & at_level(level, from2, odd);
  r.ring = opens & at_level(level, from2 & odd, from2 & ~odd);  // one level less, at 0 as well
  // two levels less, at 1 and 0 as well
  r.part = opens & at_level(level, 0, from2 & odd);
  // The last byte, and no other, leaves level -1, 111; what leaves -2, 110, is one too many.
  const u64 outside = closes & level.b[2] & level.b[1];
  wrong |= (w.curly & taken) | (opens & above_level(level, from2, odd)) | (outside ^ final) |
           (outside & ~level.b[0]);
  const u64 opens_next = w.open >> 1 | (u64)next << 63,
            closes_next = w.close >> 1 | (u64)(next >> 2) << 63,
            commas_next = w.comma >> 1 | (u64)(next >> 3) << 63;
  const u64 open_after = w.open >> 2 | (u64)next << 62;
  // What follows these is right, if openers have brackets inside.
  const u64 fine = closes_next | (w.open & opens_next) | (w.close & commas_next & open_after);
  u64 lost = ((opens & ~r.place) | (closes & ~final)) & ~fine;
  if (!(wrong | lost)) return r;
  const i64 start = thread_index() * WORD;
  u64 key = ~0ull;
  if (wrong)
    key = (u64)(start + first_bit(wrong)) << 2 |
          (w.curly & wrong & (0 - wrong) ? RINGS_STRAY : RINGS_DEEP);
  for (; lost; lost &= lost - 1) {
    const i64 at = start + first_bit(lost);
    const u32 found = follows(x.text, x.n, at, (w.open & lost & (0 - lost)) != 0);
    if (found == RINGS_SOUND) continue;
    key = min(key, (u64)at << 2 | found);
    break;
  }
  if (key < *(volatile u64 *)fault) atomicMin(fault, key);
  return r;
}

struct CoordinatesCountArgs {
  i64 n, tiles;
  i64 deep;   // the depth in a span's outermost bracket
  i64 count;  // spans
  i64 group;
  u64 *begins;
  i64 *first, *counts;
  RingsFound *result;
};

KERNEL __launch_bounds__(BLOCK, 4) coordinates_count(const u8 *__restrict__ text,
    const u64 *__restrict__ planes, const QuoteTile *__restrict__ quotes,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u8 *__restrict__ kinds,
    const i64 *__restrict__ records, const __grid_constant__ CoordinatesCountArgs args) {
  const i64 n = args.n, count = args.count;
  RingsFound *__restrict__ result = args.result;
  u64 *__restrict__ begins = args.begins;
  __shared__ CoordinateTile s;
  __shared__ i64 bound[2];
  __shared__ u32 shared[3][BLOCK / 32];
  const int warp = threadIdx.x >> 5;
  const ClassPlanes own = load_classes(planes, n, thread_index());  // on their way meanwhile
  QuoteTile tile = {0, 0, 0, 0, {{0, 0}}};
  if (blockIdx.x * TILE < n) tile = load_tile(quotes + blockIdx.x);
  if (warp < 2) {
    const i64 number = blockIdx.x + warp, from = number * TILE;
    const i64 at =
        records ? warp_lower_bound_near(starts, count, from,
                      number < args.tiles ? records[run_place(args.tiles, number).at] : count)
                : warp_lower_bound(starts, 0, count, from);
    if (lane_index() == 0) bound[warp] = at;
    if (lane_index() == 0 && (warp == 0 || blockIdx.x == gridDim.x - 1))
      args.first[blockIdx.x + warp] = at;
  }
  __syncthreads();
  const CoordinateText x = {text, n, own, tile, args.deep, starts, ends, kinds, bound[0], bound[1]};
  const CoordinateWord r = coordinate_word(x, s, &result->first);
  const i64 words = (i64)gridDim.x * BLOCK;
  begins[thread_index()] = r.part, begins[words + thread_index()] = r.ring,
  begins[2 * words + thread_index()] = r.place;
  for (i64 i = thread_index(); i < count; i += (i64)gridDim.x * BLOCK) {
    const i64 start = starts[i], end = ends[i];
    if (start < 0 || end < start || end > n ||
        (i + 1 < count && (end > starts[i + 1] || start == starts[i + 1])))
      atomicMin(&result->disorder, (u64)i);
  }
  // A warp has 2048 bytes at most: two counts in one number.
  const u32 outer = __reduce_add_sync(WARP, (u32)__popcll(r.part) | (u32)__popcll(r.ring) << 16),
            places = __reduce_add_sync(WARP, (u32)__popcll(r.place));
  if (lane_index() == 0)
    shared[0][warp] = outer & 0xffff, shared[1][warp] = outer >> 16, shared[2][warp] = places;
  __syncthreads();
  const u32 k = threadIdx.x;
  if (k >= 3) return;
  u32 sum = 0;
#pragma unroll
  for (int w = 0; w < BLOCK / 32; w++) sum += shared[k][w];
  args.counts[(i64)k * gridDim.x + blockIdx.x] = sum;
  if (!sum) return;
  atomicAdd((u64 *)&result->sum[k], (u64)sum);
  atomicAdd((u64 *)&result[1 + (blockIdx.x >> args.group)].sum[k], (u64)sum);
}

// The sum over a warp's lanes, of numbers of up to 54 bits.
__device__ __forceinline__ i64 warp_sum(i64 v) {
  return ((i64)__reduce_add_sync(WARP, (u32)(v >> 27)) << 27) +
         __reduce_add_sync(WARP, (u32)v & ((1u << 27) - 1));
}

// What begins before this tile: parts, rings and positions in groups before its own, and then in
// tiles before it in its group. Six warps of the block find one sum each.
// Thousands of blocks do this, a chunk of 40 MiB with at most 64 tiles and 40 groups before one:
// two steps.
__device__ __forceinline__ void sums_before(const i64 *__restrict__ counts, i64 group,
    const RingsFound *__restrict__ result, i64 before[6]) {
  const u32 warp = threadIdx.x >> 5, own = blockIdx.x >> group, first = own << group;
  if (warp >= 6) return;
  const bool groups = warp < 3;  // whose sums are one less than there are
  const i64 *sums = groups ? result[1].sum + warp : counts + (warp - 3) * (i64)gridDim.x + first;
  const u32 many = groups ? own : blockIdx.x - first,
            step = groups ? sizeof(RingsFound) / sizeof(i64) : 1;
  i64 sum = 0;
#pragma unroll 1
  for (u32 i = lane_index(); i < many; i += 32) sum += sums[(i64)i * step] + (groups ? 1 : 0);
  sum = warp_sum(sum);
  if (lane_index() == 0) before[warp] = sum;
}

constexpr u32 LISTED = TILE / 8;  // positions of a tile

KERNEL __launch_bounds__(BLOCK, 6) coordinates_emit(const u64 *__restrict__ begins,
    const i64 *__restrict__ starts, const i64 *__restrict__ first, const i64 *__restrict__ counts,
    i64 group, const RingsFound *__restrict__ result, const __grid_constant__ RingLists to) {
  __shared__ u64 shared[BLOCK / 32], word_part[BLOCK], word_ring[BLOCK];
  __shared__ u16 part_before[BLOCK], ring_before[BLOCK], listed[LISTED];
  __shared__ i64 sums[6], bound[2];
  const i64 words = (i64)gridDim.x * BLOCK, tile = blockIdx.x * TILE;
  const u64 part_bits = begins[thread_index()], ring_bits = begins[words + thread_index()],
            place_bits = begins[2 * words + thread_index()];
  sums_before(counts, group, result, sums);
  // of a warp that has no sum to find
  if (threadIdx.x >= BLOCK - 2)
    bound[threadIdx.x - (BLOCK - 2)] = first[blockIdx.x + threadIdx.x - (BLOCK - 2)];
  u64 all;
  // a barrier for sums and bounds
  const u64 before = tile_before((u64)__popcll(part_bits) | (u64)__popcll(ring_bits) << TILE_BITS |
                                     (u64)__popcll(place_bits) << 2 * TILE_BITS,
      shared, all);
  const i64 tile_parts = sums[0] + sums[3], tile_rings = sums[1] + sums[4],
            tile_places = sums[2] + sums[5];
  constexpr u64 ONE = (1ull << TILE_BITS) - 1;
  word_part[threadIdx.x] = part_bits, part_before[threadIdx.x] = (u16)(before & ONE);
  word_ring[threadIdx.x] = ring_bits, ring_before[threadIdx.x] = (u16)(before >> TILE_BITS & ONE);
  i64 parts = tile_parts + (i64)(before & ONE),
      rings = tile_rings + (i64)(before >> TILE_BITS & ONE);
  const i64 places = tile_places + (i64)(before >> 2 * TILE_BITS);
  for (u64 m = part_bits | ring_bits; m; m &= m - 1) {
    const u64 bit = m & (0 - m);
    if (part_bits & bit) to.part_ring[parts++] = rings;
    if (ring_bits & bit) store_ring(to, rings++, places + __popcll(place_bits & (bit - 1)));
  }
  // Positions are written side by side, whichever thread found them. Coordinates have fewer than
  // are LISTED; what has more is no less exact.
  const u32 found = (u32)(all >> 2 * TILE_BITS), in_tile = threadIdx.x * (u32)WORD;
  u32 i = (u32)(before >> 2 * TILE_BITS);
  if (found > LISTED)
    for (u64 m = place_bits; m; m &= m - 1)
      to.place[tile_places + i++] = tile + in_tile + first_bit(m);
  else
    for (u64 m = place_bits; m; m &= m - 1) listed[i++] = (u16)(in_tile + __ffsll((i64)m) - 1);
  __syncthreads();
  for (u32 k = threadIdx.x; k < found && found <= LISTED; k += BLOCK)
    to.place[tile_places + k] = tile + listed[k];
  for (i64 k = bound[0] + threadIdx.x; k < bound[1]; k += BLOCK) {
    const i64 at = starts[k] - tile;
    if (at < 0 || at >= TILE) continue;
    const i64 word = at / WORD;
    const u64 earlier = low_bits(at % WORD);
    to.span_part[k] = tile_parts + part_before[word] + __popcll(word_part[word] & earlier);
    if (to.span_ring)
      to.span_ring[k] =
          short_offset(tile_rings + ring_before[word] + __popcll(word_ring[word] & earlier));
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) end_rings(result, to);
}
