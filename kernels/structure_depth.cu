// structure_depth.cu: what depth.cu makes of a text and its strings, made of its structure.
//
// buffer                                          elements   what
// planes                                          3 * n/64   see structure.cu
// tile                                            n/16384    see quote.cuh, settled
// open, close, types, span, base, low, some                  see brackets.cu and depth.cu; pair 0 is [ ], pair 1 { }
#include "depth.cuh"
#include "structure.cuh"

KERNEL __launch_bounds__(BLOCK) structure_depth(const u64 *__restrict__ planes, i64 n, const QuoteTile *__restrict__ tile, u64 *__restrict__ open, u64 *__restrict__ close, u64 *__restrict__ types, i64 *__restrict__ span, i32 *__restrict__ base, i32 *__restrict__ low, u32 *__restrict__ some) {
  __shared__ u32 shared[33];
  __shared__ i32 shared_depth[BLOCK / 32];
  const i64 word = thread_index(), words = (n + WORD - 1) / WORD;
  const QuoteTile t = tile[blockIdx.x];
  const WordClasses w = word_classes(planes, n, word, t, shared);
  const i32 change = __popcll(w.open) - __popcll(w.close);
  i32 all;
  const i64 depth = t.depth + tile_before(change, shared_depth, all);
  if (word < words) open[word] = w.open, close[word] = w.close, types[word] = w.curly;
  if (word == 0) span[0] = depth;
  if (word == words - 1) span[1] = depth + change;
  depth_word(depth, w.open, w.close, word, words, base, low, some);
}
