// nesting.cu: does every closer match its opener?
//
// A word first matches brackets among its own bytes. A closer that is left over looks for its opener in the words before, by the tree of depth.cuh, and
// the next one goes on from there. Matched brackets never cross, so the pairs of words that brackets connect are fewer than twice the words: the work is
// linear in the bytes, and no word does more than 64 searches. An opener before the text is known by its depth alone:
//
//   text before   { " f " : [ { " a " : [ [      stack  0 curly  1 square  2 curly  3 square  4 square
//   text          1 ] ] } ]                      the closers leave depth 4, 3, 2, 1: each looks at the stack there
//
// buffer   elements        written by   what
// types    kinds * n/64    -            see brackets.cu
// stack    any             keep         pair of the bracket that is open at a depth, at the text's start; afterwards at its end
// result   1               check        see NestingResult
#include "depth.cuh"

// How a bracket is wrong; also in nesting.go.
enum { NESTING_SOUND, NESTING_UNOPENED, NESTING_MISMATCHED, NESTING_DEEP };
struct NestingResult {
  u64 first;      // byte offset * 4 + NESTING_* of the first wrong bracket; all ones if there is none
  u64 undecided;  // closers of brackets that the stack has no room for
};

// The pairs of a word's brackets.
struct PairPlanes {
  u64 bit[3];
  __device__ __forceinline__ PairPlanes(const u64 *__restrict__ types, u32 kinds, i64 words, i64 word) {
#pragma unroll
    for (u32 k = 0; k < 3; k++) bit[k] = k < kinds ? types[k * words + word] : 0;
  }
  __device__ __forceinline__ u32 at(int i) const { return (u32)(bit[0] >> i & 1) | (u32)(bit[1] >> i & 1) << 1 | (u32)(bit[2] >> i & 1) << 2; }
};

// Up to 64 pairs, the last on top, as three stacks of bits.
struct PairStack {
  u64 bit[3];
  __device__ __forceinline__ void push(u32 type) {
#pragma unroll
    for (int k = 0; k < 3; k++) bit[k] = bit[k] << 1 | (type >> k & 1);
  }
  __device__ __forceinline__ u32 pop() {
    u32 type = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) type |= (u32)(bit[k] & 1) << k, bit[k] >>= 1;
    return type;
  }
};

// One thread, one word.
KERNEL __launch_bounds__(BLOCK, 4) nesting_check(const u64 *__restrict__ open, const u64 *__restrict__ close, const i32 *__restrict__ base, const i32 *__restrict__ low, const u64 *__restrict__ types, u32 kinds, i64 words, const u8 *__restrict__ stack, i64 capacity, NestingResult *__restrict__ result) {
  const i64 word = thread_index();
  if (word >= words) return;
  const DepthIndex x = {open, close, base, low, nullptr, words};
  const u64 opens = open[word], closes = close[word];
  const i64 depth = base[word];
  u32 fault = NESTING_SOUND, undecided = 0;
  int at = 0, height = 0;  // height: openers of this word that are open
  PairStack own = {{0, 0, 0}};
  i64 outer = depth;       // brackets before this word that are open
  i64 from = word;         // the last opener found lies in this word, at this bit
  int bit = 0;
  const bool plain = kinds == 0 && low[word] >= 0;  // of one pair all brackets match
  const PairPlanes pairs(types, kinds, words, word);
  for (u64 m = plain ? 0 : opens | closes; m; m &= m - 1) {
    at = first_bit(m);
    const u32 type = pairs.at(at);
    if (opens >> at & 1) {
      own.push(type), height++;
      continue;
    }
    if (height > 0) {
      height--;
      if (own.pop() != type) fault = NESTING_MISMATCHED;
    } else if (--outer < 0) {
      fault = NESTING_UNOPENED;
    } else if (kinds > 0) {
      int found = from < 0 ? -1 : word_last_opener(open[from], close[from], low_bits(bit), outer - base[from]);
      if (from >= 0 && found < 0) {
        from = tree_last_below(x, from, outer + 1);
        if (from >= 0) found = word_last_opener(open[from], close[from], ~0ull, outer - base[from]);
      }
      bit = found;
      if (found >= 0) fault = PairPlanes(types, kinds, words, from).at(found) == type ? NESTING_SOUND : NESTING_MISMATCHED;
      else if (outer >= capacity) undecided++;
      else if (stack[outer] != type) fault = NESTING_MISMATCHED;
    }
    if (fault != NESTING_SOUND) break;
  }
  if (fault == NESTING_SOUND && (opens | closes) && (depth == DEPTH_MOST || depth == -DEPTH_MOST)) fault = NESTING_DEEP, at = first_bit(opens | closes);
  if (undecided) atomicAdd(&result->undecided, (u64)undecided);
  const u64 key = (u64)(word * WORD + at) << 2 | fault;
  if (fault != NESTING_SOUND && key < result->first) atomicMin(&result->first, key);
}

// One thread, one word: its openers that are open at the text's end go to the stack.
KERNEL __launch_bounds__(BLOCK) nesting_keep(const u64 *__restrict__ open, const u64 *__restrict__ close, const i32 *__restrict__ base, const i32 *__restrict__ low, const u64 *__restrict__ types, u32 kinds, i64 words, u8 *__restrict__ stack, i64 capacity) {
  const i64 word = thread_index();
  if (word >= words) return;
  const DepthIndex x = {open, close, base, low, nullptr, words};
  const u64 opens = open[word], closes = close[word];
  const i64 end = (i64)base[word] + depth_change(opens, closes, ~0ull), lowest = low[word];
  if (end <= lowest || lowest >= capacity) return;  // the word's openers are closed again in it, or above the stack
  // An opener stays open if the depth never falls below its own; the word's lowest that is open at its end has depth lowest + 1.
  i64 behind = min(end, tree_low_behind(x, word, lowest + 1));
  const PairPlanes pairs(types, kinds, words, word);
  for (u64 m = opens | closes; m && behind > lowest;) {
    const int at = 63 - __clzll((i64)m);
    const u64 bit = 1ull << at;
    const i64 depth = (i64)base[word] + depth_change(opens, closes, bit | (bit - 1));
    if (opens & bit && behind >= depth && depth > 0 && depth <= capacity) stack[depth - 1] = (u8)pairs.at(at);
    behind = min(behind, depth);
    m ^= bit;
  }
}
