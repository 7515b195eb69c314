// rings.cu: the parts, rings and positions of geometries, found by the level of their brackets.
//
// A thread takes a word of text, not a geometry: each bracket knows the span it lies in. What
// begins at it is counted, and the counts before it say where it is
// written. Nothing walks a geometry.
//
//   text       " : [ [ [ 1 , 2 ] , [ 3 , 4 ] ] ] ,
//   span           a a a a a a a a a a a a a a a           one, of kind Polygon
//   level          0 1 2           2
//   begins         P R p           p
//   offsets    span to part 0 1, part to ring 0 1, ring to position 0 2, positions the bytes at p
//
// A word finds the spans it lies in by the number of spans that begin before it: the first span of
// each tile is looked up once, and from there on it is counting.
// Both passes find the same; the second one writes. Where the first has found no fault, the second
// reads no text (GeoJSON).
//
// buffer      elements       written by     what
// span        spans          spans          see RingSpan
// first       tiles + 1      spans          the first span that begins in a tile or after it
// tile        3 * tiles      count, join    parts, rings and positions of each of n/16384 + 1 tiles; joined:
//                                           of those before it
// result      1              spans, count, join
// span_part   spans + 1      emit           parts before each span, and all
// part_ring   parts + 1      emit           rings before each part, and all
// ring_place  rings + 1      emit           positions before each ring, and all
// place       positions      emit           the byte of the bracket that begins a position (GeoJSON), or the
//                                           first byte of its number (WKT)
#include "text/depth.cuh"
#include "geom/rings.cuh"
#include "geom/rings_result.cuh"

struct alignas(16) RingSpan {
  i64 end;
  i32 depth;  // before the span
  u32 kind;
};
// One thread, one span, and one warp, one tile.
KERNEL __launch_bounds__(BLOCK) rings_spans(const u64 *__restrict__ open,
    const u64 *__restrict__ close, const i32 *__restrict__ base, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u8 *__restrict__ kinds,
    i64 count, RingSpan *__restrict__ span, i64 *__restrict__ first,
    RingsFound *__restrict__ result) {
  const i64 i = thread_index(), tile = i / 32;
  if (tile <= n / TILE + 1) {
    const i64 at = warp_lower_bound(starts, 0, count, tile * TILE);
    if (lane_index() == 0) first[tile] = at;
  }
  if (i >= count) return;
  const i64 start = starts[i], end = ends[i];
  const bool inside = 0 <= start && start <= end && end <= n;
  if (!inside || (i + 1 < count && (end > starts[i + 1] || start == starts[i + 1])))
    atomicMin(&result->disorder, (u64)i);
  i64 depth = 0;
  if (inside && start < n)
    depth = base[start / WORD] +
            (i64)depth_change(open[start / WORD], close[start / WORD], low_bits(start % WORD));
  const RingSpan s = {inside ? end : 0, depth_saturated(depth), kinds[i]};
  span[i] = s;
}

// What a kernel is given.
struct RingText {
  const u8 *__restrict__ text;
  // commas: null where positions have brackets of their own
  const u64 *__restrict__ open, *__restrict__ close, *__restrict__ commas;
  const i32 *__restrict__ base;
  i64 n;
  const i64 *__restrict__ starts;
  const RingSpan *__restrict__ span;
  const i64 *__restrict__ first;
};
// A word, and what begins in it, a bit for each byte.
struct RingWord {
  i64 start;  // its first byte
  u64 open, close, comma;
  u64 mark;    // the bytes at which spans begin
  i32 before;  // spans that begin before the word and in its tile
  i32 base;
  u64 part, ring, place;
};
// The words of a tile that spans lie in, one after the other: threads that have one are
// neighbours, whatever lies between geometries.
//
//   word    | . . . | [[[1,2],[3, | 4],[1,2]]]}}, | "a":"b","c" | :"d"}},{"geom | :[[[5,6],
//   thread            0             1                                             2
struct RingTile {
  // the one before the first that begins in the tile, and then those that do; more of them stay
  // where they are
  RingSpan span[BLOCK];
  u64 open[BLOCK], close[BLOCK], comma[BLOCK], mark[BLOCK];
  i32 base[BLOCK];
  u16 before[BLOCK], word[BLOCK];
};
// A span, counted from the first that begins in the tile.
__device__ __forceinline__ RingSpan ring_span(const RingText &x, const RingTile &s, i32 owner) {
  return owner + 1 < BLOCK ? s.span[owner + 1] : x.span[x.first[blockIdx.x] + owner];
}

// This thread's word, of those that spans lie in, or an empty one. All threads of the block call.
__device__ __forceinline__ RingWord ring_load(const RingText &x, RingTile &s) {
  __shared__ u32 marks[2 * BLOCK], shared[BLOCK / 32], shared_words[BLOCK / 32];
  const i64 word = thread_index(), tile = blockIdx.x * TILE, from = x.first[blockIdx.x],
            to = x.first[blockIdx.x + 1];
  u64 open = 0, close = 0, comma = 0;
  i32 base = 0;
  if (word * WORD < x.n) {
    open = x.open[word], close = x.close[word], base = x.base[word];
    if (x.commas) comma = x.commas[word];
  }
  marks[threadIdx.x] = marks[BLOCK + threadIdx.x] = 0;
  const i64 mine = from - 1 + threadIdx.x;
  if (mine >= 0 && mine < to) s.span[threadIdx.x] = x.span[mine];
  __syncthreads();
  for (i64 i = from + threadIdx.x; i < to; i += BLOCK) {
    const i64 at = x.starts[i] - tile;
    // not so only where the spans are out of order
    if (at >= 0 && at < TILE) atomicOr(&marks[at / 32], 1u << at % 32);
  }
  __syncthreads();
  const u64 mark = marks[2 * threadIdx.x] | (u64)marks[2 * threadIdx.x + 1] << 32;
  u32 all, count;
  const u32 before = tile_before((u32)__popcll(mark), shared, all);
  const bool taken = mark || (from + before > 0 && (open | comma) &&
                                 ring_span(x, s, (i32)before - 1).end > word * WORD);
  const u32 at = tile_before(taken ? 1u : 0, shared_words, count);
  if (taken) {
    s.open[at] = open, s.close[at] = close, s.comma[at] = comma, s.mark[at] = mark,
    s.base[at] = base;
    s.before[at] = (u16)before, s.word[at] = (u16)threadIdx.x;
  }
  __syncthreads();
  RingWord r = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  if (threadIdx.x >= count) return r;
  r.start = tile + s.word[threadIdx.x] * WORD;
  r.open = s.open[threadIdx.x], r.close = s.close[threadIdx.x], r.mark = s.mark[threadIdx.x],
  r.before = s.before[threadIdx.x], r.base = s.base[threadIdx.x];
  if (x.commas) r.comma = s.comma[threadIdx.x];
  return r;
}

// Is an opener in WKT, of which this is the byte, the first letter of EMPTY?
__device__ __forceinline__ bool is_empty(u32 c) { return c > '@'; }

// What begins at byte at, a bracket or comma at a level of a geometry. brackets: see ring_brackets.
// sound: outer brackets are known to be followed by brackets.
template <bool COMMAS>
__device__ __forceinline__ u32 ring_token(
    const RingText &x, u32 kind, u32 brackets, i32 level, i64 at, bool comma, bool sound) {
  u32 token = COMMAS ? 0 : ring_bracket(brackets, level);
  if (!COMMAS && (sound || !(token & RING_OUTER))) return token;
  if (COMMAS && !comma && is_empty(x.text[at])) return ring_empty(kind, level);
  const i64 behind = past_blanks(x.text, x.n, at + 1);
  const u32 next = behind < x.n ? x.text[behind] : '!';  // the text is cut off
  const bool opens = COMMAS && behind < x.n && (x.open[behind / WORD] >> behind % WORD & 1);
  if (COMMAS) token = ring_tag(kind, level, comma, opens);
  if (next <= ' ' && (token & RING_OUTER || kind == KIND_MULTIPOINT)) return RING_UNDECIDED;
  const bool nested = COMMAS ? opens : next == '[' || next == ']';
  return token & RING_OUTER && !nested ? RING_STRAY : token;
}

// The part of a word that lies in one span:
//
//   text     , [ 3 , 4 ] ] ] } , " c " : [ [ [ 5 , 6 ]
//   span     a a a a a a a a               b b b b b b
//   token    . 1 . . . . . .               1 1 1 . . .     each opener, and in WKT each comma
struct RingSegment {
  u64 token;  // that are still to be looked at
  i32 owner;  // the span, counted from the first that begins in the tile
  u64 rest;   // the bytes from the segment on
  u64 marks;  // where the segments after it begin
  RingSpan span;
};
// Goes on to the next segment that has tokens; its token is 0 if there is none.
template <bool COMMAS>
__device__ __forceinline__ void ring_next(
    const RingText &x, const RingTile &tile, const RingWord &r, RingSegment &s) {
  const bool any = x.first[blockIdx.x] > 0;  // spans that begin before the tile
  for (;;) {
    const u64 mark = s.marks & (0 - s.marks);
    // without a mark all up to the end
    const u64 among = s.rest & (mark - 1) & (COMMAS ? r.open | r.comma : r.open);
    if (among && (s.owner >= 0 || any)) {
      s.span = ring_span(x, tile, s.owner);
      const i64 inside = s.span.end - r.start;
      s.token = inside > 0 && s.span.kind - 1 < RING_KINDS - 1 ? among & low_bits(inside) : 0;
    }
    if (s.token || !mark) return;
    s.owner++, s.rest = 0 - mark, s.marks ^= mark;
  }
}

// One word's parts, rings and positions. fault: where the first fault is noted, or null: sound says
// whether there is none.
template <bool COMMAS>
__device__ __forceinline__ void ring_word(
    const RingText &x, const RingTile &tile, RingWord &r, u64 *fault, bool sound) {
  if (!(COMMAS ? r.open | r.comma : r.open)) return;
  RingSegment s = {0, r.before - 1, ~0ull, r.mark, {0, 0, 0}};
  for (;;) {
    ring_next<COMMAS>(x, tile, r, s);
    if (!s.token) return;
    const u32 brackets = ring_brackets(s.span.kind);
    i32 level = (i32)min(max((i64)r.base - s.span.depth - 1, -(1ll << 30)), 1ll << 30) +
                depth_change(r.open, r.close, ~s.rest);
    u64 close = r.close & s.rest;
    for (; s.token; s.token &= s.token - 1) {
      const u64 upto = through_first(s.token), bit = s.token & upto;
      const bool comma = COMMAS && (r.comma & bit) != 0;
      level += (comma ? 0 : 1) - __popcll(close & upto);
      close &= ~upto;
      const i64 at = r.start + first_bit(bit);
      const u32 token = ring_token<COMMAS>(x, s.span.kind, brackets, level, at, comma, sound);
      if (token & RING_PART) r.part |= bit;
      if (token & RING_RING) r.ring |= bit;
      if (token & RING_POSITION) r.place |= bit;
      if (!fault || token < RING_DEEP) continue;
      const u64 key = (u64)at << 2 | (token & RING_DEEP       ? RINGS_DEEP
                                         : token & RING_STRAY ? RINGS_STRAY
                                                              : RINGS_UNDECIDED);
      if (key < *fault) atomicMin(fault, key);
    }
    s.rest = 0;
    if (!s.marks) return;
  }
}

KERNEL __launch_bounds__(BLOCK, 4) rings_count(const u8 *__restrict__ text,
    const u64 *__restrict__ open, const u64 *__restrict__ close, const u64 *__restrict__ commas,
    const i32 *__restrict__ base, i64 n, const i64 *__restrict__ starts,
    const RingSpan *__restrict__ span, const i64 *__restrict__ first, i64 *__restrict__ tile,
    RingsFound *__restrict__ result) {
  __shared__ RingTile s;
  __shared__ u32 shared[BLOCK / 32], shared_places[BLOCK / 32];
  const RingText x = {text, open, close, commas, base, n, starts, span, first};
  RingWord r = ring_load(x, s);
  if (commas) ring_word<true>(x, s, r, &result->first, false);
  else ring_word<false>(x, s, r, &result->first, false);
  // A warp has 2048 bytes at most, a tile 16384: two counts in one number.
  const u32 outer = __reduce_add_sync(WARP, (u32)__popcll(r.part) | (u32)__popcll(r.ring) << 16),
            places = __reduce_add_sync(WARP, (u32)__popcll(r.place));
  if (lane_index() == 0) shared[threadIdx.x >> 5] = outer, shared_places[threadIdx.x >> 5] = places;
  __syncthreads();
  if (threadIdx.x > 0) return;
  u32 sum = 0, sum_places = 0;
#pragma unroll
  for (int w = 0; w < BLOCK / 32; w++) sum += shared[w], sum_places += shared_places[w];
  i64 *mine = tile + 3ll * blockIdx.x;
  mine[0] = sum & 0xffff, mine[1] = sum >> 16, mine[2] = sum_places;
}

// One block.
KERNEL __launch_bounds__(SCAN, 1) rings_join(
    i64 *__restrict__ tile, i64 tiles, RingsFound *__restrict__ result) {
  __shared__ i64 shared[33];
  const Share share = block_share(tiles);
  i64 sum[3] = {0, 0, 0}, all[3];
  for (i64 i = share.from; i < share.to; i++)
#pragma unroll
    for (int k = 0; k < 3; k++) sum[k] += tile[3 * i + k];
#pragma unroll
  for (int k = 0; k < 3; k++) sum[k] = block_exclusive(sum[k], shared, all[k]);
  for (i64 i = share.from; i < share.to; i++)
#pragma unroll
    for (int k = 0; k < 3; k++) {
      const i64 own = tile[3 * i + k];
      tile[3 * i + k] = sum[k];
      sum[k] += own;
    }
  if (threadIdx.x > 0) return;
#pragma unroll
  for (int k = 0; k < 3; k++) result->sum[k] = all[k] - 1;
}

constexpr u32 LISTED = TILE / 8;  // positions of a tile

// Where the position at a bracket or comma begins, or at EMPTY.
__device__ __forceinline__ i64 ring_place_at(const RingText &x, i64 at) {
  return x.commas && !is_empty(x.text[at]) ? past_blanks(x.text, x.n, at + 1) : at;
}

KERNEL __launch_bounds__(BLOCK, 4) rings_emit(const u8 *__restrict__ text,
    const u64 *__restrict__ open, const u64 *__restrict__ close, const u64 *__restrict__ commas,
    const i32 *__restrict__ base, i64 n, const i64 *__restrict__ starts,
    const RingSpan *__restrict__ span, const i64 *__restrict__ first, const i64 *__restrict__ tile,
    const RingsFound *__restrict__ result, const __grid_constant__ RingLists to) {
  __shared__ RingTile s;
  __shared__ u64 shared[BLOCK / 32];
  __shared__ u16 listed[LISTED];
  const RingText x = {text, open, close, commas, base, n, starts, span, first};
  RingWord r = ring_load(x, s);
  const bool sound = result->first == ~0ull;
  if (commas) ring_word<true>(x, s, r, nullptr, sound);
  else ring_word<false>(x, s, r, nullptr, sound);
  // Three counts of up to a tile's bytes each in one number.
  u64 all;
  const u64 before = tile_before(
      (u64)__popcll(r.part) | (u64)__popcll(r.ring) << 21 | (u64)__popcll(r.place) << 42, shared,
      all);
  const i64 *start = tile + 3ll * blockIdx.x;
  i64 parts = start[0] + (i64)(before & 0x1fffff),
      rings = start[1] + (i64)(before >> 21 & 0x1fffff);
  const i64 places = start[2] + (i64)(before >> 42);
  for (u64 m = r.mark | r.part | r.ring; m; m &= m - 1) {
    const u64 bit = m & (0 - m);
    if (r.mark & bit) {
      const i64 span = first[blockIdx.x] + r.before++;
      to.span_part[span] = parts;
      if (to.span_ring) to.span_ring[span] = short_offset(rings);
    }
    if (r.part & bit) to.part_ring[parts++] = rings;
    if (r.ring & bit) store_ring(to, rings++, places + __popcll(r.place & (bit - 1)));
  }
  // Positions are written side by side, whichever thread found them. Coordinates have fewer than
  // are LISTED; what has more is no less exact.
  const u32 found = (u32)(all >> 42);
  u32 i = (u32)(before >> 42);
  if (found > LISTED) {
    for (u64 m = r.place; m; m &= m - 1)
      to.place[start[2] + i++] = ring_place_at(x, r.start + first_bit(m));
  } else {
    for (u64 m = r.place; m; m &= m - 1)
      listed[i++] = (u16)(r.start + first_bit(m) - blockIdx.x * TILE);
    __syncthreads();
    for (u32 k = threadIdx.x; k < found; k += BLOCK)
      to.place[start[2] + k] = ring_place_at(x, blockIdx.x * TILE + listed[k]);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) end_rings(result, to);
}
