// quote.cu: the mask of the bytes inside strings.
//
// buffer   elements    written by   what
// inside   n/64        tiles        the quotes that count, escapes that reach into the tile aside
//                      inside       the mask
// tile     n/16384     tiles, settle  see quote.cuh
// group    tiles/256+1 groups       the tiles of a group joined
#include "quote.cuh"

// style: 0 a backslash escapes, 1 it does not, and a doubled quote ends a string and starts the next.
KERNEL __launch_bounds__(BLOCK) quote_tiles(const u8 *__restrict__ text, i64 n, u32 quote, u32 style, u64 *__restrict__ inside, QuoteTile *__restrict__ tile) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  Planes p = load_planes(text, n, word);
  TileEscapes escapes = {0, STATE_OFF, 0};
  u64 quotes = bytes_equal(p, quote), escaped;
  if (style == 0) quotes = counting_quotes(bytes_equal(p, '\\'), quotes, word_valid(n, word), shared, escapes, escaped);
  if (word * WORD < n) inside[word] = quotes;
  u32 all;
  block_parity(__popcll(quotes), shared, all);
  if (threadIdx.x == 0) {
    QuoteTile t = {all, escapes.first, escapes.tail, escapes.odd, {0, 0}, 0};
    tile[blockIdx.x] = t;
  }
}

// Joins each JOIN tiles; the element behind the last group keeps what was before the text, which the last block of quote_settle overwrites.
KERNEL __launch_bounds__(JOIN) quote_groups(const QuoteTile *__restrict__ tile, i64 tiles, const QuoteCarry *__restrict__ carry, const i64 *__restrict__ depth, QuoteStep *__restrict__ group) {
  __shared__ QuoteStep shared[33];
  const i64 i = thread_index();
  QuoteStep all;
  block_steps(i < tiles ? quote_step(tile[i]) : no_step(), shared, all);
  if (threadIdx.x) return;
  group[blockIdx.x] = all;
  if (blockIdx.x) return;
  QuoteStep start = no_step();
  if (carry) start.to[0] = carry->escaped | carry->inside << 1;
  if (depth) start.depth[0] = *depth;
  group[gridDim.x] = start;
}

// Tells each tile what lies before it, and carry and depth, where not null, what lies before the next text.
KERNEL __launch_bounds__(JOIN) quote_settle(QuoteTile *__restrict__ tile, i64 tiles, const QuoteStep *__restrict__ group, QuoteCarry *__restrict__ carry, i64 *__restrict__ depth) {
  __shared__ QuoteStep shared[33];
  // The groups before this block's, a share of them to each thread.
  const i64 each = ((i64)blockIdx.x + JOIN - 1) / JOIN;
  QuoteStep mine = no_step(), earlier, all;
  for (i64 i = threadIdx.x * each; i < (threadIdx.x + 1) * each && i < blockIdx.x; i++) mine = join(mine, group[i]);
  block_steps(mine, shared, earlier);
  const u32 start = group[gridDim.x].to[0];
  const u32 state = pick(earlier.to, start);
  const i64 from = group[gridDim.x].depth[0] + pick(earlier.depth, start);

  const i64 i = thread_index();
  QuoteTile t;
  if (i < tiles) t = tile[i];
  QuoteStep before = block_steps(i < tiles ? quote_step(t) : no_step(), shared, all);
  if (i < tiles) {
    const u32 at = pick(before.to, state);
    t.quotes = at >> 1, t.odd = at & 1, t.depth = from + pick(before.depth, state);
    if (!(at & 1)) t.first = 0;
    tile[i] = t;
  }
  if (blockIdx.x != gridDim.x - 1 || threadIdx.x) return;
  const u32 end = pick(all.to, state);
  if (carry) carry->escaped = end & 1, carry->inside = end >> 1;
  if (depth) *depth = from + pick(all.depth, state);
}

KERNEL __launch_bounds__(BLOCK) quote_inside(u64 *__restrict__ inside, i64 n, const QuoteTile *__restrict__ tile) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  const QuoteTile t = tile[blockIdx.x];
  u64 quotes = word * WORD < n ? inside[word] : 0;
  if (t.first && (t.first - 1) / 64 == threadIdx.x) quotes ^= 1ull << (t.first - 1) % 64;
  u32 all, before = t.quotes ^ block_parity(__popcll(quotes), shared, all);
  if (word * WORD < n) inside[word] = (prefix_xor(quotes) ^ (before ? ~0ull : 0)) & word_valid(n, word);
}
