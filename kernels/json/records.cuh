// records.cuh: the tokens of a run of records, word by word, and what lies before a tile.
//
// A token is a bracket, colon or comma outside strings, or the quote that begins one, with a level:
//   0   outside of all brackets; the brackets of records
//   1   in a record; the brackets of its members' values
//   2   in the value of a record's member; the brackets of what stands in there
// What lies deeper is no token, so that a token's neighbours are those that the grammar speaks of,
// however much lies between them.
//
//   text    { " p " : { " a " : [ [ 1 ] ] } , " q " : " { " }
//   level   0 1     1 1 2     2 2       2 1 1 1     1 1     0
#pragma once
#include "json/structure.cuh"

constexpr int JOIN_RUNS = 512;  // threads of the one block that joins tiles
constexpr int JOIN_EACH = 6;    // tiles that one of them joins at a time; also in records.go
constexpr int WARPS = BLOCK / 32;

// The last token before a place, as far as what follows depends on it.
enum {
  AT_NOTHING,  // no token
  AT_START,    // of the text
  AT_OBJECT,   // { of a record or of a member's value
  AT_ARRAY2,   // [ at level 2
  AT_OBJECT2,  // { at level 2
  AT_COLON,
  AT_COMMA,
  AT_KEY,     // a string that follows no colon
  AT_STRING,  // one that does
  AT_QUOTE,   // either: no token is known before it
  AT_CLOSER,  // at level 1 or 2
  AT_RECORD,  // the closer of one
  AT_NEXT,    // the comma after one
};

// ---- one word ----

struct RecordWord {
  u64 level0, level1, level2;  // all bytes, those of strings too
  u64 inside;                  // strings, without the quotes that end them
  u64 token;                   // colons, commas, brackets, and quotes that begin strings
  u64 begin, end;              // quotes
  u64 open, close, curly;      // brackets at these levels
  u64 colon;                   // at level 1 or 2: members
  u64 comma;
};
// The level of each byte, in two bits:
//
//   level   0 1 2 deeper
//   odd     . 1 1 .
//   from2   . . 1 1
struct RecordLevels {
  u64 odd, from2;
  bool below;  // more is closed in the word than was open
};

// Bounds between levels are crossed at one bracket at a time, openers with the byte after them.
// Bounds 1 and 3 turn one bit of the level on and off, bound 2 the other:
//
//   text    . { . { . [ . ] . } . }
//   odd     . . 1 1 1 1 . 1 1 1 1 .
//   from2   . . . . 1 1 1 1 1 . . .
__device__ __forceinline__ RecordLevels crossed_levels(const WordClasses &x, i32 depth) {
  RecordLevels r = {0, ~0ull, false};
  u64 odds = 0, twos = 0;
  i32 at = depth, lowest = 1;
  for (u64 m = x.open | x.close; m;) {
    const u64 bit = m & (0 - m);
    m ^= bit;
    const i32 opens = (x.open & bit) != 0, bound = at + opens;
    if ((bound | 2) == 3) odds |= bit;
    if (bound == 2) twos |= bit;
    lowest = min(lowest, bound);
    at = bound - 1 + opens;
  }
  r.below = lowest <= 0;
  if (r.below) return r;
  r.odd =
      prefix_xor((odds & x.open) << 1 ^ (odds & x.close)) ^ (depth == 1 || depth == 2 ? ~0ull : 0);
  r.from2 = prefix_xor((twos & x.open) << 1 ^ (twos & x.close)) ^ (depth >= 2 ? ~0ull : 0);
  return r;
}
// depth: before the word, or anything large. A bracket belongs to the level outside of it. Nothing
// is known of what lies after more closers than there were openers.
//
// Depths up to 14 are had for all bytes at once, in four bits and one more than they are: 1 is
// level 0, 2 is 1, 3 is 2, and 0 is where the first closer too many stands.
// Words with deeper ones take a step for each bracket, unless all of the word is deeper than
// records are looked at.
__device__ __forceinline__ RecordLevels record_levels(const WordClasses &x, i32 depth) {
  const i32 opens = __popcll(x.open), closes = __popcll(x.close);
  RecordLevels r = {0, ~0ull, depth < 0};
  if (depth < 0 || depth - closes > 2) return r;
  if (depth + opens > 14) return crossed_levels(x, depth);
  const u64 opened = x.open << 1;  // an opener counts from the byte after it on
  const Levels<4> d = byte_levels<4>(opened & ~x.close, x.close & ~opened, (u32)depth + 1);
  const u64 deep = d.b[2] | d.b[3];
  r.below = (d.b[0] | d.b[1] | deep) != ~0ull;
  if (r.below) return r;
  r.odd = d.b[1] & ~deep, r.from2 = deep | (d.b[1] & d.b[0]);
  return r;
}
__device__ __forceinline__ RecordWord record_word(const WordClasses &x, u64 odd, u64 from2) {
  const u64 here = odd | ~from2;
  RecordWord r = {~odd & ~from2, odd & ~from2, odd & from2, x.inside, 0, 0, 0, 0, 0, 0, 0, 0};
  r.begin = x.quotes & x.inside & here, r.end = x.quotes & ~x.inside & here;
  r.open = x.open & here, r.close = x.close & here, r.curly = x.curly & here;
  r.colon = x.colon & odd, r.comma = x.comma & here;
  r.token = r.begin | r.open | r.close | r.comma | (x.colon & here);
  return r;
}
// The code of the token at bit, the last or only one of a word. after: the code of the token
// before it.
__device__ __forceinline__ u32 token_code(const RecordWord &r, u64 bit, u32 behind) {
  if (r.begin & bit)
    return behind == AT_COLON ? AT_STRING : behind == AT_NOTHING ? AT_QUOTE : AT_KEY;
  if (r.open & bit) return !(r.level2 & bit) ? AT_OBJECT : r.curly & bit ? AT_OBJECT2 : AT_ARRAY2;
  if (r.close & bit) return r.level0 & bit ? AT_RECORD : AT_CLOSER;
  if (r.comma & bit) return r.level0 & bit ? AT_NEXT : AT_COMMA;
  return AT_COLON;
}
// The code of a word's last token; AT_NOTHING if it has none. before: the code of the last token
// before the word.
__device__ __forceinline__ u32 last_code(const RecordWord &r, u32 before) {
  if (!r.token) return AT_NOTHING;
  const u64 bit = 1ull << (63 - __clzll((i64)r.token)), rest = r.token ^ bit;
  if (!(r.begin & bit)) return token_code(r, bit, before);
  // Whether a string follows a colon is all that counts of the one before it.
  if (rest) before = r.colon >> (63 - __clzll((i64)rest)) & 1 ? AT_COLON : AT_START;
  return token_code(r, bit, before);
}

// The bytes of a word before which the last opener at level 1 is a square one. before: is it so for
// the first.
//   value   . . [ . . { . . [ .
//   result  b b b 1 1 1 . . . 1
__device__ __forceinline__ u64 record_arrays(u64 value, u64 array, bool before) {
  u64 r = before ? ~0ull : 0;
  for (u64 m = value; m; m &= m - 1) {
    const u64 bit = m & (0 - m), upto = bit | (bit - 1);
    r = (r & upto) | (array & bit ? ~upto : 0);
  }
  return r;
}
// What a word makes of that for the words after it.
__device__ __forceinline__ u32 record_state(const RecordWord &r) {
  const u64 value = r.open & r.level1;
  if (!value) return STATE_KEPT;
  return r.curly >> (63 - __clzll((i64)value)) & 1 ? STATE_OFF : STATE_ON;
}

// ---- a tile: every thread of the block calls; warps holds an element for each warp, and serves
// one call ----

// What the nearest lane has, of some of those that have anything but 0; none if these are none.
__device__ __forceinline__ u32 nearest_lane(u32 v, u32 lanes, u32 none) {
  const u32 of = __shfl_sync(WARP, v, lanes ? 31 - __clz((int)lanes) : 0);
  return lanes ? of : none;
}
// Which lanes have anything but 0; warps gets what the last of them has.
__device__ __forceinline__ u32 warp_nearest(u32 v, u32 *warps) {
  const u32 has = __ballot_sync(WARP, v != 0), last = nearest_lane(v, has, 0);
  if (lane_index() == 0) warps[threadIdx.x / 32] = last;
  return has;
}
// nearest_before, behind a barrier, of what warp_nearest gave and left in warps.
__device__ __forceinline__ u32 tile_nearest(u32 v, u32 has, u32 start, const u32 *warps) {
  const u32 of_warp = lane_index() < WARPS ? warps[lane_index()] : 0,
            having = __ballot_sync(WARP, of_warp != 0);
  start = nearest_lane(of_warp, having & ((1u << threadIdx.x / 32) - 1), start);
  return nearest_lane(v, has & ((1u << lane_index()) - 1), start);
}
// What the nearest thread before this one has that has anything but 0; start if none has.
__device__ __forceinline__ u32 nearest_before(u32 v, u32 start, u32 *warps) {
  const u32 has = warp_nearest(v, warps);
  __syncthreads();
  return tile_nearest(v, has, start, warps);
}

// ---- runs of tiles ----

// What a tile holds, in 16 bytes, so that the lanes of a warp read whole lines of them. Places are
// bytes of the tile, -1 if there is none.
struct TileRun {
  u16 members, records;  // as in RecordRun
  i16 outer, at, end;
  u16 code, array, pad;
};

// What a run of tiles holds, or what lies before a tile. T: i32 does for the tiles that one block
// joins at a time, counted from the first of them on.
template <class T>
struct RunOf {
  T members, records;  // colons, and openers of records
  T outer;             // the last member at level 1, as a number among them; -1 if there is none
  T at;                // the last token
  T end;               // the last quote that ends a string; -1 if there is none
  u32 code;            // of the last token; AT_NOTHING without one
  u32 array;           // STATE_*: is the last opener at level 1 a square one
};
typedef RunOf<i64> RecordRun;
typedef RunOf<i32> ShortRun;

template <class T>
__device__ __forceinline__ RunOf<T> no_run() {
  RunOf<T> r = {0, 0, -1, -1, -1, AT_NOTHING, STATE_KEPT};
  return r;
}
// First a, then b.
template <class T>
__device__ __forceinline__ RunOf<T> join(const RunOf<T> &a, const RunOf<T> &b) {
  RunOf<T> r = b;
  if (b.code == AT_NOTHING) r.code = a.code, r.at = a.at;
  else if (b.code == AT_QUOTE && a.code != AT_NOTHING)
    r.code = a.code == AT_COLON ? AT_STRING : AT_KEY;
  r.members += a.members, r.records += a.records;
  r.outer = b.outer < 0 ? a.outer : a.members + b.outer;
  if (b.end < 0) r.end = a.end;
  if (b.array == STATE_KEPT) r.array = a.array;
  return r;
}
// A run whose places are counted from a byte on.
__device__ __forceinline__ RecordRun long_run(const ShortRun &x, i64 from) {
  RecordRun r = {x.members, x.records, x.outer, x.at < 0 ? -1 : from + x.at,
      x.end < 0 ? -1 : from + x.end, x.code, x.array};
  return r;
}
// The run of one tile, whose words as memory has them are v. from: of its places.
__device__ __forceinline__ ShortRun tile_run(uint4 v, i32 from) {
  const i32 outer = (i16)v.y, at = (i16)(v.y >> 16), end = (i16)v.z;
  ShortRun r = {(i32)(v.x & 0xffff), (i32)(v.x >> 16), outer, at < 0 ? -1 : from + at,
      end < 0 ? -1 : from + end, v.z >> 16, v.w & 0xffff};
  return r;
}
// What is in each tile and what lies before it, in whole rounds of the block that joins them: at
// first the first tile of each of its threads, then their second ones, so that
// what its threads read or store at a time lies side by side.
struct RunPlace {
  i64 at, next;  // in the first column, and from one to the next
};
// Of tile k of a thread of that block, in the round of the tiles from one on. There are fewer
// threads only if there is one round.
__device__ __forceinline__ RunPlace thread_place(i64 tiles, i64 from, i64 thread, i64 k) {
  constexpr i64 ROUND = JOIN_RUNS * JOIN_EACH;
  RunPlace r = {from + k * JOIN_RUNS + thread, (tiles + ROUND - 1) / ROUND * ROUND};
  return r;
}
__device__ __forceinline__ RunPlace run_place(i64 tiles, i64 tile) {
  constexpr i64 ROUND = JOIN_RUNS * JOIN_EACH;
  return thread_place(tiles, tile / ROUND * ROUND, tile % ROUND / JOIN_EACH, tile % JOIN_EACH);
}
__device__ __forceinline__ void store_run(
    i64 *__restrict__ before, RunPlace p, const RecordRun &r) {
  before += p.at;
  before[0] = r.members, before[p.next] = r.records, before[2 * p.next] = r.outer,
  before[3 * p.next] = r.at, before[4 * p.next] = r.end;
  before[5 * p.next] = (i64)r.code << 2 | r.array;
}
__device__ __forceinline__ RecordRun load_run(const i64 *__restrict__ before, RunPlace p) {
  before += p.at;
  const u32 last = (u32)before[5 * p.next];
  RecordRun r = {before[0], before[p.next], before[2 * p.next], before[3 * p.next],
      before[4 * p.next], last >> 2, last & 3};
  return r;
}
__device__ __forceinline__ ShortRun run_from(const ShortRun &x, int lane) {
  ShortRun r;
  r.members = __shfl_sync(WARP, x.members, lane), r.records = __shfl_sync(WARP, x.records, lane),
  r.outer = __shfl_sync(WARP, x.outer, lane);
  r.at = __shfl_sync(WARP, x.at, lane), r.end = __shfl_sync(WARP, x.end, lane);
  r.code = __shfl_sync(WARP, x.code, lane), r.array = __shfl_sync(WARP, x.array, lane);
  return r;
}
// The joined runs of the lanes up to this one, of the first n lanes.
__device__ __forceinline__ ShortRun warp_runs(ShortRun x, int lanes) {
  for (int d = 1; d < lanes; d <<= 1) {
    const ShortRun before = run_from(x, max(lane_index() - d, 0));
    if (lane_index() >= d) x = join(before, x);
  }
  return x;
}
// The runs of the threads before this one, joined; all gets those of the whole block. shared holds
// 33 elements. All threads of the block call.
__device__ __forceinline__ ShortRun block_runs(
    const ShortRun &mine, ShortRun *shared, ShortRun &all) {
  const int lane = lane_index(), warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  const ShortRun x = warp_runs(mine, 32);
  if (lane == 31) shared[warp] = x;
  __syncthreads();
  if (warp == 0) {
    const ShortRun y = warp_runs(lane < warps ? shared[lane] : no_run<i32>(), warps);
    const ShortRun before = run_from(y, max(lane - 1, 0));
    __syncwarp();
    shared[lane] = lane ? before : no_run<i32>();
    if (lane == warps - 1) shared[32] = y;
  }
  __syncthreads();
  const ShortRun before = run_from(x, max(lane - 1, 0)), earlier = shared[warp];
  all = shared[32];
  __syncthreads();
  return join(earlier, lane ? before : no_run<i32>());
}
