// fetch.cu: short results to the host, several in one launch. Stores to page-locked memory go over
// the link by themselves: they wait for no copy of another stream, as a
// copy would, and the driver is asked once for all of them.
//
// Piece i is bytes_i bytes at from_i, which go to to_i. Blocks take pieces in turns; those of a
// piece take its words in turns.
#include "core.cuh"

constexpr int PIECES = 8;
// words that a thread has on their way: all of its own, of a piece of up to 128 KiB
constexpr int AHEAD = 4;

KERNEL __launch_bounds__(BLOCK) fetch(const u8 *from0, u8 *to0, i64 bytes0, const u8 *from1,
    u8 *to1, i64 bytes1, const u8 *from2, u8 *to2, i64 bytes2, const u8 *from3, u8 *to3, i64 bytes3,
    const u8 *from4, u8 *to4, i64 bytes4, const u8 *from5, u8 *to5, i64 bytes5, const u8 *from6,
    u8 *to6, i64 bytes6, const u8 *from7, u8 *to7, i64 bytes7) {
  const u32 piece = blockIdx.x % PIECES;
  const u8 *from = select(piece, from0, from1, from2, from3, from4, from5, from6, from7);
  u8 *to = select(piece, to0, to1, to2, to3, to4, to5, to6, to7);
  const i64 n = select(piece, bytes0, bytes1, bytes2, bytes3, bytes4, bytes5, bytes6, bytes7);
  const i64 first = (i64)(blockIdx.x / PIECES) * BLOCK + threadIdx.x,
            step = (i64)(gridDim.x / PIECES) * BLOCK;
  const i64 words = ((u64)from | (u64)to) % 8 ? 0 : n / 8;
  for (i64 i = first; i < words; i += AHEAD * step) {
    u64 v[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (i + k * step < words) v[k] = ((const u64 *)from)[i + k * step];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (i + k * step < words) ((u64 *)to)[i + k * step] = v[k];
  }
  for (i64 i = words * 8 + first; i < n; i += step) to[i] = from[i];
}
