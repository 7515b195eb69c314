// check_values.cu: are values of a JSON text as RFC 8259 has them, from their first byte to their
// last?
//
// A tile is read twice: for what it says of those after it, and to check its tokens by what those
// before it said. A thread takes a word of text and goes over its
// tokens. Of a number only the thread where it begins reads what lies in other words, and it reads
// a bounded number of bytes; strings are not read, their quotes
// are known. So the time is linear in the bytes.
//
//   a token     follows
//   string      { [ : ,                            with : and " after them, a key; in an object after { and
//                                                  , a key must stand
//   : ,         a key; a value
//   { [ scalar  : [ and, in an array, a comma
//   } ]         a value, or its own opener
//
// buffer   elements   written by    what
// planes   3 * n/64   -             see structure.cu
// tile     n/16384    -             see quote.cuh, joined
// within   n/64       -             bytes of values
// run      n/16384    tiles, join   see ValueRun: of each tile; joined: of those before it
// solid    n/64       check         bytes of values but for blanks between tokens; or null
// fault    1          check         the lowest byte offset found; all ones before
#include "json/check_values.cuh"
#include "json/records_gaps.cuh"

constexpr int VALUE_RUNS = 512;  // threads of the one block that joins tiles

KERNEL __launch_bounds__(BLOCK) check_values_tiles(const u8 *__restrict__ text,
    const u64 *__restrict__ planes, i64 n, const QuoteTile *__restrict__ tile,
    const u64 *__restrict__ within, ValueRun *__restrict__ run) {
  __shared__ u32 shared[33];
  __shared__ i32 shared_depth[33];
  __shared__ ValueRun shared_run[33];
  const i64 word = thread_index();
  const u64 mine = word * WORD < n ? within[word] & word_valid(n, word) : 0;
  if (!__syncthreads_or(mine != 0)) {
    if (threadIdx.x == 0) run[blockIdx.x] = no_value_run();
    return;
  }
  const QuoteTile t = tile[blockIdx.x];
  const WordClasses x = word_classes(planes, n, word, t, shared);
  i32 change = __popcll(x.open) - __popcll(x.close), total;
  const i64 depth = (i64)t.depth + block_exclusive(change, shared_depth, total);
  const ValueWord w = value_word(text, planes, n, word, t, x, within, mine);
  ValueRun all;
  block_value_runs(value_run(w, depth), shared_run, all);
  if (threadIdx.x == 0) run[blockIdx.x] = all;
}

// One block, JOIN_EACH tiles a thread at a time.
KERNEL __launch_bounds__(VALUE_RUNS, 1) check_values_join(ValueRun *__restrict__ run, i64 tiles) {
  constexpr int JOIN_EACH = 4;  // also in check_values.go
  __shared__ ValueRun shared[33];
  ValueRun start = no_value_run();
  for (i64 from = 0; from < tiles; from += (i64)blockDim.x * JOIN_EACH) {
    const i64 first = from + (i64)threadIdx.x * JOIN_EACH;
    ValueRun own[JOIN_EACH], mine = no_value_run(), all;
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++)
      own[k] = first + k < tiles ? run[first + k] : no_value_run();
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++) mine = join(mine, own[k]);
    ValueRun before = join(start, block_value_runs(mine, shared, all));
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++) {
      if (first + k < tiles) run[first + k] = before;
      before = join(before, own[k]);
    }
    start = join(start, all);
    __syncthreads();  // shared is written again
  }
}

// The scalar at byte at: the byte that can't stand in it, or -1.
__device__ __forceinline__ i64 scalar_fault(const u8 *__restrict__ text, i64 n, i64 at) {
  const u32 c = text[at];
  if ((c == 't' || c == 'n' ? 4 : c == 'f' ? 5 : 0) > n - at) return at;
  u32 kind;
  const i64 end = gap_scalar(text, at, n, kind);
  if (end < 0) return -1 - end;
  return end < n && value_scalar(text[end]) ? end : -1;
}

// May the token follow the ones before it, in an object or an array?
__device__ __forceinline__ bool value_follows(
    u32 token, u32 before, bool in_object, bool closes_object) {
  const u32 last = before & 15, second = before >> 4;
  const bool key_place = last == VALUE_TOKEN_OBJECT || (last == VALUE_TOKEN_COMMA && in_object);
  const bool value_place = last == VALUE_TOKEN_COLON || last == VALUE_TOKEN_ARRAY ||
                           (last == VALUE_TOKEN_COMMA && !in_object);
  const bool key = last == VALUE_TOKEN_STRING &&
                   (second == VALUE_TOKEN_OBJECT || (second == VALUE_TOKEN_COMMA && in_object));
  const bool value = !key && last >= VALUE_TOKEN_STRING && last != VALUE_TOKEN_ALONE;
  switch (token) {
  case VALUE_TOKEN_STRING: return key_place || value_place;
  case VALUE_TOKEN_COLON: return key;
  case VALUE_TOKEN_COMMA: return value;
  case VALUE_TOKEN_CLOSE:
    return in_object == closes_object &&
           (value || last == (in_object ? VALUE_TOKEN_OBJECT : VALUE_TOKEN_ARRAY));
  }
  return value_place;
}

// The first byte of a word that is wrong, or -1. before: what lies before the word, and depth how
// deep its first byte lies.
__device__ __forceinline__ i64 word_fault(const u8 *__restrict__ text, i64 n, i64 word,
    const ValueWord &w, ValueRun before, i64 depth, i64 most) {
  for (u64 m = w.token; m; m &= m - 1) {
    const u64 bit = m & (0 - m);
    const i64 at = word * WORD + first_bit(bit);
    const u32 token = value_token(w, bit);
    const i64 around = depth + value_depth(w, bit);
    const bool in_object = before.curly & value_level(around), starts = w.start & bit;
    const bool first = starts && token != VALUE_TOKEN_COLON && token != VALUE_TOKEN_COMMA &&
                       token != VALUE_TOKEN_CLOSE;
    if (!first && (starts || !value_follows(token, before.last, in_object, w.curly & bit)))
      return at;
    if (token == VALUE_TOKEN_OBJECT || token == VALUE_TOKEN_ARRAY) {
      if (around >= most) return at;
      const u64 level = value_level(around + 1);
      before.curly = token == VALUE_TOKEN_OBJECT ? before.curly | level : before.curly & ~level;
    }
    if (token == VALUE_TOKEN_SCALAR || (token == VALUE_TOKEN_ALONE && !(w.string & bit))) {
      const i64 fault = scalar_fault(text, n, at);
      if (fault >= 0) return fault;
    }
    before.last = (before.last << 4 | token) & 255;
  }
  return -1;
}

KERNEL __launch_bounds__(BLOCK) check_values(const u8 *__restrict__ text,
    const u64 *__restrict__ planes, i64 n, const QuoteTile *__restrict__ tile,
    const u64 *__restrict__ within, i64 most, const ValueRun *__restrict__ run,
    u64 *__restrict__ solid, u64 *__restrict__ fault) {
  __shared__ u32 shared[33];
  __shared__ i32 shared_depth[33];
  __shared__ ValueRun shared_run[33];
  const i64 word = thread_index();
  const u64 mine = word * WORD < n ? within[word] & word_valid(n, word) : 0;
  if (!__syncthreads_or(mine != 0)) {
    if (solid && word * WORD < n) solid[word] = 0;
    return;
  }
  const QuoteTile t = tile[blockIdx.x];
  const WordClasses x = word_classes(planes, n, word, t, shared);
  i32 change = __popcll(x.open) - __popcll(x.close), total;
  const i64 depth = (i64)t.depth + block_exclusive(change, shared_depth, total);
  const ValueWord w = value_word(text, planes, n, word, t, x, within, mine);
  if (solid && word * WORD < n) solid[word] = w.solid;
  ValueRun all;
  const ValueRun before = block_value_runs(value_run(w, depth), shared_run, all);
  if (!w.token) return;
  const i64 first = word_fault(text, n, word, w, join(run[blockIdx.x], before), depth, most);
  if (first >= 0 && (u64)first < *(volatile u64 *)fault) atomicMin(fault, (u64)first);
}
