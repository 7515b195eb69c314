// mark.cu: the union of spans as a mask, in a time that does not depend on their lengths.
//
// A span sets the bits of its first and last word itself. Of the words between, all full, it only
// says where they begin and where they end:
//
//   span       . . . a a a a a | a a a a a a a a | a a a a a a a a | a a . . . . . .
//   mask       . . . 1 1 1 1 1 |                 |                 | 1 1
//   change                     | +1              |                 | -1
//
// A word that more spans have begun before than ended is full.
//
// buffer   elements    written by    what
// change   n/64        edges         spans whose full words begin less those whose full words end here; 0 before
// tile     n/16384     tiles         sums of change; scanned before fill
// mask     n/64        edges, fill   0 before
#include "core.cuh"

// One thread, one span; among: which of them, or null.
KERNEL __launch_bounds__(BLOCK) mark_edges(const u32 *__restrict__ starts,
    const u32 *__restrict__ ends, const u64 *__restrict__ among, i64 count, i64 n,
    u64 *__restrict__ mask, i32 *__restrict__ change) {
  const i64 i = thread_index();
  if (i >= count || (among && !(among[i / 64] >> i % 64 & 1))) return;
  const i64 start = starts[i], end = min((i64)ends[i], n);
  if (start >= end) return;
  const i64 first = start / WORD, last = end / WORD;  // last: the word that is not full
  const u64 head = ~low_bits(start % WORD), tail = low_bits(end % WORD);
  if (first == last) {
    atomicOr(mask + first, head & tail);
    return;
  }
  atomicOr(mask + first, head);
  if (tail) atomicOr(mask + last, tail);
  if (last == first + 1) return;
  atomicAdd(change + first + 1, 1);
  if (last * WORD < n) atomicAdd(change + last, -1);
}

KERNEL __launch_bounds__(BLOCK) mark_tiles(
    const i32 *__restrict__ change, i64 words, i64 *__restrict__ tile) {
  __shared__ i32 shared[33];
  const i64 word = thread_index();
  const i32 sum = block_sum(word < words ? change[word] : 0, shared);
  if (threadIdx.x == 0) tile[blockIdx.x] = sum;
}

KERNEL __launch_bounds__(BLOCK) mark_fill(const i32 *__restrict__ change, i64 words,
    const i64 *__restrict__ tile, u64 *__restrict__ mask) {
  __shared__ i32 shared[33];
  const i64 word = thread_index();
  i32 all;
  const i32 here = word < words ? change[word] : 0, before = block_exclusive(here, shared, all);
  if (word < words && tile[blockIdx.x] + before + here > 0) mask[word] = ~0ull;
}
