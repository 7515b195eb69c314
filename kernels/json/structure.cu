// structure.cu: the structure of JSON text in one pass: classes of bytes, escapes, strings and
// bracket depth, and whether its strings are sound.
//
// buffer     elements    written by    what
// planes     3 * n/64    tiles, masks  one after the other: bit 0, 1 and 2 of each byte's class, as if no
//                                      escape reached into a tile
// tile       n/16384     tiles         see quote.cuh; joined by quote_join
// sound      n/16384     tiles         bit 0: check_strings finds nothing in the tile if it starts outside a
//                                      string; bit 1: nor if it starts inside. If no escape
//                                      reaches into it
// masks      5 * n/64    masks         inside, open, close, colon, comma, one after the other; the last four
//                                      outside strings
// depth      n/64        masks         before the word's first byte
//
// A class takes 3 bits, so that the text leaves 3/8 of its size instead of a mask for each
// class:
//   0 other   1 comma   2 colon   3 quote that counts   4 [   5 {   6 ]   7 }
#include "json/check_strings.cuh"
#include "json/structure.cuh"

// Is a word at fault, whatever the state before the tile, by its UTF-8, or by escapes that begin in
// it? Few words are asked, so these are called: what the planes take
// of registers would else be spilled by all.
__device__ __attribute__((noinline)) bool odd_utf8(
    const u8 *__restrict__ text, i64 n, i64 word, u64 valid) {
  return (utf8_faults(load_planes(text, n, word), four_before(text, n, word)) & valid) != 0;
}
__device__ __attribute__((noinline)) bool odd_escapes(
    const u8 *__restrict__ text, i64 n, i64 word, u64 valid, u64 escaped) {
  u32 reach;
  return (escape_faults(load_planes(text, n, word), escaped, reach) & valid) != 0 ||
         no_digit_behind(text, n, word, reach) >= 0;
}

KERNEL __launch_bounds__(BLOCK, 5) structure_tiles(const u8 *__restrict__ text, i64 n,
    u64 *__restrict__ planes, QuoteTile *__restrict__ tile, u8 *__restrict__ sound) {
  __shared__ u32 shared[33], warp_fault[BLOCK / 32];
  __shared__ i32 warp_change[2][BLOCK / 32];
  const i64 word = thread_index(), words = (n + WORD - 1) / WORD;
  Planes p = load_planes(text, n, word);
  // [ 01011011   { 01111011   ] 01011101   } 01111101
  u64 bracket = ~p.b[7] & p.b[6] & p.b[4] & p.b[3] & p.b[0] & (p.b[2] ^ p.b[1]),
      close = bracket & p.b[2], open = bracket & ~close;
  u64 comma = bytes_equal(p, ','), colon = bytes_equal(p, ':'), curly = bracket & p.b[5];
  const u64 valid = word_valid(n, word), bs = bytes_equal(p, '\\'), string = string_bytes(p, bs),
            control = control_bytes(p) & valid, beyond_ascii = p.b[7];
  TileEscapes escapes;
  u64 escaped, quotes = counting_quotes(bs, bytes_equal(p, '"'), valid, shared, escapes, escaped);
  if (word < words) {
    planes[word] = comma | quotes | curly;
    planes[words + word] = colon | quotes | close;
    planes[2 * words + word] = bracket;
  }
  u32 all, before = block_parity(__popcll(quotes), shared, all);
  u64 inside = prefix_xor(quotes) ^ (before ? ~0ull : 0);
  i32 outer = __popcll(open & ~inside) - __popcll(close & ~inside),
      inner = __popcll(open & inside) - __popcll(close & inside);
  outer = __reduce_add_sync(WARP, outer), inner = __reduce_add_sync(WARP, inner);
  // the text must not end in a string
  const u64 last = valid && word + 1 == words ? valid ^ valid >> 1 : 0;
  const bool odd = (utf8_to_check(text, n, word, beyond_ascii) && odd_utf8(text, n, word, valid)) ||
                   (escaped && odd_escapes(text, n, word, valid, escaped));
  const u32 fault = __reduce_or_sync(
      WARP, (odd || (((control | last) & inside) | (string & ~inside)) != 0) |
                (odd || (((control | last) & ~inside) | (string & inside)) != 0) << 1);
  if (lane_index() == 0)
    warp_change[0][threadIdx.x >> 5] = outer, warp_change[1][threadIdx.x >> 5] = inner,
                                  warp_fault[threadIdx.x >> 5] = fault;
  __syncthreads();
  if (threadIdx.x == 0) {
    QuoteTile t = {all, escapes.first, escapes.tail, escapes.odd, {{0, 0}}};
    u32 faults = 0;
    for (int w = 0; w < BLOCK / 32; w++)
      t.change[0] += warp_change[0][w], t.change[1] += warp_change[1][w], faults |= warp_fault[w];
    tile[blockIdx.x] = t, sound[blockIdx.x] = (u8)(~faults & 3);
  }
}

KERNEL __launch_bounds__(BLOCK) structure_masks(const u64 *__restrict__ planes, i64 n,
    const QuoteTile *__restrict__ tile, u64 *__restrict__ masks, i32 *__restrict__ depth) {
  __shared__ u32 shared[33];
  __shared__ i32 shared_depth[33];
  const i64 word = thread_index(), words = (n + WORD - 1) / WORD;
  const QuoteTile t = tile[blockIdx.x];
  const WordClasses x = word_classes(planes, n, word, t, shared);
  i32 total, change = __popcll(x.open) - __popcll(x.close);
  i64 at = (i64)t.depth + block_exclusive(change, shared_depth, total);
  if (word >= words) return;
  masks[word] = x.inside;
  masks[words + word] = x.open;
  masks[2 * words + word] = x.close;
  masks[3 * words + word] = x.colon;
  masks[4 * words + word] = x.comma;
  depth[word] = depth_saturated(at);
}
