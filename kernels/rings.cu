// rings.cu: the parts, rings and positions of geometries, found by the level of their brackets.
//
// A thread takes a word of text, not a geometry: each bracket finds the span it lies in by the number of spans that begin before it. What begins at it is
// counted, and the counts before it say where it is written. Nothing walks a geometry.
//
//   text       " : [ [ [ 1 , 2 ] , [ 3 , 4 ] ] ] ,
//   span           a a a a a a a a a a a a a a a           one, of kind Polygon
//   level          0 1 2           2
//   begins         P R p           p
//   offsets    span to part 0 1, part to ring 0 1, ring to position 0 2, positions the bytes at p
//
// buffer      elements       written by     what
// span        spans          spans          see RingSpan
// tile        3 * tiles + 1  count          parts of each of n/16384 + 1 tiles, then their rings, then their positions; scanned before totals and emit
// result      1              spans, count, totals
// span_part   spans + 1      emit           parts before each span, and all
// part_ring   parts + 1      emit           rings before each part, and all
// ring_place  rings + 1      emit           positions before each ring, and all
// place       positions      emit           the byte of the bracket that begins a position (GeoJSON), or the first byte of its number (WKT)
#include "depth.cuh"
#include "rings.cuh"
#include "search.cuh"

struct RingSpan {
  i64 end;
  i32 depth;  // before the span
  u32 kind;
};
// How coordinates are wrong; also in rings.go.
enum { RINGS_SOUND, RINGS_DEEP, RINGS_STRAY, RINGS_UNDECIDED };
struct RingResult {
  u64 first;     // byte offset * 4 + RINGS_* of the first fault; all ones if there is none
  u64 disorder;  // the first span that is out of order; all ones if there is none
  i64 parts, rings, places;
};

// One thread, one span.
KERNEL __launch_bounds__(BLOCK) rings_spans(const u64 *__restrict__ open, const u64 *__restrict__ close, const i32 *__restrict__ base, i64 n, const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u8 *__restrict__ kinds, i64 count, RingSpan *__restrict__ span, RingResult *__restrict__ result) {
  const i64 i = thread_index();
  if (i >= count) return;
  const i64 start = starts[i], end = ends[i];
  const bool inside = 0 <= start && start <= end && end <= n;
  if (!inside || (i + 1 < count && (end > starts[i + 1] || start == starts[i + 1]))) atomicMin(&result->disorder, (u64)i);
  i64 depth = 0;
  if (inside && start < n) depth = base[start / WORD] + (i64)depth_change(open[start / WORD], close[start / WORD], low_bits(start % WORD));
  const RingSpan s = {inside ? end : 0, depth_saturated(depth), kinds[i]};
  span[i] = s;
}

// What a kernel is given.
struct RingText {
  const u8 *__restrict__ text;
  const u64 *__restrict__ open, *__restrict__ close, *__restrict__ commas;  // commas: null where positions have brackets of their own
  const i32 *__restrict__ base;
  i64 n;
  const i64 *__restrict__ starts;
  const RingSpan *__restrict__ span;
  i64 count;
};
// What begins in a word, a bit for each byte.
struct RingWord {
  u64 part, ring, place;
  u64 mark;    // the bytes at which spans begin
  i64 before;  // spans that begin before the word
};

// The spans that begin in the block's words. All threads of the block call.
__device__ __forceinline__ void ring_owners(const RingText &x, RingWord &r) {
  __shared__ u64 mark[BLOCK];
  __shared__ i64 bound[2];
  __shared__ u32 shared[33];
  const i64 tile = blockIdx.x * TILE;
  mark[threadIdx.x] = 0;
  if (threadIdx.x < 2) bound[threadIdx.x] = lower_bound(x.starts, 0, x.count, tile + threadIdx.x * TILE);
  __syncthreads();
  for (i64 i = bound[0] + threadIdx.x; i < bound[1]; i += BLOCK) {
    const i64 at = x.starts[i] - tile;
    if (at >= 0 && at < TILE) atomicOr(&mark[at / WORD], 1ull << at % WORD);  // not so only where the spans are out of order
  }
  __syncthreads();
  u32 all;
  r.mark = mark[threadIdx.x];
  r.before = bound[0] + block_exclusive((u32)__popcll(r.mark), shared, all);
}

// What begins at byte at, a bracket or comma at a level of a geometry.
__device__ __forceinline__ u32 ring_token(const RingText &x, u32 kind, i64 level, i64 at, bool comma) {
  u32 token = x.commas ? 0 : ring_bracket(kind, level);
  if (!x.commas && !(token & RING_OUTER)) return token;
  const i64 behind = past_blanks(x.text, x.n, at + 1);
  const u32 next = behind < x.n ? x.text[behind] : '!';  // the text is cut off
  if (x.commas) token = ring_tag(kind, level, comma, next == '(');
  if (next <= ' ' && (token & RING_OUTER || kind == KIND_MULTIPOINT)) return RING_UNDECIDED;
  const bool nested = x.commas ? next == '(' : next == '[' || next == ']';
  return token & RING_OUTER && !nested ? RING_STRAY : token;
}
// One word's parts, rings and positions. first: where the first fault is noted, or null.
__device__ __forceinline__ void ring_word(const RingText &x, RingWord &r, u64 *first) {
  const i64 word = thread_index();
  r.part = r.ring = r.place = 0;
  if (word * WORD >= x.n) return;
  const u64 opens = x.open[word], closes = x.close[word], commas = x.commas ? x.commas[word] : 0;
  const i64 base = x.base[word];
  i64 owner = -1;
  RingSpan s = {0, 0, 0};
  for (u64 m = opens | commas; m; m &= m - 1) {
    const u64 bit = m & (0 - m), upto = bit | (bit - 1);
    const i64 at = word * WORD + first_bit(m), mine = r.before + __popcll(r.mark & upto) - 1;
    if (mine < 0) continue;
    if (mine != owner) s = x.span[mine], owner = mine;
    if (at >= s.end || s.kind == 0 || s.kind >= RING_KINDS) continue;
    const u32 token = ring_token(x, s.kind, base + depth_change(opens, closes, upto) - s.depth - 1, at, (commas & bit) != 0);
    if (token & RING_PART) r.part |= bit;
    if (token & RING_RING) r.ring |= bit;
    if (token & RING_POSITION) r.place |= bit;
    if (!first || token < RING_DEEP) continue;
    const u64 key = (u64)at << 2 | (token & RING_DEEP ? RINGS_DEEP : token & RING_STRAY ? RINGS_STRAY : RINGS_UNDECIDED);
    if (key < *first) atomicMin(first, key);
  }
}

// Three counts of up to a tile's bytes each in one word.
__device__ __forceinline__ u64 ring_counts(const RingWord &r) { return (u64)__popcll(r.part) | (u64)__popcll(r.ring) << 21 | (u64)__popcll(r.place) << 42; }
__device__ __forceinline__ i64 ring_count(u64 counts, int which) { return (i64)(counts >> 21 * which & 0x1fffff); }

KERNEL __launch_bounds__(BLOCK, 4) rings_count(const u8 *__restrict__ text, const u64 *__restrict__ open, const u64 *__restrict__ close, const u64 *__restrict__ commas, const i32 *__restrict__ base, i64 n, const i64 *__restrict__ starts, const RingSpan *__restrict__ span, i64 count, i64 *__restrict__ tile, RingResult *__restrict__ result) {
  __shared__ u64 shared[33];
  const RingText x = {text, open, close, commas, base, n, starts, span, count};
  RingWord r;
  ring_owners(x, r);
  ring_word(x, r, &result->first);
  const u64 sum = block_sum(ring_counts(r), shared);
  if (threadIdx.x < 3) tile[threadIdx.x * (i64)gridDim.x + blockIdx.x] = ring_count(sum, threadIdx.x);
}

KERNEL rings_totals(const i64 *__restrict__ tile, i64 tiles, RingResult *__restrict__ result) {
  result->parts = tile[tiles], result->rings = tile[2 * tiles] - tile[tiles], result->places = tile[3 * tiles] - tile[2 * tiles];
}

KERNEL __launch_bounds__(BLOCK, 4) rings_emit(const u8 *__restrict__ text, const u64 *__restrict__ open, const u64 *__restrict__ close, const u64 *__restrict__ commas, const i32 *__restrict__ base, i64 n, const i64 *__restrict__ starts, const RingSpan *__restrict__ span, i64 count, const i64 *__restrict__ tile, const RingResult *__restrict__ result, i64 *__restrict__ span_part, i64 *__restrict__ part_ring, i64 *__restrict__ ring_place, i64 *__restrict__ place) {
  __shared__ u64 shared[33];
  const RingText x = {text, open, close, commas, base, n, starts, span, count};
  RingWord r;
  ring_owners(x, r);
  ring_word(x, r, nullptr);
  u64 all;
  const u64 before = block_exclusive(ring_counts(r), shared, all);
  const i64 *start = tile + blockIdx.x, tiles = gridDim.x;
  const i64 parts = start[0] + ring_count(before, 0);
  const i64 rings = start[tiles] - tile[tiles] + ring_count(before, 1);
  const i64 places = start[2 * tiles] - tile[2 * tiles] + ring_count(before, 2);
  for (u64 m = r.mark; m; m &= m - 1) span_part[r.before++] = parts + __popcll(r.part & ((m & (0 - m)) - 1));
  for (u64 m = r.part | r.ring | r.place; m; m &= m - 1) {
    const u64 bit = m & (0 - m), below = bit - 1;
    const i64 at = thread_index() * WORD + first_bit(m);
    const i64 ring = rings + __popcll(r.ring & below), position = places + __popcll(r.place & below);
    if (r.part & bit) part_ring[parts + __popcll(r.part & below)] = ring;
    if (r.ring & bit) ring_place[ring] = position;
    if (r.place & bit) place[position] = commas ? past_blanks(text, n, at + 1) : at;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) span_part[count] = result->parts, part_ring[result->parts] = result->rings, ring_place[result->rings] = result->places;
}
