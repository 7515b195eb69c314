// quote.cu: the mask of the bytes inside strings.
//
// buffer   elements    written by   what
// inside   n/64        tiles        the quotes that count, escapes that reach into the tile aside
//                      inside       the mask
// tile     n/16384     tiles, join  see quote.cuh
// unsound  1           join         not 0 if sound, see structure.cu, has a tile that check_strings has to look at
#include "text/quote.cuh"

// style: 0 a backslash escapes, 1 it does not, and a doubled quote ends a string and starts the
// next.
KERNEL __launch_bounds__(BLOCK) quote_tiles(const u8 *__restrict__ text, i64 n, u32 quote,
    u32 style, u64 *__restrict__ inside, QuoteTile *__restrict__ tile) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  Planes p = load_planes(text, n, word);
  TileEscapes escapes = {0, STATE_OFF, 0};
  u64 quotes = bytes_equal(p, quote), escaped;
  if (style == 0)
    quotes = counting_quotes(
        bytes_equal(p, '\\'), quotes, word_valid(n, word), shared, escapes, escaped);
  if (word * WORD < n) inside[word] = quotes;
  u32 all;
  block_parity(__popcll(quotes), shared, all);
  if (threadIdx.x == 0) {
    QuoteTile t = {all, escapes.first, escapes.tail, escapes.odd, {{0, 0}}};
    tile[blockIdx.x] = t;
  }
}

// One block. Tells each tile what lies before it, JOIN_EACH tiles a thread at a time, and carry and
// depth, where not null, what lies before the next text. A tile that
// knows its state knows how it changes the depth. unsound, not null where sound is not, gets
// whether check_strings has to look at a tile.
KERNEL __launch_bounds__(SCAN, 1) quote_join(QuoteTile *__restrict__ tile, i64 tiles,
    QuoteCarry *__restrict__ carry, i64 *__restrict__ depth, const u8 *__restrict__ sound,
    u32 *__restrict__ unsound) {
  constexpr int JOIN_EACH = 3;
  __shared__ u32 shared[33];
  __shared__ i32 shared_change[33];
  u32 state = carry ? carry->escaped | carry->inside << 1 : 0;
  i64 at = depth ? *depth : 0;
  bool odd = false;
  for (i64 from = 0; from < tiles; from += SCAN * JOIN_EACH) {
    const i64 first = from + threadIdx.x * JOIN_EACH;
    QuoteTile own[JOIN_EACH];
    u32 checked[JOIN_EACH], step[JOIN_EACH], mine = NO_STEP, all;
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++) {
      if (first + k >= tiles) break;
      own[k] = load_tile(tile + first + k), checked[k] = sound ? sound[first + k] : 3;
    }
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++) {
      step[k] = first + k < tiles ? quote_step(own[k]) : NO_STEP;
      mine = join_steps(mine, step[k]);
    }
    u32 now = next_state(block_steps(mine, shared, all), state);
    i32 change[JOIN_EACH], sum = 0, whole;
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++) {
      change[k] = sum;
      if (first + k >= tiles) break;
      QuoteTile &t = own[k];
      t.quotes = now >> 1, t.odd = now & 1;
      if (!t.odd) t.first = 0;
      odd |= t.odd || !(checked[k] >> t.quotes & 1);
      sum += t.quotes ^ (t.first != 0) ? t.change[1] : t.change[0];
      now = next_state(step[k], now);
    }
    const i64 before = at + block_exclusive(sum, shared_change, whole);
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++)
      if (first + k < tiles)
        own[k].depth = depth_saturated(before + change[k]), tile[first + k] = own[k];
    at += whole, state = next_state(all, state);
  }
  odd = __syncthreads_or(odd);
  if (threadIdx.x) return;
  if (sound) *unsound = odd;
  if (carry) carry->escaped = state & 1, carry->inside = state >> 1;
  if (depth) *depth = at;
}

KERNEL __launch_bounds__(BLOCK) quote_inside(
    u64 *__restrict__ inside, i64 n, const QuoteTile *__restrict__ tile) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  const QuoteTile t = tile[blockIdx.x];
  u64 quotes = word * WORD < n ? inside[word] : 0;
  if (t.first && (t.first - 1) / 64 == threadIdx.x) quotes ^= 1ull << (t.first - 1) % 64;
  u32 all, before = t.quotes ^ block_parity(__popcll(quotes), shared, all);
  if (word * WORD < n)
    inside[word] = (prefix_xor(quotes) ^ (before ? ~0ull : 0)) & word_valid(n, word);
}
