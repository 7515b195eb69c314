// check_arrays.cu: are all brackets from some depth on arrays of arrays or of numbers, with one comma between two of them?
//
// buffer        elements   written by     what
// open, close   n/64       -              brackets outside strings
// base          n/64       -              depth before a word
// fault         1          check_arrays   the lowest byte offset found; all ones before
//
// A thread takes a word of text and looks at all its brackets at once. What stands behind a bracket, blanks left out, is found by an addition, which
// carries over a run of ones:
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
  for (u64 m = open | close; m; m &= m - 1) {
    const u64 bit = m & (0 - m);
    depth += open & bit ? 1 : -1;
    if ((depth >= from) != (deep >> 63 != 0)) deep ^= ~(bit - 1);
  }
  return deep;
}

KERNEL __launch_bounds__(BLOCK) check_arrays(const u8 *__restrict__ text, i64 n, const u64 *__restrict__ open, const u64 *__restrict__ close, const i32 *__restrict__ base, i64 from, u64 *__restrict__ fault) {
  const i64 word = thread_index(), start = word * WORD;
  if (start >= n) return;
  const u64 opens = open[word], closes = close[word];
  const i64 depth = base[word];
  const u64 deep = deep_bytes(opens, closes, depth, from), before = deep << 1 | (depth >= from);  // before: is the byte before deep
  if (!(deep | before)) return;
  const Planes p = load_planes(text, n, word);
  const u64 blank = bytes_equal(p, ' ') | bytes_equal(p, '\t') | bytes_equal(p, '\n') | bytes_equal(p, '\r');
  const u64 opener = opens & deep, closer = closes & deep;  // a closer at which the text still is deep stands in another such array
  const u64 curly = p.b[5] & (opener | (closes & before));  // [ ] 5b 5d, { } 7b 7d
  const u64 square_open = bytes_equal(p, '['), square_close = bytes_equal(p, ']'), comma = bytes_equal(p, ',');
  const u64 digit = ~p.b[7] & ~p.b[6] & p.b[5] & p.b[4] & ~(p.b[3] & (p.b[2] | p.b[1]));
  bool opener_beyond, closer_beyond, comma_beyond;
  const u64 in = next_solid(opener, blank, opener_beyond), out = next_solid(closer, blank, closer_beyond);
  const u64 after = next_solid(out & comma, blank, comma_beyond);
  const u64 wrong = curly | (bytes_equal(p, '"') & deep) | (in & ~(square_open | square_close | digit | bytes_equal(p, '-'))) | (out & ~(comma | square_close)) | (after & ~square_open);
  i64 first = wrong ? start + first_bit(wrong) : n + 1;
  if (!wrong && (opener_beyond || closer_beyond || comma_beyond)) {
    i64 at = past_white(text, n, start + WORD);
    u32 c = at < n ? text[at] : 0;
    if (closer_beyond && c == ',') {
      at = past_white(text, n, at + 1), c = at < n ? text[at] : 0;
      closer_beyond = false, comma_beyond = true;
    }
    const bool sound = comma_beyond ? c == '[' : c == ']' || (opener_beyond && (c == '[' || c == '-' || c - '0' < 10));
    if (!sound) first = at;
  }
  if (first <= n && (u64)first < *(volatile u64 *)fault) atomicMin(fault, (u64)first);
}
