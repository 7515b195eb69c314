// check_strings.cu: the first byte of JSON text that no string may hold, or that stands outside of strings and may not.
//
// buffer   elements   written by      what
// tile     n/16384    -               see quote.cuh, settled: the state before each tile
// fault    1          check_strings   the lowest byte offset found; all ones before
//
// A thread looks at 64 bytes at once, as planes. What lies before a word is needed for three things, and none of them walks:
//   escaped   by the tile's state and the words of the tile, as in quote.cuh
//   UTF-8     the three bytes before the word say how many bytes of a character are still to come
//   \uXXXX    looks ahead instead: whoever has the u looks at the digits, up to four of them in the next word
// Words without backslashes and beyond ASCII, which nearly all are, do none of this.
#include "quote.cuh"

// The bytes at which UTF-8 can't go on (RFC 3629 section 4). before: the four bytes before the word, the last one highest.
//
//   text     c3 a9 " e0 80 80 f5
//   tail     .  1  . .  1  1  .    bytes that continue a character
//   must     .  1  . .  1  1  .    bytes that must, by the bytes that lead
//   wrong    .  .  . .  1  .  1    e0 80 is overlong, f5 leads nothing
__device__ __forceinline__ u64 utf8_faults(const Planes &p, u32 before) {
  const u64 *b = p.b;
  const u64 high = b[7], tail = high & ~b[6], lead2 = high & b[6], lead3 = lead2 & b[5], lead4 = lead3 & b[4];
  const u32 last = before >> 24;
  // How much of what must follow lies in this word, if byte -1, -2 or -3 leads.
  u64 must = lead2 << 1 | lead3 << 2 | lead4 << 3;
#pragma unroll
  for (int back = 1; back <= 3; back++) {
    const u32 c = before >> (32 - 8 * back) & 255;
    const int follow = (c >= 0xc0) + (c >= 0xe0) + (c >= 0xf0);
    must |= ((1u << follow) - 1) >> (back - 1);
  }
  const u64 e0 = bytes_equal(p, 0xe0) << 1 | (last == 0xe0), ed = bytes_equal(p, 0xed) << 1 | (last == 0xed);
  const u64 f0 = bytes_equal(p, 0xf0) << 1 | (last == 0xf0), f4 = bytes_equal(p, 0xf4) << 1 | (last == 0xf4);
  const u64 second = (e0 & ~b[5]) | (ed & b[5]) | (f0 & ~(b[5] | b[4])) | (f4 & (b[5] | b[4]));
  const u64 overlong = lead2 & ~(b[5] | b[4] | b[3] | b[2] | b[1]), beyond = lead4 & (b[3] | (b[2] & (b[1] | b[0])));
  return (must ^ tail) | (second & tail) | overlong | beyond;
}

// The bytes that are hexadecimal digits: 30 to 39, 41 to 46, 61 to 66.
__device__ __forceinline__ u64 hex_digits(const Planes &p) {
  const u64 *b = p.b, ascii = ~b[7];
  const u64 digit = ascii & ~b[6] & b[5] & b[4] & ~(b[3] & (b[2] | b[1]));
  const u64 letter = ascii & b[6] & ~b[4] & ~b[3] & (b[2] | b[1] | b[0]) & ~(b[2] & b[1] & b[0]);
  return digit | letter;
}
__device__ __forceinline__ bool is_hex(u32 c) { return c - '0' < 10 || (c | 0x20) - 'a' < 6; }

// The bytes that no escape goes on with (RFC 8259 section 7). escaped: bytes behind a backslash that counts. reach gets the bytes of the next word that must be
// digits, one bit each.
//
//   text     \ u 0 0 g 9 \ x
//   escaped  . 1 . . . . . 1
//   digits   . . 1 1 1 1 . .
//   wrong    . . . . 1 . . 1
__device__ __forceinline__ u64 escape_faults(const Planes &p, u64 escaped, u32 &reach) {
  const u64 u = bytes_equal(p, 'u') & escaped, digits = u << 1 | u << 2 | u << 3 | u << 4;
  reach = (u32)(u >> 63 | u >> 62 | u >> 61 | u >> 60);
  const u64 one = bytes_equal(p, '"') | bytes_equal(p, '\\') | bytes_equal(p, '/') | bytes_equal(p, 'b') | bytes_equal(p, 'f') | bytes_equal(p, 'n') | bytes_equal(p, 'r') | bytes_equal(p, 't');
  return (escaped & ~(one | u)) | (digits & ~hex_digits(p));
}

// One word's bytes that are escaped; all threads of the block call. before: is the tile's first byte escaped.
__device__ __forceinline__ u64 escaped_in_tile(u64 bs, u32 before, u32 *shared) {
  u32 carry = 0, all;
  escaped_bytes(bs, carry);
  carry = block_state(bs == ~0ull ? (u32)STATE_KEPT : carry, before, shared, all);  // 64 backslashes escape one another
  return escaped_bytes(bs, carry);
}

KERNEL __launch_bounds__(BLOCK) check_strings(const u8 *__restrict__ text, i64 n, const QuoteTile *__restrict__ tile, u64 *__restrict__ fault) {
  __shared__ u32 shared[33];
  const i64 word = thread_index(), start = word * WORD;
  const u32 in_string = tile[blockIdx.x].quotes, escape = tile[blockIdx.x].odd;
  const u64 valid = word_valid(n, word);
  const Planes p = load_planes(text, n, word);
  const u64 bs = bytes_equal(p, '\\');
  const u64 escaped = __syncthreads_or(bs != 0) || escape ? escaped_in_tile(bs, escape, shared) : 0;
  const u64 quotes = bytes_equal(p, '"') & ~escaped;
  u32 all, before = in_string ^ block_parity(__popcll(quotes), shared, all);
  const u64 inside = prefix_xor(quotes) ^ (before ? ~0ull : 0);
  const u64 control = ~(p.b[7] | p.b[6] | p.b[5]);
  u64 wrong = (control & inside) | ((bs | p.b[7]) & ~inside);
  u32 reach = 0;
  if (escaped) wrong |= escape_faults(p, escaped, reach);
  // Of the words of a warp only the first looks at what lies before the warp, unless some byte is beyond ASCII.
  u32 bytes = start > 0 && start < n && lane_index() == 0 ? *(const u32 *)(text + start - 4) : 0;
  if (__any_sync(WARP, p.b[7] != 0 || (bytes & 0x80808080u))) {
    if (start > 0 && start < n) bytes = *(const u32 *)(text + start - 4);
    wrong |= utf8_faults(p, bytes);
  }
  wrong &= valid;
  i64 first = start + first_bit(wrong);
  if (!wrong) {
    first = -1;
    for (int i = 0; reach >> i & 1 && start + WORD + i < n && first < 0; i++)
      if (!is_hex(text[start + WORD + i])) first = start + WORD + i;
    if (first < 0 && valid && start + WORD >= n && inside >> (n - 1 - start) & 1) first = n;  // the last string has no end
  }
  if (first >= 0 && (u64)first < *(volatile u64 *)fault) atomicMin(fault, (u64)first);
}
