// check_strings.cuh: the bytes of a word that no string may hold, whether they stand in one or not.
#pragma once
#include "text/quote.cuh"
#include "text/utf8.cuh"

// The bytes that are hexadecimal digits: 30 to 39, 41 to 46, 61 to 66.
__device__ __forceinline__ u64 hex_digits(const Planes &p) {
  const u64 *b = p.b, ascii = ~b[7];
  const u64 digit = ascii & ~b[6] & b[5] & b[4] & ~(b[3] & (b[2] | b[1]));
  const u64 letter = ascii & b[6] & ~b[4] & ~b[3] & (b[2] | b[1] | b[0]) & ~(b[2] & b[1] & b[0]);
  return digit | letter;
}
__device__ __forceinline__ bool is_hex(u32 c) { return c - '0' < 10 || (c | 0x20) - 'a' < 6; }

// The bytes that no escape goes on with (RFC 8259 section 7). escaped: bytes after a backslash
// that counts. reach gets the bytes of the next word that must be
// digits, one bit each.
//
//   text     \ u 0 0 g 9 \ x
//   escaped  . 1 . . . . . 1
//   digits   . . 1 1 1 1 . .
//   wrong    . . . . 1 . . 1
__device__ __forceinline__ u64 escape_faults(const Planes &p, u64 escaped, u32 &reach) {
  const u64 u = bytes_equal(p, 'u') & escaped, digits = u << 1 | u << 2 | u << 3 | u << 4;
  reach = (u32)(u >> 63 | u >> 62 | u >> 61 | u >> 60);
  const u64 one = bytes_equal(p, '"') | bytes_equal(p, '\\') | bytes_equal(p, '/') |
                  bytes_equal(p, 'b') | bytes_equal(p, 'f') | bytes_equal(p, 'n') |
                  bytes_equal(p, 'r') | bytes_equal(p, 't');
  return (escaped & ~(one | u)) | (digits & ~hex_digits(p));
}

// The first byte after a word that is no digit of an escape begun in it, of as many as reach says;
// -1 if there is none.
__device__ __forceinline__ i64 no_digit_behind(
    const u8 *__restrict__ text, i64 n, i64 word, u32 reach) {
  const i64 behind = (word + 1) * WORD;
  for (int i = 0; reach >> i & 1 && behind + i < n; i++)
    if (!is_hex(text[behind + i])) return behind + i;
  return -1;
}
// The four bytes before a word of the text, the last one highest; 0 before the first.
__device__ __forceinline__ u32 four_before(const u8 *__restrict__ text, i64 n, i64 word) {
  return word > 0 && word * WORD < n ? *(const u32 *)(text + word * WORD - 4) : 0;
}
// Is there anything for utf8_faults in the words of a warp, or right before the first? All lanes
// call, and get the same.
__device__ __forceinline__ bool utf8_to_check(
    const u8 *__restrict__ text, i64 n, i64 word, u64 beyond_ascii) {
  return __any_sync(
      WARP, beyond_ascii != 0 || (lane_index() == 0 && (four_before(text, n, word) & 0x80808080u)));
}
// The bytes that may stand in strings only, and those that may only stand outside.
__device__ __forceinline__ u64 string_bytes(const Planes &p, u64 bs) { return bs | p.b[7]; }
__device__ __forceinline__ u64 control_bytes(const Planes &p) {
  return ~(p.b[7] | p.b[6] | p.b[5]);
}
