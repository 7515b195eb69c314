// depth.cu: the depth of brackets and the tree of lowest depths.
//
// buffer   elements           written by      what
// tile     n/16384 + 1        -               what the tiles before change the depth by
// span     2                  words           the depth at the text's start, which is there, and at its end
// base     n/64               words           the depth before a word
// low      n/64 * 32/31       words, level    see depth.cuh
// some     n/64 / 31          words, level    see depth.cuh
#include "depth.cuh"

// One thread, one word. carry, where not null, gets the depth at the end.
KERNEL __launch_bounds__(BLOCK) depth_words(const u64 *__restrict__ open, const u64 *__restrict__ close, i64 words, const i64 *__restrict__ tile, i64 *__restrict__ span, i64 *__restrict__ carry, i32 *__restrict__ base, i32 *__restrict__ low, u32 *__restrict__ some) {
  __shared__ i32 shared[33];
  const i64 word = thread_index();
  u64 opens = 0, closes = 0;
  if (word < words) opens = open[word], closes = close[word];
  i32 all;
  const i64 start = span[0], depth = start + tile[blockIdx.x] + block_exclusive(__popcll(opens) - __popcll(closes), shared, all);
  depth_word(depth, opens, closes, word, words, base, low, some);
  if (word > 0) return;
  span[1] = start + tile[gridDim.x];
  if (carry) *carry = span[1];
}

// One thread, one node of level - 1, which it fills up; a warp makes a node of level, from 2 on.
KERNEL __launch_bounds__(BLOCK) depth_level(i32 *__restrict__ low, u32 *__restrict__ some, i64 words, i32 level) {
  const i64 node = thread_index(), below = tree_nodes(words, level - 1), room = tree_room(words, level - 1);
  i64 start = 0;
  for (int l = 1; l < level - 1; l++) start += tree_room(words, l);
  i32 *lower = low + tree_room(words, 0) + start;
  const i32 lowest = __reduce_min_sync(WARP, node < below ? lower[node] : (i32)DEPTH_MOST);
  const u32 full = __ballot_sync(WARP, node < below && some[start + node] != 0);
  if (node >= below && node < room) lower[node] = (i32)DEPTH_MOST, some[start + node] = 0;
  if (lane_index() > 0 || node >= below) return;
  lower[room + node / 32] = lowest;
  some[start + room + node / 32] = full;
}

// The depth at positions; the least 32-bit number for a position outside of the text.
KERNEL __launch_bounds__(BLOCK) depth_positions(const u64 *__restrict__ open, const u64 *__restrict__ close, const i32 *__restrict__ base, i64 n, const i64 *__restrict__ position, i64 count, i32 *__restrict__ depth) {
  const i64 i = thread_index();
  if (i >= count) return;
  const DepthIndex x = {open, close, base, nullptr, nullptr, (n + WORD - 1) / WORD};
  const i64 at = position[i];
  depth[i] = at >= 0 && at < n ? depth_saturated(depth_at(x, at)) : (i32)(-DEPTH_MOST - 1);
}
