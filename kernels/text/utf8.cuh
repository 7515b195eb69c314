// utf8.cuh: where 64 bytes of text, looked at at once, are no UTF-8.
#pragma once
#include "core.cuh"

// The bytes at which UTF-8 can't go on (RFC 3629 section 4). before: the four bytes before the
// word, the last one highest.
//
//   text     c3 a9 " e0 80 80 f5
//   tail     .  1  . .  1  1  .    bytes that continue a character
//   must     .  1  . .  1  1  .    bytes that must, by the bytes that lead
//   wrong    .  .  . .  1  .  1    e0 80 is overlong, f5 leads nothing
__device__ __forceinline__ u64 utf8_faults(const Planes &p, u32 before) {
  const u64 *b = p.b;
  const u64 high = b[7], tail = high & ~b[6], lead2 = high & b[6], lead3 = lead2 & b[5],
            lead4 = lead3 & b[4];
  const u32 last = before >> 24;
  // How much of what must follow lies in this word, if byte -1, -2 or -3 leads.
  u64 must = lead2 << 1 | lead3 << 2 | lead4 << 3;
#pragma unroll
  for (int back = 1; back <= 3; back++) {
    const u32 c = before >> (32 - 8 * back) & 255;
    const int follow = (c >= 0xc0) + (c >= 0xe0) + (c >= 0xf0);
    must |= ((1u << follow) - 1) >> (back - 1);
  }
  const u64 e0 = bytes_equal(p, 0xe0) << 1 | (last == 0xe0),
            ed = bytes_equal(p, 0xed) << 1 | (last == 0xed);
  const u64 f0 = bytes_equal(p, 0xf0) << 1 | (last == 0xf0),
            f4 = bytes_equal(p, 0xf4) << 1 | (last == 0xf4);
  const u64 second = (e0 & ~b[5]) | (ed & b[5]) | (f0 & ~(b[5] | b[4])) | (f4 & (b[5] | b[4]));
  const u64 overlong = lead2 & ~(b[5] | b[4] | b[3] | b[2] | b[1]),
            beyond = lead4 & (b[3] | (b[2] & (b[1] | b[0])));
  return (must ^ tail) | (second & tail) | overlong | beyond;
}
