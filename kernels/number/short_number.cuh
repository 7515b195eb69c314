// short_number.cuh: numbers of up to 16 bytes, most of all, read in registers: without a loop, and
// with one or two accesses to the text.
//
//   json  ["-"] ( "0" | digit1-9 *digit ) [ "." 1*digit ]
//
//   text     - 1 2 . 4 1 9
//   others         1          bytes that are no digits, behind the minus
//   digits     1 2 4 1 9      what follows the point moves down over it
//   value    12419 * 10^-3    of digits moved to the end of 16, with zeros in front
#pragma once
#include "bytes.cuh"
#include "number/decimal.cuh"

constexpr u32 SHORT_BYTES = 16;

// The digits of 16 bytes ^ '0', the first one the lowest byte of low.
__device__ __forceinline__ u64 sixteen_digits(Sixteen v) {
  return (u64)eight_digits(v.low) * 100000000 + eight_digits(v.high);
}
// All bytes moved up by some, from 0 to 15, with zeros after them.
__device__ __forceinline__ Sixteen moved_up(Sixteen v, u32 bytes) {
  const u32 shift = bytes % 8 * 8;
  Sixteen r = {v.low << shift, shift ? v.high << shift | v.low >> (64 - shift) : v.high};
  if (bytes >= 8) r.high = r.low, r.low = 0;
  return r;
}
// The bytes of v below a place, from 0 to 15, and above it those that stand one above: what is at
// the place is left out.
__device__ __forceinline__ Sixteen without_byte(Sixteen v, u32 place) {
  const u64 low = low_bytes(min(place, 8u)), high = low_bytes(place < 8 ? 0 : place - 8);
  return {(v.low & low) | ((v.low >> 8 | v.high << 56) & ~low),
      (v.high & high) | (v.high >> 8 & ~high)};
}

// Reads text[start, start + length), of 1 to SHORT_BYTES bytes, of a text of n. real: it has a
// point. False where it is no number as above, or where its bytes can't be had at a
// time: then d is anything.
__device__ __forceinline__ bool short_number(
    const u8 *__restrict__ text, i64 n, i64 start, u32 length, Decimal &d, bool &real) {
  if (((start + length - 1) | 15) >= n) return false;
  Sixteen v = load_sixteen(text, start, length);
  const bool negative = (v.low & 0xff) == '-';
  const u32 count = length - negative;
  if (negative) v.low = v.low >> 8 | v.high << 56, v.high >>= 8;
  v.low ^= ONES * '0', v.high ^= ONES * '0';
  // As nondigits has it: what lies after the first one may be anything, unless that is a point.
  const u64 low = nondigits(v.low) & low_bytes(min(count, 8u)),
            high = nondigits(v.high) & low_bytes(count < 8 ? 0 : count - 8);
  const u32 whole = low ? (u32)first_bit(low) / 8 : high ? 8 + (u32)first_bit(high) / 8 : count;
  real = whole < count;
  if (whole == 0 || (whole > 1 && !(v.low & 0xff))) return false;
  if (real) {
    const u32 c = (u32)((whole < 8 ? v.low : v.high) >> whole % 8 * 8) & 0xff;
    if (c != ('.' ^ '0') || whole + 1 == count ||
        (low ? (low & (low - 1)) | high : high & (high - 1)))
      return false;
    v = without_byte(v, whole);
  }
  const u32 digits = count - real;
  d = {sixteen_digits(moved_up(v, SHORT_BYTES - digits)), real ? (i32)whole - (i32)digits : 0,
      length, negative, 0, 0, 0};
  return true;
}
