// number_kinds.cuh: which kinds of number a token is.
#pragma once
#include "number/integer.cuh"
#include "number/short_number.cuh"

// Also in number_kinds.go.
enum {
  KIND_INT32 = 1 << 0,
  KIND_INT64 = 1 << 1,
  KIND_UINT64 = 1 << 2,
  KIND_HUGE = 1 << 3,
  KIND_REAL = 1 << 4,
  KIND_NEGATIVE = 1 << 5,
  KIND_MALFORMED = 1 << 6,
  KIND_RANGE = 1 << 7,
  KIND_INEXACT = 1 << 8,
  KIND_UNDECIDED = 1 << 9,
};
constexpr int FLOAT_BITS = 53;     // of a float64's significand
constexpr u32 WHOLE_DIGITS = 38;   // that 128 bits hold, whatever they are
constexpr u32 RANGE_DIGITS = 309;  // of the largest float64
// 20 digits times this power of ten, and of a lower one, are in float64's range
constexpr i32 SURE_POWER = 308 - 20;

// The number of 0 bits below the lowest 1 of 128; 128 for 0.
__device__ __forceinline__ int trailing_zeros(u64 high, u64 low) {
  return low ? first_bit(low) : 64 + first_bit(high);
}

// Whether a float64 holds an integer of more than WHOLE_DIGITS digits, at text[first, limit), of
// which low and high are the lowest 128 bits. It needs more than
// 126 bits, so that 126 + 1 - FLOAT_BITS of them must be 0 at the end. So must fewer than 23
// digits: 5^23 has more bits than a float64. What passes both,
// like 2^128, is undecided.
__device__ __forceinline__ u32 long_integer_kinds(
    const u8 *__restrict__ text, i64 first, i64 limit, u64 high, u64 low) {
  if (trailing_zeros(high, low) < 127 - FLOAT_BITS) return KIND_INEXACT;
  for (i64 i = limit - 23; i < limit; i++)
    if (text[i] != '0') return KIND_UNDECIDED;
  return KIND_INEXACT;
}

// Whether a number is beyond float64: it is RANGE, or 0, or undecided.
__device__ __forceinline__ u32 range_kinds(const Decimal &d) {
  if (d.power <= SURE_POWER || eisel_lemire(d.digits + d.cut, d.power) != INFINITY_BITS) return 0;
  return d.cut && eisel_lemire(d.digits, d.power) != INFINITY_BITS ? KIND_UNDECIDED : KIND_RANGE;
}

// The kinds of the number text[start, limit), of 1 to LONGEST bytes, that has a fraction or an
// exponent; and the number.
__device__ __forceinline__ u32 real_kinds(
    const u8 *__restrict__ text, i64 n, i64 start, i64 limit, Decimal &d) {
  const u32 left = (u32)(limit - start);
  d = read_decimal(text, n, start, left, GRAMMAR_JSON);
  if (!d.malformed && d.length == left) return KIND_REAL | range_kinds(d);
  d.malformed = 1, d.digits = 0;
  return KIND_MALFORMED;
}

// The kinds of an integer of 1 to WHOLE_DIGITS digits.
__device__ __forceinline__ u32 integer_kinds(bool negative, u64 high, u64 low) {
  const int width = high ? 128 - __clzll((i64)high) : 64 - __clzll((i64)low);
  const u32 inexact = width - trailing_zeros(high, low) > FLOAT_BITS ? KIND_INEXACT : 0;
  const u64 limit = (1ull << 63) - !negative;  // of int64; its upper half is the one of int32
  if (high || (negative && low > limit)) return KIND_HUGE | inexact;
  if (low > limit) return KIND_UINT64 | inexact;
  return (low <= limit >> 32 ? KIND_INT32 : KIND_INT64) | (negative && low ? KIND_NEGATIVE : 0) |
         inexact;
}

// The kinds of text[start, limit), and the number as rounded takes it; of more than LONGEST bytes
// no more than that they are too many. An integer of up to 64 bits
// keeps all of its digits, so that they are its absolute value, and -0 loses its sign.
//
//   text    12  -0  -0.0  18446744073709551615  18446744073709551616  7x
//   digits  12   0     0  18446744073709551615   1844674407370955161   0, malformed
//   power    0   0    -1                     0                     1
__device__ __forceinline__ u32 number_kinds_of(
    const u8 *__restrict__ text, i64 n, i64 start, i64 limit, Decimal &d) {
  d = {0, 0, 0, 0, 0, 1, 0};
  if (start < 0 || start >= limit || limit > n) return KIND_MALFORMED;
  if (limit - start > LONGEST) {
    d.length = LONGEST + 1;
    return KIND_UNDECIDED;
  }
  bool real;
  if (limit - start <= SHORT_BYTES && short_number(text, n, start, (u32)(limit - start), d, real)) {
    if (real) return KIND_REAL;
    const u32 kinds = integer_kinds(d.negative, 0, d.digits);
    d.negative &= d.digits != 0;
    return kinds;
  }
  const bool negative = text[start] == '-';
  const i64 first = start + negative;
  const u32 digits = (u32)(limit - first);
  u64 high = 0, low = 0;
  for (u32 at = 0; at < digits;) {
    const u32 k = digits - at < 8 ? digits - at : 8;
    const u64 window = (load_up_to_eight(text, n, first + at) ^ 0x3030303030303030ull)
                       << (64 - 8 * k);
    if (nondigits(window)) return real_kinds(text, n, start, limit, d);
    const u64 part = eight_digits(window), tens = TENS[k];
    high = high * tens + __umul64hi(low, tens);
    low = low * tens + part;
    high += low < part;
    at += k;
  }
  if (digits == 0 || (digits > 1 && text[first] == '0')) return KIND_MALFORMED;
  if (high || digits > WHOLE_DIGITS)
    long_digits(text + start, (u32)(limit - start), GRAMMAR_JSON, d);
  else d = {low, 0, 0, negative && low, 0, 0, 0};
  if (digits <= WHOLE_DIGITS) return integer_kinds(negative, high, low);
  const u32 beyond = digits < RANGE_DIGITS   ? 0
                     : digits > RANGE_DIGITS ? (u32)KIND_RANGE
                                             : range_kinds(d);
  return KIND_HUGE | beyond |
         (beyond ? (u32)KIND_INEXACT : long_integer_kinds(text, first, limit, high, low));
}

// The kinds of text[start, limit).
__device__ __forceinline__ u32 number_kinds_of(
    const u8 *__restrict__ text, i64 n, i64 start, i64 limit) {
  Decimal d;
  return number_kinds_of(text, n, start, limit, d);
}
