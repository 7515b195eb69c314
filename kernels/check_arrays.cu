// check_arrays.cu: are all brackets from some depth on arrays of arrays or of numbers, with one comma between two of them?
//
// buffer        elements   written by     what
// open, close   n/64       -              brackets outside strings
// base          n/64       -              depth before a word
// within        n/64       -              the bytes of outermost arrays; null where the depth says which they are
// fault         1          check_arrays   the lowest byte offset found; all ones before
//
// A thread takes a word of text and finds its bytes that are deep. The words that have any are shared out anew, and a thread looks at all brackets of its word at
// once. What stands behind a bracket, blanks left out, is found by an addition, which carries over a run of ones:
//
//   text     [   [ 1 , 2 ]   ,   [
//   blank    . 1 . . . . . 1 . 1 .
//   behind   . 1 . 1 . . . . . . .    openers, moved by one
//   + blank  . . 1 . . . . 1 . 1 .    those in a run of blanks come out behind it
//   next     . . 1 1 . . . . . . .
//
// Where the run goes on in the next word the thread looks there, byte by byte and no further than MOST_BLANKS. Of a run of blanks only the thread of the
// bracket or comma before it does so, which makes the time linear in the bytes.
#include "depth.cuh"

constexpr i64 MOST_BLANKS = 4096;  // what stands behind more is a fault

// The bytes that come next behind the set bytes, if blanks are skipped; beyond gets whether one of these lies behind the word.
__device__ __forceinline__ u64 next_solid(u64 set, u64 blank, bool &beyond) {
  const u64 behind = set << 1, sum = (behind & blank) + blank;
  beyond = set >> 63 || sum < blank;
  return ((behind | sum) & ~blank);
}
__device__ __forceinline__ bool is_white(u32 c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// The first byte from at on that is no blank; the byte MOST_BLANKS behind at if there is none up to there; n at most.
__device__ __forceinline__ i64 past_white(const u8 *__restrict__ text, i64 n, i64 at) {
  for (const i64 end = min(n, at + MOST_BLANKS); at < end; at++)
    if (!is_white(text[at])) return at;
  return at;
}

// The bytes of a word at which the depth is from at least.
//
//   text    ] } , { " a " : [ 1      depth 4 before, from 3
//   depth   3 2 2 3 3 3 3 3 4 4
//   deep    1 . . 1 1 1 1 1 1 1
__device__ __forceinline__ u64 deep_bytes(u64 open, u64 close, i64 depth, i64 from) {
  u64 deep = depth >= from ? ~0ull : 0;
  if (depth - __popcll(close) >= from || depth + __popcll(open) < from) return deep;
  i32 above = (i32)(depth - from);  // within 64 of it
  u32 half[2];
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const u32 opens = (u32)(open >> 32 * h);
    half[h] = above >= 0 ? ~0u : 0;
    for (u32 m = opens | (u32)(close >> 32 * h); m; m &= m - 1) {
      const u32 bit = m & (0 - m);
      const i32 up = opens & bit ? 1 : 0;
      if (above + up == 0) half[h] ^= 0 - bit;  // an opener from -1 to 0, a closer from 0 to -1
      above += 2 * up - 1;
    }
  }
  return half[0] | (u64)half[1] << 32;
}

// The bytes that this looks for.
struct ArrayBytes {
  u64 blank, quote, comma, number;  // number: the first byte of one
};
//   20  0010 0000  blank    22  0010 0010  quote    2c  0010 1100  comma    30  0011 0000  digit
//   09  0000 1001  blank    0a  0000 1010  blank    2d  0010 1101  minus    39  0011 1001  digit
//   0d  0000 1101  blank
__device__ __forceinline__ ArrayBytes array_bytes(const Planes &p) {
  const u64 *b = p.b, low = ~(b[7] | b[6]), digits = low & b[5] & b[4], marks = low & b[5] & ~b[4], controls = low & ~b[5] & ~b[4];
  const u64 few = marks & ~b[3] & ~b[2], dash = marks & b[3] & b[2] & ~b[1];
  ArrayBytes r;
  r.blank = (few & ~b[1] & ~b[0]) | (controls & b[3] & ((~b[2] & (b[1] ^ b[0])) | (b[2] & ~b[1] & b[0])));
  r.quote = few & b[1] & ~b[0];
  r.comma = dash & ~b[0];
  r.number = (digits & ~(b[3] & (b[2] | b[1]))) | (dash & b[0]);
  return r;
}

// The bytes of a word that lie in an array of a mask, less the bracket that closes it: as deep as above, where depths are counted from the array on.
//
//   text    [ [ 1 ] ] , [ ]
//   within  1 1 1 1 1 . 1 1
//   inside  1 1 1 1 . . 1 .
__device__ __forceinline__ u64 inside_bytes(const u64 *__restrict__ within, i64 words, i64 word) {
  const u64 w = within[word];
  return w & (w >> 1 | (word + 1 < words ? within[word + 1] << 63 : 0));
}

// The words of a tile that have something to look at, one behind the other, so that the warps that read the text are full.
struct ArrayTile {
  u64 deep[BLOCK];
  u16 word[BLOCK];  // its place in the tile, and from bit 15 on whether the byte before it is deep
};

KERNEL __launch_bounds__(BLOCK) check_arrays(const u8 *__restrict__ text, i64 n, const u64 *__restrict__ open, const u64 *__restrict__ close, const i32 *__restrict__ base, i64 from, const u64 *__restrict__ within, u64 *__restrict__ fault) {
  __shared__ ArrayTile tile;
  __shared__ u32 shared[BLOCK / 32];
  const i64 own = thread_index(), words = (n + WORD - 1) / WORD;
  u64 deep = 0;
  bool reached = false;  // is the byte before the word deep
  if (own < words && within) {
    deep = inside_bytes(within, words, own), reached = own > 0 && (within[own - 1] >> 63 & within[own]) != 0;
  } else if (own < words) {
    const i64 depth = base[own];
    deep = deep_bytes(open[own], close[own], depth, from), reached = depth >= from;
  }
  u32 count;
  const u32 at = tile_before(deep != 0 || reached ? 1u : 0, shared, count);
  if (deep != 0 || reached) tile.deep[at] = deep, tile.word[at] = (u16)(threadIdx.x | (reached ? 1u << 15 : 0));
  __syncthreads();
  if (threadIdx.x >= count) return;
  const i64 word = (i64)blockIdx.x * BLOCK + (tile.word[threadIdx.x] & (BLOCK - 1)), start = word * WORD;
  const u64 opens = open[word], closes = close[word];
  deep = tile.deep[threadIdx.x];
  const u64 before = deep << 1 | tile.word[threadIdx.x] >> 15;  // is the byte before deep
  const Planes p = load_planes(text, n, word);
  const ArrayBytes is = array_bytes(p);
  const u64 opener = opens & deep, closer = closes & deep;  // a closer at which the text still is deep stands in another such array
  const u64 curly = p.b[5] & (opener | (closes & before));  // [ ] 5b 5d, { } 7b 7d
  bool opener_beyond, closer_beyond, comma_beyond;
  const u64 in = next_solid(opener, is.blank, opener_beyond), out = next_solid(closer, is.blank, closer_beyond);
  const u64 after = next_solid(out & is.comma, is.blank, comma_beyond);
  const u64 square = ~p.b[5];  // of a bracket
  const u64 wrong = curly | (is.quote & deep) | (in & ~(((opens | closes) & square) | is.number)) | (out & ~(is.comma | (closes & square))) | (after & ~(opens & square));
  i64 first = wrong ? start + first_bit(wrong) : n + 1;
  if (!wrong && (opener_beyond || closer_beyond || comma_beyond)) {
    i64 next = past_white(text, n, start + WORD);
    u32 c = next < n ? text[next] : 0;
    if (closer_beyond && c == ',') {
      next = past_white(text, n, next + 1), c = next < n ? text[next] : 0;
      closer_beyond = false, comma_beyond = true;
    }
    const bool sound = comma_beyond ? c == '[' : c == ']' || (opener_beyond && (c == '[' || c == '-' || c - '0' < 10));
    if (!sound) first = next;
  }
  if (first <= n && (u64)first < *(volatile u64 *)fault) atomicMin(fault, (u64)first);
}
