// extract.cu: starts and ends of numbers, in pairs.
//
// buffer        elements   written by            what
// start, end    n/64                             first and last bytes of numbers, as bounds.cu found them
// region        n/64                             the bytes that count; may be null
// tile          n/16384    tiles, scan           see below
// result        1          scan                  pairs, and starts and ends that do not pair
// starts, ends  room       extract_pairs         half-open
//
// An end is kept if a start lies before it, or at the same byte, with no other end and no byte
// outside the region between them. It pairs with the nearest
// such start; what is left over is dropped:
//
//   text    1 2 a b c , 5 , t r u e ,
//   start   1 . . . . . 1 . . . . . .
//   end     . . . . . . 1 . . . . 1 .
//   pairs               x
//
// A start that waits for its end travels up through the bits of a word as the carry of a sum does,
// through words as the state of the nearest word that has
// one, and through tiles likewise. So a pair may be any number of bytes apart and costs no more for
// that.
#include "compact.cuh"

// the start that waits after some text: as before it, or none; else where it lies
constexpr i64 KEPT = -2, NONE = -1;

struct PairTile {
  i64 pairs;      // if no start waits before the tile; joined: in the tiles before
  i64 waits;      // after the tile; joined: before it
  u32 events;     // starts and ends
  u32 first_end;  // 1 if a start that waits before the tile finds its end in it
};
struct Extraction {
  i64 numbers, dropped;
};

// A word's events.
struct Events {
  u64 start, end, through;  // through: the bytes over which a start goes on waiting
};
__device__ __forceinline__ Events load_events(const u64 *__restrict__ start,
    const u64 *__restrict__ end, const u64 *__restrict__ region, i64 words, i64 word) {
  Events v = {0, 0, ~0ull};
  if (word >= words) return v;
  u64 counts = region ? region[word] : ~0ull;
  v.start = start[word] & counts, v.end = end[word] & counts, v.through = counts & ~v.end;
  return v;
}
// The ends that pair; waits: does a start wait before the word.
//
//   start    . 1 . . 1 . .     read from the right, as the bits of a number
//   end      1 . . 1 . . 1
//   through  . 1 1 . 1 1 .
//   sum      1 . . 1 . . w     where nothing goes through, the carry that comes there
__device__ __forceinline__ u64 paired_ends(const Events &v, bool waits) {
  return v.end & (v.start | (v.through + (v.start & v.through) + waits));
}
// What waits after the word: KEPT, NONE, or the place in the word of a start.
__device__ __forceinline__ int waits_behind(const Events &v) {
  if (v.through == ~0ull && !v.start) return (int)KEPT;
  u64 starts = v.start & v.through, sum = v.through + starts;
  return sum < v.through ? 63 - __clzll((i64)starts) : (int)NONE;
}
// The nearest thread before this one with set, or -1; last gets the last one of the block. shared
// holds 33 elements and may be used again afterwards.
__device__ __forceinline__ int nearest_before(bool set, u32 *shared, int &last) {
  int warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  u32 setters = __ballot_sync(WARP, set), before = setters & ((1u << lane_index()) - 1);
  if (lane_index() == 0) shared[warp] = setters;
  __syncthreads();
  int nearest = -1;
  last = -1;
  for (int w = 0; w < warps; w++) {
    if (w == warp) nearest = last;
    if (shared[w]) last = w * 32 + 31 - __clz((int)shared[w]);
  }
  __syncthreads();
  return before ? warp * 32 + 31 - __clz((int)before) : nearest;
}
// What waits before this thread's word: the place in the tile of a start, NONE, or KEPT if nothing
// in the tile says. place holds an element a thread.
__device__ __forceinline__ int waits_before(const Events &v, int *place, u32 *shared, int &behind) {
  int mine = waits_behind(v), last;
  place[threadIdx.x] = mine < 0 ? mine : (int)(threadIdx.x * WORD) + mine;
  int nearest = nearest_before(mine != (int)KEPT, shared, last);
  behind = last < 0 ? (int)KEPT : place[last];
  return nearest < 0 ? (int)KEPT : place[nearest];
}

KERNEL __launch_bounds__(BLOCK) extract_tiles(const u64 *__restrict__ start,
    const u64 *__restrict__ end, const u64 *__restrict__ region, i64 words,
    PairTile *__restrict__ tile) {
  __shared__ u32 shared[33];
  __shared__ int place[BLOCK];
  const Events v = load_events(start, end, region, words, thread_index());
  int behind, before = waits_before(v, place, shared, behind);
  u64 pairs = paired_ends(v, before >= 0);
  // The thread that would see a start from before the tile. Where the words before it say nothing,
  // no other thread can.
  bool first = before == (int)KEPT && paired_ends(v, true) != pairs;
  u32 count = block_sum((u32)__popcll(pairs), shared),
      events = block_sum((u32)(__popcll(v.start) + __popcll(v.end)), shared);
  u32 first_end = __syncthreads_or(first) ? 1 : 0;
  if (threadIdx.x == 0) {
    PairTile t = {count, behind < 0 ? behind : blockIdx.x * TILE + behind, events, first_end};
    tile[blockIdx.x] = t;
  }
}

KERNEL __launch_bounds__(SCAN) extract_scan(
    PairTile *__restrict__ tile, i64 tiles, Extraction *__restrict__ result) {
  __shared__ u32 shared[33];
  __shared__ i64 shared_sum[33], waits[SCAN];
  Share mine = block_share(tiles);
  i64 behind = KEPT, pairs = 0, events = 0;
  for (i64 i = mine.from; i < mine.to; i++)
    if (tile[i].waits != KEPT) behind = tile[i].waits;
  waits[threadIdx.x] = behind;
  int last, nearest = nearest_before(behind != KEPT, shared, last);
  i64 before = nearest < 0 ? NONE : waits[nearest];
  for (i64 i = mine.from; i < mine.to; i++) {
    i64 after = tile[i].waits;
    pairs += tile[i].pairs += before >= 0 && tile[i].first_end;
    events += tile[i].events;
    tile[i].waits = before;
    if (after != KEPT) before = after;
  }
  i64 all, at = block_exclusive(pairs, shared_sum, all), all_events = block_sum(events, shared_sum);
  for (i64 i = mine.from; i < mine.to; i++) {
    i64 here = tile[i].pairs;
    tile[i].pairs = at;
    at += here;
  }
  if (threadIdx.x == 0 && result) result->numbers = all, result->dropped = all_events - 2 * all;
}

constexpr u16 BEFORE_TILE = 0xffff;  // for a place in the tile: the start lies before it

KERNEL __launch_bounds__(BLOCK) extract_pairs(const u64 *__restrict__ start,
    const u64 *__restrict__ end, const u64 *__restrict__ region, i64 words,
    const PairTile *__restrict__ tile, i64 *__restrict__ starts, i64 *__restrict__ ends, i64 room) {
  __shared__ u32 shared[33];
  __shared__ int place[BLOCK];
  __shared__ u16 list[TILE];
  const Events v = load_events(start, end, region, words, thread_index());
  const PairTile t = tile[blockIdx.x];
  const i64 base = blockIdx.x * TILE;
  int behind, before = waits_before(v, place, shared, behind);
  u64 pairs = paired_ends(v, before == (int)KEPT ? t.waits >= 0 : before >= 0);
  u32 count = tile_places(pairs, list, shared);
  for (u32 i = threadIdx.x; i < count; i += BLOCK)
    if (t.pairs + i < room) ends[t.pairs + i] = base + list[i] + 1;
  __syncthreads();
  u32 all, at = block_exclusive((u32)__popcll(pairs), shared, all);
  for (u64 left = pairs; left; left &= left - 1) {
    u64 own = v.start & (left ^ (left - 1));  // up to this end
    // Starts before the end before this one are not waiting any more, but the nearest one never is
    // one of them.
    list[at++] = own          ? (u16)(threadIdx.x * WORD + 63 - __clzll((i64)own))
                 : before < 0 ? BEFORE_TILE
                              : (u16)before;
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < count; i += BLOCK)
    if (t.pairs + i < room) starts[t.pairs + i] = list[i] == BEFORE_TILE ? t.waits : base + list[i];
}
