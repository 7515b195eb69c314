// depth.cu: the depth of brackets and the tree of lowest depths.
//
// buffer   elements           written by      what
// tile     n/16384 + 1        -               what the tiles before change the depth by
// span     2                  words           the depth at the text's start, which is there, and at its end
// base     n/64               words           the depth before a word
// low      n/64 * 32/31       words, levels   see depth.cuh
// some     n/64 / 31          words, levels   see depth.cuh
#include "text/depth.cuh"

// One thread, one word. carry, where not null, gets the depth at the end.
KERNEL __launch_bounds__(BLOCK) depth_words(const u64 *__restrict__ open,
    const u64 *__restrict__ close, i64 words, const i64 *__restrict__ tile, i64 *__restrict__ span,
    i64 *__restrict__ carry, i32 *__restrict__ base, i32 *__restrict__ low,
    u32 *__restrict__ some) {
  __shared__ i32 shared[BLOCK / 32];
  const i64 word = thread_index();
  u64 opens = 0, closes = 0;
  if (word < words) opens = open[word], closes = close[word];
  i32 all;
  const i64 start = span[0], depth = start + tile[blockIdx.x] +
                                     tile_before(__popcll(opens) - __popcll(closes), shared, all);
  depth_word(depth, opens, closes, word, words, base, low, some);
  if (word > 0) return;
  span[1] = start + tile[gridDim.x];
  if (carry) *carry = span[1];
}

// One block: the levels from the second on, each from the one below, which it fills up. Four nodes
// a thread are on their way at a time.
KERNEL __launch_bounds__(SCAN, 1) depth_levels(
    i32 *__restrict__ low, u32 *__restrict__ some, i64 words) {
  constexpr int EACH = 4;
  low += tree_room(words, 0);
  for (int level = 1; tree_nodes(words, level) > 1; level++) {
    const i64 nodes = tree_nodes(words, level), room = tree_room(words, level);
    for (i64 from = threadIdx.x; from - threadIdx.x < nodes; from += EACH * SCAN) {
      i32 lowest[EACH];
      u32 full[EACH];
#pragma unroll
      for (int k = 0; k < EACH; k++) {
        const i64 node = from + k * SCAN;
        lowest[k] = node < nodes ? low[node] : (i32)DEPTH_MOST,
        full[k] = node < nodes && some[node] != 0;
      }
#pragma unroll
      for (int k = 0; k < EACH; k++) {
        const i64 node = from + k * SCAN;
        const i32 least = __reduce_min_sync(WARP, lowest[k]);
        const u32 bits = __ballot_sync(WARP, full[k]);
        if (node >= nodes && node < room) low[node] = (i32)DEPTH_MOST, some[node] = 0;
        if (lane_index() == 0 && node < nodes)
          low[room + node / 32] = least, some[room + node / 32] = bits;
      }
    }
    __syncthreads();
    low += room, some += room;
  }
}

// The depth at positions; the least 32-bit number for a position outside of the text.
KERNEL __launch_bounds__(BLOCK) depth_positions(const u64 *__restrict__ open,
    const u64 *__restrict__ close, const i32 *__restrict__ base, i64 n,
    const i64 *__restrict__ position, i64 count, i32 *__restrict__ depth) {
  const i64 i = thread_index();
  if (i >= count) return;
  const DepthIndex x = {open, close, base, nullptr, nullptr, (n + WORD - 1) / WORD};
  const i64 at = position[i];
  depth[i] = at >= 0 && at < n ? depth_saturated(depth_at(x, at)) : (i32)(-DEPTH_MOST - 1);
}
