// check_values.cuh: the tokens of JSON values, word by word, and what lies before a word.
//
// What may follow a token is decided by three things: the token before it, the one before that, and
// the bracket around it.
//
//   text    { " a " : [ 1 , " b " , { } ] , " c " : null }
//   token   { s     : [ v , s     , { } ] , s     : v    }     s: a string, v: another scalar
//
// The bracket around a token is the last one that was opened at that depth, so that it takes no
// search and no stack: an opener sets the bit of its depth, and what
// was set last counts. Such settings join in any grouping.
#pragma once
#include "json/structure.cuh"

constexpr i64 VALUE_LEVELS = 64;  // brackets at a time; deeper ones are not known

// ALONE is a string or another scalar that is a value by itself: nothing of it follows.
enum {
  VALUE_TOKEN_NONE,
  VALUE_TOKEN_OBJECT,
  VALUE_TOKEN_ARRAY,
  VALUE_TOKEN_COLON,
  VALUE_TOKEN_COMMA,
  VALUE_TOKEN_STRING,
  VALUE_TOKEN_SCALAR,
  VALUE_TOKEN_CLOSE,
  VALUE_TOKEN_ALONE
};

// What a run of text says of the tokens after it.
struct ValueRun {
  u64 set, curly;  // bit d - 1: a bracket was opened at depth d, and the last one was a curly one
  u32 last;        // the last token, and from bit 4 on the one before it
  u32 unused;
};

// One word's tokens.
struct ValueWord {
  u64 token;                                     // first bytes of them
  u64 start;                                     // first bytes of values that stand for themselves
  u64 string, open, close, curly, colon, comma;  // of other text, too
  u64 solid;  // bytes of values, but for the blanks between tokens
  u64 end;    // last bytes of strings and other scalars
};

__device__ __forceinline__ ValueRun no_value_run() {
  ValueRun r = {0, 0, 0, 0};
  return r;
}
// First a, then b.
__device__ __forceinline__ ValueRun join(const ValueRun &a, const ValueRun &b) {
  ValueRun r = {a.set | b.set, (a.curly & ~b.set) | b.curly, b.last, 0};
  if (!(b.last >> 4)) r.last = b.last ? (b.last | a.last << 4) & 255 : a.last;
  return r;
}
__device__ __forceinline__ ValueRun value_run_from(const ValueRun &x, int lane) {
  ValueRun r;
  r.set = __shfl_sync(WARP, x.set, lane), r.curly = __shfl_sync(WARP, x.curly, lane);
  r.last = __shfl_sync(WARP, x.last, lane), r.unused = 0;
  return r;
}
// The runs of the lanes up to this one, joined.
__device__ __forceinline__ ValueRun warp_value_runs(ValueRun x) {
  for (int d = 1; d < 32; d <<= 1) {
    const ValueRun before = value_run_from(x, max(lane_index() - d, 0));
    if (lane_index() >= d) x = join(before, x);
  }
  return x;
}
// The runs of the threads before this one, joined; all gets those of the whole block. shared holds
// 33 elements. All threads of the block call.
__device__ __forceinline__ ValueRun block_value_runs(
    const ValueRun &mine, ValueRun *shared, ValueRun &all) {
  const int lane = lane_index(), warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  const ValueRun x = warp_value_runs(mine);
  if (lane == 31) shared[warp] = x;
  __syncthreads();
  if (warp == 0) {
    const ValueRun y = warp_value_runs(lane < warps ? shared[lane] : no_value_run());
    const ValueRun before = value_run_from(y, max(lane - 1, 0));
    __syncwarp();
    shared[lane] = lane ? before : no_value_run();
    if (lane == 31) shared[32] = y;
  }
  __syncthreads();
  const ValueRun before = value_run_from(x, max(lane - 1, 0));
  all = shared[32];
  return join(shared[warp], lane ? before : no_value_run());
}

// The place of a bracket at a depth in ValueRun's masks. Depths that are not among VALUE_LEVELS have
// one, too, of which nobody makes use.
__device__ __forceinline__ u64 value_level(i64 depth) {
  return 1ull << ((depth - 1) & (VALUE_LEVELS - 1));
}

__device__ __forceinline__ bool value_blank(u32 c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
// Is c, outside of strings, part of a token of more than one byte?
__device__ __forceinline__ bool value_scalar(u32 c) {
  return !value_blank(c) && c != ',' && c != ':' && c != '"' && (c | 0x20) != '{' &&
         (c | 0x20) != '}';
}

// The word's tokens, of which x are the classes; within: bytes of values. t is its tile.
__device__ __forceinline__ ValueWord value_word(const u8 *__restrict__ text,
    const u64 *__restrict__ planes, i64 n, i64 word, const QuoteTile &t, const WordClasses &x,
    const u64 *__restrict__ mask, u64 within) {
  const i64 words = (n + WORD - 1) / WORD;
  ValueWord r = {0, 0, 0, x.open, x.close, x.curly, x.colon, x.comma, 0, 0};
  if (!within) return r;
  u64 a = planes[word], b = planes[words + word];
  if (t.first && (t.first - 1) / 64 == threadIdx.x)
    a ^= 1ull << (t.first - 1) % 64, b ^= 1ull << (t.first - 1) % 64;
  const u64 quotes = a & b & ~planes[2 * words + word];
  const Planes p = load_planes(text, n, word);
  const u64 blank =
      (bytes_equal(p, ' ') | bytes_equal(p, '\t') | bytes_equal(p, '\n') | bytes_equal(p, '\r')) &
      ~x.inside;
  const u64 one = x.open | x.close | x.colon | x.comma, scalar = ~(x.inside | quotes | blank | one);
  // is the byte before the word one of a value
  const bool before = word > 0 && mask[word - 1] >> 63;
  // is it one of the scalar at the word's first byte
  const bool goes_on = word > 0 && scalar & 1 && value_scalar(text[word * WORD - 1]);
  const i64 next = (word + 1) * WORD;
  const bool goes_over = scalar >> 63 && next < n && value_scalar(text[next]);
  r.start = within & ~(within << 1 | before);
  r.string = quotes & x.inside;
  r.token = within & (r.string | one | (scalar & (r.start | ~(scalar << 1 | goes_on))));
  r.solid = within & ~blank;
  r.end = within & ((quotes & ~x.inside) | (scalar & ~(scalar >> 1 | (u64)goes_over << 63)));
  return r;
}
__device__ __forceinline__ u32 value_token(const ValueWord &w, u64 bit) {
  if (w.string & bit) return w.start & bit ? VALUE_TOKEN_ALONE : VALUE_TOKEN_STRING;
  if (w.comma & bit) return VALUE_TOKEN_COMMA;
  if (w.colon & bit) return VALUE_TOKEN_COLON;
  if (w.open & bit) return w.curly & bit ? VALUE_TOKEN_OBJECT : VALUE_TOKEN_ARRAY;
  if (w.close & bit) return VALUE_TOKEN_CLOSE;
  return w.start & bit ? VALUE_TOKEN_ALONE : VALUE_TOKEN_SCALAR;
}
// How the brackets before a byte of the word change the depth.
__device__ __forceinline__ int value_depth(const ValueWord &w, u64 bit) {
  return __popcll(w.open & (bit - 1)) - __popcll(w.close & (bit - 1));
}
// What a word says of the tokens after it. depth: before it.
__device__ __forceinline__ ValueRun value_run(const ValueWord &w, i64 depth) {
  ValueRun r = no_value_run();
  if (!w.token) return r;
  for (u64 m = w.open & w.token; m; m &= m - 1) {
    const u64 bit = m & (0 - m), level = value_level(depth + 1 + value_depth(w, bit));
    r.set |= level, r.curly = (r.curly & ~level) | (w.curly & bit ? level : 0);
  }
  const u64 last = 1ull << (63 - __clzll((i64)w.token)), rest = w.token ^ last;
  r.last = value_token(w, last);
  if (rest) r.last |= value_token(w, 1ull << (63 - __clzll((i64)rest))) << 4;
  return r;
}
