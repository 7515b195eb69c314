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

struct FetchPiece {
  const u8 *from;
  u8 *to;
  i64 bytes;
};
struct FetchArgs {
  FetchPiece pieces[PIECES];
};

KERNEL __launch_bounds__(BLOCK) fetch(const __grid_constant__ FetchArgs args) {
  const u32 piece = blockIdx.x % PIECES;
  const u8 *from = args.pieces[piece].from;
  u8 *to = args.pieces[piece].to;
  const i64 n = args.pieces[piece].bytes;
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
