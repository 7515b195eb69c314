// strings_measure.cuh: a string of a column, measured by one thread, and the sums of a block of 256
// strings: see strings.cu.
#pragma once
#include "text/strings.cuh"

constexpr i64 PIECE = 256;  // bytes of a string that one thread reads

struct StringSummary {
  i64 replaced, bytes;  // bytes: of strings that have no pieces
  u32 flags;
  u32 has_long;  // not 0 if there are strings that have pieces
};

struct Span {
  i64 start, end;
};
// Empties a span that is not in the text, and returns whether it was one.
__device__ __forceinline__ bool clear_invalid(Span &s, i64 n) {
  const bool bad = s.start < 0 || s.end > n || s.start > s.end;
  if (bad) s.start = s.end = 0;
  return bad;
}
// The span of a string; one that is not in the text is empty, and bad.
__device__ __forceinline__ Span read_span(
    const i64 *starts, const i64 *ends, i64 i, i64 n, bool &bad) {
  Span s = {starts[i], ends[i]};
  bad = clear_invalid(s, n);
  return s;
}
__device__ __forceinline__ i64 pieces_of(Span s) {
  return s.end - s.start > PIECE ? (s.end - s.start + PIECE - 1) / PIECE : 0;
}

// Adds to the sums of the whole column; the warp calls together.
__device__ __forceinline__ void add_sums(StringSummary *sums, u32 flags, u32 replaced) {
  flags = __reduce_or_sync(WARP, flags), replaced = __reduce_add_sync(WARP, replaced);
  if (lane_index()) return;
  // seldom: they are soon all there
  if (flags & ~*(volatile u32 *)&sums->flags) atomicOr(&sums->flags, flags);
  if (replaced) atomicAdd((u64 *)&sums->replaced, (u64)replaced);
}

// The results for a column: as strings.cu has them.
struct StringColumn {
  i64 *offsets, *block_sums;
  u32 *flags;
  i64 *before, *first;
  StringSummary *summary;
};
// Measures string i, which is s, of a block's strings; one that has pieces is left out. bad: its
// span is not in the text. All threads of the block call.
__device__ __forceinline__ void measure_string(
    const Text &t, i64 i, i64 strings, Span s, bool bad, const StringColumn &to) {
  __shared__ i64 shared[33];
  __shared__ u32 shared_bytes[33];
  StringPart part = {0, 0, 0};
  const i64 pieces = pieces_of(s);
  if (i < strings && !pieces) part = walk_string<false>(t, s.start, s.start, s.end, s.end, nullptr);
  if (bad) part.flags = STRING_MALFORMED;
  u32 bytes;  // at most PIECE each
  const u32 bytes_before = block_exclusive((u32)part.bytes, shared_bytes, bytes);
  if (i < strings) to.offsets[i] = bytes_before;
  const i64 half = i >> 5, halves = (strings + WORD - 1) / WORD * 2;
#pragma unroll
  for (int f = 0; f < STRING_FLAGS; f++) {
    u32 bits = __ballot_sync(WARP, part.flags >> f & 1);
    if (lane_index() == 0 && half < halves) to.flags[f * halves + half] = bits;
  }
  add_sums(to.summary, part.flags, part.replaced);
  i64 all = 0;
  if (__syncthreads_or(pieces != 0)) {
    i64 mine = block_exclusive(pieces, shared, all);
    if (i < strings) to.before[i] = mine;
  }
  if (threadIdx.x > 0) return;
  const i64 block = i / BLOCK;
  to.first[block] = all, to.block_sums[block] = bytes;
  if (bytes) atomicAdd((u64 *)&to.summary->bytes, (u64)bytes);
  if (all && !*(volatile u32 *)&to.summary->has_long) atomicOr(&to.summary->has_long, 1u);
}
