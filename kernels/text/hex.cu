// hex.cu: bytes from hexadecimal digits, as WKB stands in CSV and XML.
//
// buffer    elements      written by       what
// sizes     spans + 1     sizes            bytes of each span; a scan makes offsets of them
// bad       spans/64      sizes, bytes     spans with an odd number of digits, or with a byte that is not one
// out       sum of sizes  bytes
//
// The bytes are shared out, not the spans: one thread writes 8 of them, of however many spans they
// are.
#include "bytes.cuh"
#include "search.cuh"

constexpr i64 HEX_BYTES = 8;  // that a thread writes

KERNEL __launch_bounds__(BLOCK) hex_sizes(i64 n, const i64 *__restrict__ starts,
    const i64 *__restrict__ ends, i64 spans, i64 *__restrict__ sizes, u32 *__restrict__ bad) {
  const i64 i = thread_index();
  bool wrong = false;
  if (i < spans) {
    i64 start = starts[i], end = ends[i];
    wrong = start < 0 || end > n || start > end || (end - start) % 2;
    sizes[i] = wrong ? 0 : (end - start) / 2;
  }
  u32 bits = __ballot_sync(WARP, wrong);
  if (lane_index() == 0 && i >> 5 < (spans + WORD - 1) / WORD * 2) bad[i >> 5] = bits;
}

// Reports a span, seldom more than once.
__device__ __forceinline__ void report_bad(u32 *bad, i64 span) {
  u32 bit = 1u << (span & 31);
  if (!(*(volatile u32 *)&bad[span >> 5] & bit)) atomicOr(&bad[span >> 5], bit);
}

KERNEL __launch_bounds__(BLOCK) hex_decode(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, i64 spans, const i64 *__restrict__ offsets,
    u8 *__restrict__ out, i64 room, u32 *__restrict__ bad) {
  __shared__ i64 bound[2];
  const i64 all = offsets[spans] < room ? offsets[spans] : room,
            block_from = (i64)blockIdx.x * BLOCK * HEX_BYTES;
  if (block_from >= all) return;
  // The spans of the block's first and last byte bound where its threads look.
  block_owners(offsets, 0, spans, block_from, min(block_from + BLOCK * HEX_BYTES, all) - 1, bound);
  const i64 from = thread_index() * HEX_BYTES;
  if (from >= all) return;
  const i64 to = from + HEX_BYTES < all ? from + HEX_BYTES : all;
  i64 span = owner_of(offsets, bound[0], bound[1] + 1, from), end = offsets[span + 1],
      at = starts[span] + 2 * (from - offsets[span]);
  u64 bytes = 0, wrong;
  if (from + HEX_BYTES <= end && to - from == HEX_BYTES) {
    u64 wrong_high;
    bytes = hex_bytes(load_window(text, n, at), wrong) |
            (u64)hex_bytes(load_window(text, n, at + 8), wrong_high) << 32;
    if (wrong | wrong_high) report_bad(bad, span);
  } else {
    for (i64 b = from; b < to; b++, at += 2) {
      if (b == end)
        span = owner_of(offsets, span, bound[1] + 1, b), end = offsets[span + 1], at = starts[span];
      u32 byte = hex_bytes(text[at] | text[at + 1] << 8 | 0x3030303030300000ull, wrong) & 255;
      if (wrong) report_bad(bad, span);
      bytes |= (u64)byte << 8 * (b - from);
    }
  }
  if (to - from == HEX_BYTES && ((u64)out & 7) == 0) {
    *(u64 *)(out + from) = bytes;
  } else {
    for (i64 b = from; b < to; b++) out[b] = (u8)(bytes >> 8 * (b - from));
  }
}
