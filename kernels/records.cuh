// records.cuh: the tokens of a run of records, word by word, and what lies before a tile.
//
// A token is a bracket, colon or comma outside strings, or a quote that bounds one, with a level:
//   0   outside of all brackets; the brackets of records
//   1   in a record; the brackets of its members' values
//   2   in the value of a record's member; the brackets of what stands in there
// What lies deeper is no token, so that a token's neighbours are those that the grammar speaks of, however much lies between them.
//
//   text    { " p " : { " a " : [ [ 1 ] ] } , " q " : " { " }
//   level   0 1   1 1 1 2   2 2 2       2 1 1 1   1 1 1   1 0
#pragma once
#include "structure.cuh"

constexpr u32 TOKEN_END = 3;       // in the place of a level: a quote that ends a string, or the closer of an array at level 1
constexpr int JOIN_RUNS = 512;      // threads of the one block that joins tiles
constexpr u64 TOKEN_NONE = ~0ull;  // else byte offset * 4 + level

// One word's tokens.
struct RecordWord {
  u64 token, level1, level2;
  u64 end;          // quotes that end a string
  u64 close;        // closers at any level
  u64 colon;        // of members: at level 1 or 2
  u64 value;        // openers at level 1
  u64 array;        // of these the square ones
  u64 record;       // openers at level 0
};

// depth: before the word. Goes over the word's brackets unless all of it lies deep. Where more is closed than was opened there are no tokens: a gap that is not blank.
__device__ __forceinline__ RecordWord record_word(const WordClasses &x, i64 depth) {
  u64 level0 = 0, level1 = 0, level2 = 0, done = 0;
  RecordWord r = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  if (depth - __popcll(x.close) > 2) return r;
  for (u64 m = x.open | x.close;; m &= m - 1) {
    const u64 bit = m & (0 - m), below = m ? bit - 1 : ~0ull;
    const u64 between = below & ~done;  // from the bracket before to this one
    const bool opens = x.open & bit;
    const i64 own = depth - !opens;
    level0 |= (depth == 0 ? between : 0) | (own == 0 ? bit : 0);
    level1 |= (depth == 1 ? between : 0) | (own == 1 ? bit : 0);
    level2 |= (depth == 2 ? between : 0) | (own == 2 ? bit : 0);
    if (!m) break;
    depth += opens ? 1 : -1;
    done = below | bit;
  }
  r.token = (x.open | x.close | x.colon | x.comma | x.quotes) & (level0 | level1 | level2);
  r.level1 = level1, r.level2 = level2;
  r.end = x.quotes & ~x.inside;
  r.close = x.close;
  r.colon = x.colon & (level1 | level2);
  r.value = x.open & level1, r.array = r.value & ~x.curly;
  r.record = x.open & level0;
  return r;
}
// The bytes of a word before which the last opener at level 1 is a square one. before: is it so for the first.
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
// What a word makes of that for the words behind it.
__device__ __forceinline__ u32 record_state(const RecordWord &r) {
  if (!r.value) return STATE_KEPT;
  return r.array >> (63 - __clzll((i64)r.value)) & 1 ? STATE_ON : STATE_OFF;
}
// A token as it is carried: its offset and its level.
__device__ __forceinline__ u64 record_token(const RecordWord &r, i64 word, int at) {
  const u64 bit = 1ull << at;
  return (u64)(word * WORD + at) << 2 | (r.end & bit ? TOKEN_END : r.level1 & bit ? 1 : r.level2 & bit ? 2 : 0);
}

// ---- runs of tiles ----

// What a run of tiles holds, or what lies before a tile.
struct RecordRun {
  u64 last[3];            // the last tokens, the very last one behind; TOKEN_NONE before those there are
  i64 members, records;   // colons and openers of them
  i64 outer;              // the last member at level 1, as a number among them; -1 if there is none
  u32 array, unused;      // STATE_*: is the last opener at level 1 a square one
};

__device__ __forceinline__ RecordRun no_run() {
  RecordRun r = {{TOKEN_NONE, TOKEN_NONE, TOKEN_NONE}, 0, 0, -1, STATE_KEPT, 0};
  return r;
}
// First a, then b.
__device__ __forceinline__ RecordRun join(const RecordRun &a, const RecordRun &b) {
  RecordRun r = b;
  if (b.last[2] == TOKEN_NONE) r.last[0] = a.last[0], r.last[1] = a.last[1], r.last[2] = a.last[2];
  else if (b.last[1] == TOKEN_NONE) r.last[0] = a.last[1], r.last[1] = a.last[2];
  else if (b.last[0] == TOKEN_NONE) r.last[0] = a.last[2];
  r.members += a.members, r.records += a.records;
  r.outer = b.outer < 0 ? a.outer : a.members + b.outer;
  if (b.array == STATE_KEPT) r.array = a.array;
  return r;
}
__device__ __forceinline__ RecordRun run_from(const RecordRun &x, int lane) {
  RecordRun r;
#pragma unroll
  for (int i = 0; i < 3; i++) r.last[i] = __shfl_sync(WARP, x.last[i], lane);
  r.members = __shfl_sync(WARP, x.members, lane), r.records = __shfl_sync(WARP, x.records, lane), r.outer = __shfl_sync(WARP, x.outer, lane);
  r.array = __shfl_sync(WARP, x.array, lane), r.unused = 0;
  return r;
}
// The runs of the lanes up to this one, joined.
__device__ __forceinline__ RecordRun warp_runs(RecordRun x) {
  for (int d = 1; d < 32; d <<= 1) {
    const RecordRun before = run_from(x, max(lane_index() - d, 0));
    if (lane_index() >= d) x = join(before, x);
  }
  return x;
}
// The runs of the threads before this one, joined; all gets those of the whole block. shared holds 33 elements. All threads of the block call.
__device__ __forceinline__ RecordRun block_runs(const RecordRun &mine, RecordRun *shared, RecordRun &all) {
  const int lane = lane_index(), warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  const RecordRun x = warp_runs(mine);
  if (lane == 31) shared[warp] = x;
  __syncthreads();
  if (warp == 0) {
    const RecordRun y = warp_runs(lane < warps ? shared[lane] : no_run());
    const RecordRun before = run_from(y, max(lane - 1, 0));
    __syncwarp();
    shared[lane] = lane ? before : no_run();
    if (lane == 31) shared[32] = y;
  }
  __syncthreads();
  const RecordRun before = run_from(x, max(lane - 1, 0));
  all = shared[32];
  return join(shared[warp], lane ? before : no_run());
}
