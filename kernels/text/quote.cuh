// quote.cuh: which bytes lie inside a string, found in one pass over the text and one over the
// tiles.
//
// Whether a quote counts depends on the backslashes before it, perhaps in the tile before, and
// whether a byte lies inside a string depends on all
// quotes before it. So a tile is read as if no escape and no string reached into it, and says what
// would change if one did:
//   escaped   an escape that reaches in falls on the first byte that is no backslash, behind a run of them.
//             If that byte is a quote it
//             counts where it did not, or the other way round; nothing else changes, and no bracket lies before it
//   inside    a string that reaches in turns inside and outside over in the whole tile
// A tile so is a function of four states, and functions join in any grouping: one block joins all
// of them. No block waits for another, and a run of backslashes over many tiles costs no more than
// other text.
#pragma once
#include "core.cuh"

struct alignas(8) QuoteTile {
  u32 quotes : 1;  // parity of the quotes that count; joined: does a string reach into the tile
  // 1 + place in the tile of the first byte that is no backslash, if that is a quote, or 0;
  // joined: only if an escape reaches it
  u32 first : 16;
  // STATE_*: is the byte after the tile escaped; STATE_KEPT: as the byte before was, the tile is
  // all backslashes
  u32 tail : 2;
  // the text ends here, in a word that is an odd number of backslashes and nothing else; joined:
  // does an escape reach into the tile
  u32 odd : 1;
  union {
    i16 change[2];  // of the depth, if the tile starts outside a string and if it starts inside
    i32 depth;      // joined: at the tile's start
  };
};
// Read by one access.
__device__ __forceinline__ QuoteTile load_tile(const QuoteTile *tile) {
  const uint2 v = *(const uint2 *)tile;
  return *(const QuoteTile *)&v;
}
struct QuoteCarry {
  u32 inside, escaped;  // at the end of the text before
};

// The bytes of a word that a backslash before them escapes. carry: is the first byte escaped; gets
// whether the byte after the word is.
//   text     \ \ " \ " x
//   bs       1 1 . 1 . .
//   escaped  . 1 . . 1 .
__device__ __forceinline__ u64 escaped_bytes(u64 bs, u32 &carry) {
  const u64 even = 0x5555555555555555ull;
  u64 first = bs & ~(u64)carry;  // an escaped backslash starts no run
  u64 follows = first << 1 | carry;
  u64 odd_starts = first & ~even & ~follows;
  // carries run to the ends of runs that start at odd places
  u64 sum = odd_starts + first;
  u64 escaped = (even ^ sum << 1) & follows;
  carry = sum < odd_starts;
  return escaped;
}

// What a block learns of its tile's escapes.
struct TileEscapes {
  u32 first, tail, odd;  // as in QuoteTile
};
// One word's quotes that count, in a block that reads one tile, escapes that reach into the tile
// aside. bs and quotes: its backslashes and quotes,
// valid: its bytes that belong to the text. escaped gets those of them that are. All threads of the
// block call; tile is the same in all of them. shared holds 33 elements, of
// which the last one is not to be written before the next barrier.
__device__ __forceinline__ u64 counting_quotes(
    u64 bs, u64 quotes, u64 valid, u32 *shared, TileEscapes &tile, u64 &escaped) {
  tile.tail = STATE_OFF, tile.odd = 0, escaped = 0;
  if (!__syncthreads_or(bs != 0)) {
    if (threadIdx.x == 0) shared[32] = quotes & 1;
    __syncthreads();
    tile.first = shared[32];
    return quotes;
  }
  u32 carry = 0, odd = 0, set;
  escaped = escaped_bytes(bs, carry);
  if (bs == valid) {
    // 64 backslashes escape one another, and so do none
    set = STATE_KEPT, odd = __popcll(valid) & 1;
  } else {
    set = valid == ~0ull ? carry : escaped >> __popcll(valid) & 1;
  }
  if (threadIdx.x == 0) shared[32] = 0;
  u32 start = block_state(set, STATE_KEPT, shared, tile.tail);
  if (start == STATE_KEPT && set != STATE_KEPT) {  // one thread at most
    int at = first_bit(~bs);
    if (quotes >> at & 1) shared[32] = 1 + threadIdx.x * 64 + at;
  }
  tile.odd = __syncthreads_or(odd);
  tile.first = shared[32];
  carry = start == STATE_ON;
  escaped = escaped_bytes(bs, carry);
  return quotes & ~escaped;
}

// ---- joining tiles ----

// What a run of tiles makes of the state before it: the state after it, two bits for each state
// before. A state is escaped + 2 * inside.
constexpr u32 NO_STEP = 0xe4;  // 3 2 1 0
// The state that a step makes of one.
__device__ __forceinline__ u32 next_state(u32 step, u32 state) { return step >> 2 * state & 3; }
// The step of a tile. Whether an escape is known says all but the strings, which are turned over by
// one that reaches in.
__device__ __forceinline__ u32 quote_step(const QuoteTile &t) {
  const u32 kept = t.tail == STATE_KEPT, flip = t.first != 0;
  const u32 plain = ((kept ? 0 : t.tail) ^ t.odd) | t.quotes << 1,
            escaped = ((kept ? 1 : t.tail) ^ t.odd) | (t.quotes ^ flip) << 1;
  return plain | escaped << 2 | (plain ^ 2) << 4 | (escaped ^ 2) << 6;
}
// First a, then b.
__device__ __forceinline__ u32 join_steps(u32 a, u32 b) {
  return next_state(b, a & 3) | next_state(b, a >> 2 & 3) << 2 | next_state(b, a >> 4 & 3) << 4 |
         next_state(b, a >> 6) << 6;
}
// The steps of the lanes up to this one, joined.
__device__ __forceinline__ u32 warp_steps(u32 x) {
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const u32 before = __shfl_up_sync(WARP, x, d);
    if (lane_index() >= d) x = join_steps(before, x);
  }
  return x;
}
// The steps of the threads before this one, joined; all gets those of the whole block. shared holds
// 33 elements.
__device__ __forceinline__ u32 block_steps(u32 mine, u32 *shared, u32 &all) {
  const int lane = lane_index(), warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  const u32 x = warp_steps(mine);
  if (lane == 31) shared[warp] = x;
  __syncthreads();
  if (warp == 0) {
    const u32 y = warp_steps(lane < warps ? shared[lane] : NO_STEP),
              before = __shfl_up_sync(WARP, y, 1);
    __syncwarp();
    shared[lane] = lane ? before : NO_STEP;
    if (lane == 31) shared[32] = y;
  }
  __syncthreads();
  const u32 before = __shfl_up_sync(WARP, x, 1), earlier = shared[warp];
  all = shared[32];
  __syncthreads();
  return lane ? join_steps(earlier, before) : earlier;
}
