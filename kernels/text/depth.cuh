// depth.cuh: the bracket depth at a byte, and a tree of lowest depths in which the bracket that
// matches another one is found in bounded time.
//
// Depth is inclusive: an opener counts at itself, a closer no longer does.
//
//   text     { " a " : [ 1 , [ ] ] }
//   depth    1 1 1 1 1 2 2 2 3 2 1 0
//
// The tree has a node for each word, for each 32 words, for each 1024 and so on, up to a level of
// one node. A node holds
//   low    the lowest depth in its text: before its first byte, or at one of its bytes
//   some   from level 1 on: bit i is set if child i holds a bracket
//
//   level 2   low [ 1                               ]   some [ 1101 ]
//   level 1   low [ 3       | 1        | 2          ]   some [ 0110 | 0000 | 1001 ]
//   level 0   low [ 4 3 3 5 | 1 1 1 1  | 2 3 2 4    ]
//
// The closer of an opener at depth d lies in the first word after it whose low is less than d, and
// the opener of a closer that leaves depth d in the
// last word before it whose low is at most d. A search looks at 64 nodes a level at most, and there
// are 7 levels in a terabyte.
// The levels follow one another, each filled up to a multiple of 32 nodes; what fills level l up
// has the greatest low. Level 0 is in low only.
#pragma once
#include "core.cuh"

// What BracketDepth writes.
struct DepthIndex {
  const u64 *__restrict__ open;  // brackets outside strings
  const u64 *__restrict__ close;
  const i32 *__restrict__ base;  // depth before a word
  const i32 *__restrict__ low;
  const u32 *__restrict__ some;
  i64 words;
};

// ---- one word ----

// The bits up to and with the lowest set bit of v, which is not 0.
__device__ __forceinline__ u64 through_first(u64 v) { return v ^ (v - 1); }
// What the brackets among these bits change.
__device__ __forceinline__ int depth_change(u64 open, u64 close, u64 among) {
  return __popcll(open & among) - __popcll(close & among);
}
// The lowest depth in a word, relative to the depth before it. Only the last closer of a run can be
// at it.
__device__ __forceinline__ int word_low(u64 open, u64 close) {
  int low = 0;
  for (u64 ends = close & ~(close >> 1); ends; ends &= ends - 1)
    low = min(low, depth_change(open, close, through_first(ends)));
  return low;
}
// The first closer among these bits at which the depth, relative to that before the word, is less
// than limit; 64 if there is none.
__device__ __forceinline__ int word_first_below(u64 open, u64 close, u64 among, i64 limit) {
  for (u64 m = close & among; m; m &= m - 1)
    if (depth_change(open, close, through_first(m)) < limit) return first_bit(m);
  return 64;
}
// The last opener among these bits before which the depth, relative to that before the word, is at
// most limit; -1 if there is none.
__device__ __forceinline__ int word_last_opener(u64 open, u64 close, u64 among, i64 limit) {
  for (u64 m = open & among; m;) {
    int at = 63 - __clzll((i64)m);
    if (depth_change(open, close, low_bits(at)) <= limit) return at;
    m ^= 1ull << at;
  }
  return -1;
}
// The depth at byte pos, which lies in the text.
__device__ __forceinline__ i64 depth_at(const DepthIndex &x, i64 pos) {
  i64 word = pos / WORD;
  return x.base[word] + (i64)depth_change(x.open[word], x.close[word], low_bits(pos % WORD + 1));
}

// ---- the tree ----

__device__ __forceinline__ i64 tree_nodes(i64 words, int level) {
  return (words + (1ll << 5 * level) - 1) >> 5 * level;
}
__device__ __forceinline__ i64 tree_room(i64 words, int level) {
  return (tree_nodes(words, level) + 31) & ~31ll;
}

// Writes a word's depth and what the tree has of it; all threads of a warp call, each with the next
// word. depth: before the word. The last warp fills level 0 up.
__device__ __forceinline__ void depth_word(i64 depth, u64 open, u64 close, i64 word, i64 words,
    i32 *__restrict__ base, i32 *__restrict__ low, u32 *__restrict__ some) {
  i32 lowest = word < words ? depth_saturated(depth + word_low(open, close)) : (i32)DEPTH_MOST;
  if (word < words) base[word] = depth_saturated(depth);
  if (word < tree_room(words, 0)) low[word] = lowest;
  const u32 full = __ballot_sync(WARP, (open | close) != 0);
  lowest = __reduce_min_sync(WARP, lowest);
  if (lane_index() > 0 || word >= words) return;
  low[tree_room(words, 0) + word / 32] = lowest;
  some[word / 32] = full;
}

// The first of 32 nodes, from number from on, whose low is less than limit; 32 if there is none.
__device__ __forceinline__ int group_first(const i32 *__restrict__ group, int from, i32 limit) {
  for (int i = from & ~3; i < 32; i += 4) {
    int4 v = *(const int4 *)(group + i);
    u32 below = (v.x < limit) | (v.y < limit) << 1 | (v.z < limit) << 2 | (v.w < limit) << 3;
    if (i < from) below &= ~0u << (from - i);
    if (below) return i + __ffs((int)below) - 1;
  }
  return 32;
}
// The last of 32 nodes before number to whose low is less than limit; -1 if there is none.
__device__ __forceinline__ int group_last(const i32 *__restrict__ group, int to, i32 limit) {
  for (int i = (to - 1) & ~3; i >= 0; i -= 4) {
    int4 v = *(const int4 *)(group + i);
    u32 below = (v.x < limit) | (v.y < limit) << 1 | (v.z < limit) << 2 | (v.w < limit) << 3;
    if (i + 4 > to) below &= (1u << (to - i)) - 1;
    if (below) return i + 31 - __clz((int)below);
  }
  return -1;
}
// The first word after word whose low is less than limit; -1 if there is none.
//
//   level 2         3 | 1 . .          up while the rest of a group of siblings has none,
//   level 1   4 5 3 3 | 2 1 . .        then down to the first child each time
//   level 0   . w 7 7 | . . 4 1
__device__ __forceinline__ i64 tree_first_below(const DepthIndex &x, i64 word, i64 limit) {
  const i32 bound = depth_saturated(limit);
  i64 start = 0, node = word + 1;
  int level = 0, at;
  for (;;) {
    if (node >= tree_nodes(x.words, level)) return -1;
    at = node % 32 ? group_first(x.low + start + (node & ~31ll), (int)(node % 32), bound) : 32;
    if (at < 32) break;
    start += tree_room(x.words, level++);
    node = (node + 31) / 32;
  }
  for (node = (node & ~31ll) + at; level > 0; node = node * 32 + at) {
    start -= tree_room(x.words, --level);
    at = group_first(x.low + start + node * 32, 0, bound);
  }
  return node;
}
// The last word before word whose low is less than limit; -1 if there is none.
__device__ __forceinline__ i64 tree_last_below(const DepthIndex &x, i64 word, i64 limit) {
  const i32 bound = depth_saturated(limit);
  i64 start = 0, node = word;  // all that is asked for lies before it
  int level = 0, at;
  for (;;) {
    if (node == 0) return -1;
    at = node % 32 ? group_last(x.low + start + (node & ~31ll), (int)(node % 32), bound) : -1;
    if (at >= 0) break;
    start += tree_room(x.words, level++);
    node /= 32;
  }
  for (node = (node & ~31ll) + at; level > 0; node = node * 32 + at) {
    start -= tree_room(x.words, --level);
    at = group_last(x.low + start + node * 32, 32, bound);
  }
  return node;
}
// The lowest depth after word, up to the end of the text; DEPTH_MOST if nothing is after it. Once
// it is sure to be less than limit, any such depth.
__device__ __forceinline__ i64 tree_low_behind(const DepthIndex &x, i64 word, i64 limit) {
  i64 start = 0, node = word + 1, low = DEPTH_MOST;
  for (int level = 0; node < tree_nodes(x.words, level) && low >= limit; level++) {
    for (; node % 32; node++) low = min(low, (i64)x.low[start + node]);
    start += tree_room(x.words, level);
    node /= 32;
  }
  return low;
}

// ---- searches by byte ----

// The first byte after pos at which the depth is less than limit; -1 if there is none. For an
// opener at pos and its own depth: the closer that matches it.
__device__ __forceinline__ i64 first_below(const DepthIndex &x, i64 pos, i64 limit) {
  i64 word = pos / WORD;
  int at = word_first_below(
      x.open[word], x.close[word], ~low_bits(pos % WORD + 1), limit - x.base[word]);
  if (at == 64) {
    word = tree_first_below(x, word, limit);
    if (word < 0) return -1;
    at = word_first_below(x.open[word], x.close[word], ~0ull, limit - x.base[word]);
    if (at == 64) return -1;  // depths that passed DEPTH_MOST
  }
  return word * WORD + at;
}
// The first bracket at byte pos or after it, outside strings; -1 if there is none. pos lies in the
// text.
__device__ __forceinline__ i64 next_bracket(const DepthIndex &x, i64 pos) {
  i64 word = pos / WORD;
  u64 here = (x.open[word] | x.close[word]) & ~low_bits(pos % WORD);
  if (here) return word * WORD + first_bit(here);
  i64 start = 0, node = word;
  for (int level = 1;; level++) {
    u32 behind = x.some[start + node / 32] & ~((2u << node % 32) - 1);
    node /= 32;
    if (behind) {
      for (node = node * 32 + __ffs((int)behind) - 1; level > 1;
          node = node * 32 + __ffs((int)x.some[start + node]) - 1)
        start -= tree_room(x.words, --level);
      return node * WORD + first_bit(x.open[node] | x.close[node]);
    }
    if (tree_nodes(x.words, level) == 1) return -1;
    start += tree_room(x.words, level);
  }
}
