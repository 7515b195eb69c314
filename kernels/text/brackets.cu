// brackets.cu: the masks of openers and closers. It is compiled anew for each set of brackets, with
// the set as constants.
//
// buffer   elements            what
// inside   n/64 or none        bytes in strings, where brackets do not count
// open     n/64                the openers
// close    n/64                the closers
// tile     n/16384, 1 or more  what a tile changes the depth by
// carry    1 or none           the depth at the text's start
// span     2                   gets that, at 0
#include "core.cuh"

// -DPAIRS=2 -DOPENERS=0x7b5bull -DCLOSERS=0x7d5dull sets what the arguments say otherwise: how many
// pairs, and their bytes, the first pair's lowest.
#ifndef PAIRS
#define PAIRS pairs
#define OPENERS openers
#define CLOSERS closers
#endif

KERNEL __launch_bounds__(BLOCK) brackets_tiles(const u8 *__restrict__ text, i64 n,
    const u64 *__restrict__ strings, [[maybe_unused]] u32 pairs, [[maybe_unused]] u64 openers,
    [[maybe_unused]] u64 closers, u64 *__restrict__ open, u64 *__restrict__ close,
    i64 *__restrict__ tile, const i64 *__restrict__ carry, i64 *__restrict__ span) {
  __shared__ i32 shared[33];
  const i64 word = thread_index(), words = (n + WORD - 1) / WORD;
  const Planes p = load_planes(text, n, word);
  const u64 outside = word < words ? word_valid(n, word) & ~(strings ? strings[word] : 0) : 0;
  u64 opens = 0, closes = 0;
#pragma unroll
  for (u32 i = 0; i < 8; i++) {
    if (i >= PAIRS) continue;
    opens |= bytes_equal(p, (u32)(OPENERS >> 8 * i) & 255);
    closes |= bytes_equal(p, (u32)(CLOSERS >> 8 * i) & 255);
  }
  opens &= outside, closes &= outside;
  if (word < words) open[word] = opens, close[word] = closes;
  i32 change = block_sum(__popcll(opens) - __popcll(closes), shared);
  if (threadIdx.x > 0) return;
  tile[blockIdx.x] = change;
  if (blockIdx.x == 0) span[0] = carry ? *carry : 0;
}
