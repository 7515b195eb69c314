// ranks.cu: where a byte of a text is in what a mask keeps of the text.
//
// Compact text is the bytes that a mask keeps, one after the other. Where a byte of the text lies
// in there is a count of bits: those of the words before, which a
// scan has added up, and those before it in its own word. So a value of any length has its place
// with two looks.
//
//   text   { " a " :   1 } , { " b " : 2 }
//   kept   1 1 1 1 1 . 1 1 . 1 1 1 1 1 1 1
//   rank   0             6   7             14    of the first bytes of both values, and after the last
//
// buffer   elements     written by   what
// ranks    n/64 + 1     words        bits of each word; a scan makes sums of them
// starts   rows         spans        byte offsets; ranks of them afterwards
// ends     rows         spans        likewise
#include "core.cuh"

KERNEL __launch_bounds__(BLOCK) ranks_words(
    const u64 *__restrict__ mask, i64 words, i64 *__restrict__ ranks) {
  const i64 word = thread_index();
  if (word <= words) ranks[word] = word < words ? __popcll(mask[word]) : 0;
}

// The set bits before byte at, which is in the text or after its end.
__device__ __forceinline__ i64 rank_of(
    const u64 *__restrict__ mask, const i64 *__restrict__ ranks, i64 words, i64 at) {
  const i64 word = min(max(at, 0ll) / WORD, words);
  return ranks[word] + (word < words ? __popcll(mask[word] & low_bits(max(at, 0ll) % WORD)) : 0);
}

KERNEL __launch_bounds__(BLOCK) ranks_spans(const u64 *__restrict__ mask, i64 words,
    const i64 *__restrict__ ranks, i64 count, i64 *__restrict__ starts, i64 *__restrict__ ends) {
  const i64 i = thread_index();
  if (i >= count) return;
  starts[i] = rank_of(mask, ranks, words, starts[i]),
  ends[i] = rank_of(mask, ranks, words, ends[i]);
}
