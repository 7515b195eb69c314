// quote.cuh: which bytes lie inside a string, found in one pass over the text and one over the tiles.
//
// Whether a quote counts depends on the backslashes before it, perhaps in the tile before, and whether a byte lies inside a string depends on all
// quotes before it. So a tile is read as if no escape and no string reached into it, and says what would change if one did:
//   escaped   an escape that reaches in falls on the first byte that is no backslash, behind a run of them. If that byte is a quote it
//             counts where it did not, or the other way round; nothing else changes, and no bracket lies before it
//   inside    a string that reaches in turns inside and outside over in the whole tile
// A tile so is a function of four states, and functions join in any grouping: one block joins all of them. No block waits for another, and a run of backslashes over many tiles costs no more than other text.
#pragma once
#include "vf.cuh"

struct QuoteTile {
  u32 quotes;     // parity of the quotes that count; settled: does a string reach into the tile
  u32 first;      // 1 + place in the tile of the first byte that is no backslash, if that is a quote, or 0; settled: only if an escape reaches it
  u32 tail;       // STATE_*: is the byte behind the tile escaped; STATE_KEPT: as the byte before was, the tile is all backslashes
  u32 odd;        // the text ends here, in a word that is an odd number of backslashes and nothing else; settled: does an escape reach into the tile
  i32 change[2];  // of the depth, if the tile starts outside a string and if it starts inside
  i64 depth;      // settled: at the tile's start
};
struct QuoteCarry {
  u32 inside, escaped;  // at the end of the text before
};

// What a run of tiles makes of the state before it. A state is escaped + 2 * inside.
struct QuoteStep {
  u32 to;        // the state behind the run, two bits for each state before it
  i32 depth[4];  // how the depth changes in it
};

// The bytes of a word that a backslash before them escapes. carry: is the first byte escaped; gets whether the byte behind the word is.
//   text     \ \ " \ " x
//   bs       1 1 . 1 . .
//   escaped  . 1 . . 1 .
__device__ __forceinline__ u64 escaped_bytes(u64 bs, u32 &carry) {
  const u64 even = 0x5555555555555555ull;
  u64 first = bs & ~(u64)carry;                    // an escaped backslash starts no run
  u64 follows = first << 1 | carry;
  u64 odd_starts = first & ~even & ~follows;
  u64 sum = odd_starts + first;                    // carries run to the ends of runs that start at odd places
  u64 escaped = (even ^ sum << 1) & follows;
  carry = sum < odd_starts;
  return escaped;
}

// What a block learns of its tile's escapes.
struct TileEscapes {
  u32 first, tail, odd;  // as in QuoteTile
};
// One word's quotes that count, in a block that reads one tile, escapes that reach into the tile aside. bs and quotes: its backslashes and quotes,
// valid: its bytes that belong to the text. escaped gets those of them that are. All threads of the block call; tile is the same in all of them.
__device__ __forceinline__ u64 counting_quotes(u64 bs, u64 quotes, u64 valid, u32 *shared, TileEscapes &tile, u64 &escaped) {
  tile.tail = STATE_OFF, tile.odd = 0, escaped = 0;
  if (!__syncthreads_or(bs != 0)) {
    if (threadIdx.x == 0) shared[0] = quotes & 1;
    __syncthreads();
    tile.first = shared[0];
    __syncthreads();
    return quotes;
  }
  u32 carry = 0, odd = 0, set;
  escaped = escaped_bytes(bs, carry);
  if (bs == valid) {
    set = STATE_KEPT, odd = __popcll(valid) & 1;  // 64 backslashes escape one another, and so do none
  } else {
    set = valid == ~0ull ? carry : escaped >> __popcll(valid) & 1;
  }
  u32 start = block_state(set, STATE_KEPT, shared, tile.tail);
  if (threadIdx.x == 0) shared[0] = 0;
  tile.odd = __syncthreads_or(odd);
  if (start == STATE_KEPT && set != STATE_KEPT) {  // one thread at most
    int at = first_bit(~bs);
    if (quotes >> at & 1) shared[0] = 1 + threadIdx.x * 64 + at;
  }
  __syncthreads();
  tile.first = shared[0];
  __syncthreads();
  carry = start == STATE_ON;
  escaped = escaped_bytes(bs, carry);
  return quotes & ~escaped;
}

// ---- joining tiles ----

// The state that a step makes of one.
__device__ __forceinline__ u32 next_state(u32 to, u32 state) { return to >> 2 * state & 3; }
__device__ __forceinline__ QuoteStep quote_step(const QuoteTile &t) {
  QuoteStep r = {0, {}};
#pragma unroll
  for (u32 state = 0; state < 4; state++) {
    const u32 escaped = state & 1, inside = state >> 1, flip = escaped && t.first;
    r.to |= (((t.tail == STATE_KEPT ? escaped : t.tail) ^ t.odd) | (inside ^ t.quotes ^ flip) << 1) << 2 * state;
    r.depth[state] = inside ^ flip ? t.change[1] : t.change[0];  // an index would put the tile into memory
  }
  return r;
}
__device__ __forceinline__ QuoteStep no_step() {
  QuoteStep r = {0xe4, {0, 0, 0, 0}};  // 3 2 1 0
  return r;
}
// Picks one of four without an array that is indexed at run time, which would lie in memory.
template <class T>
__device__ __forceinline__ T pick(const T v[4], u32 i) {
  return i & 2 ? (i & 1 ? v[3] : v[2]) : (i & 1 ? v[1] : v[0]);
}
// First a, then b.
__device__ __forceinline__ QuoteStep join(const QuoteStep &a, const QuoteStep &b) {
  QuoteStep r = {0, {}};
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    const u32 between = next_state(a.to, i);
    r.to |= next_state(b.to, between) << 2 * i, r.depth[i] = a.depth[i] + pick(b.depth, between);
  }
  return r;
}
__device__ __forceinline__ QuoteStep step_from(const QuoteStep &x, int lane) {
  QuoteStep r;
  r.to = __shfl_sync(WARP, x.to, lane);
#pragma unroll
  for (int i = 0; i < 4; i++) r.depth[i] = __shfl_sync(WARP, x.depth[i], lane);
  return r;
}
// The steps of the lanes up to this one, joined.
__device__ __forceinline__ QuoteStep warp_steps(QuoteStep x) {
  for (int d = 1; d < 32; d <<= 1) {
    const QuoteStep before = step_from(x, max(lane_index() - d, 0));
    if (lane_index() >= d) x = join(before, x);
  }
  return x;
}
// The steps of the threads before this one, joined; all gets those of the whole block. shared holds 33 elements.
__device__ __forceinline__ QuoteStep block_steps(const QuoteStep &mine, QuoteStep *shared, QuoteStep &all) {
  const int lane = lane_index(), warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  const QuoteStep x = warp_steps(mine);
  if (lane == 31) shared[warp] = x;
  __syncthreads();
  if (warp == 0) {
    const QuoteStep y = warp_steps(lane < warps ? shared[lane] : no_step());
    const QuoteStep before = step_from(y, max(lane - 1, 0));
    if (lane < warps) shared[lane] = lane ? before : no_step();
    if (lane == 31) shared[32] = y;
  }
  __syncthreads();
  const QuoteStep before = step_from(x, max(lane - 1, 0)), earlier = shared[warp];
  all = shared[32];
  __syncthreads();
  return join(earlier, lane ? before : no_step());
}

// Tells a tile what lies before it: a state and the depth. True if check_strings has to look at it; sound may be null.
__device__ __forceinline__ bool settle_tile(QuoteTile &t, u32 state, i64 depth, const u8 *__restrict__ sound, i64 tile) {
  t.quotes = state >> 1, t.odd = state & 1, t.depth = depth;
  if (!t.odd) t.first = 0;
  return sound && (t.odd || !(sound[tile] >> t.quotes & 1));
}
