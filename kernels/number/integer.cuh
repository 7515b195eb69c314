// integer.cuh: decimal text to int64, for one thread.
//
//   json     ["-"] ( "0" | digit1-9 *digit )
//   lenient  ["-" | "+"] 1*digit
#pragma once
#include "number/decimal.cuh"

enum { INTEGER_VALID, INTEGER_MALFORMED, INTEGER_OVERFLOW };

// Up to 8 bytes of text from at on, none of them at n or after it, the first one lowest.
__device__ __forceinline__ u64 load_up_to_eight(const u8 *__restrict__ text, i64 n, i64 at) {
  if (n - at > 8) return load_eight(text + at);
  u64 v = 0;
  for (i64 i = at; i < n; i++) v |= (u64)text[i] << 8 * (i - at);
  return v;
}

// The integer that text[at, limit) is, to value; text has n bytes, 0 <= at and limit <= n. A token
// of more than LONGEST bytes is INTEGER_OVERFLOW,
// whatever it says. value is 0 if there is none.
//
//   text     - 1 2 3 4 5 6 7 8 9 0 1
//   windows    |1 2 3 4 5 6 7 8|      12345678
//                              |9 0 1|  901, moved to the end of a window whose other digits are 0
__device__ __forceinline__ u32 read_integer(
    const u8 *__restrict__ text, i64 n, i64 at, i64 limit, u32 grammar, i64 &value) {
  value = 0;
  if (at >= limit) return INTEGER_MALFORMED;
  if (limit - at > LONGEST) return INTEGER_OVERFLOW;
  u32 sign = text[at];
  const bool negative = sign == '-';
  if (negative || (sign == '+' && grammar == GRAMMAR_LENIENT)) at++;
  u32 left = (u32)(limit - at);
  if (left == 0 || (grammar == GRAMMAR_JSON && left > 1 && text[at] == '0'))
    return INTEGER_MALFORMED;
  u64 v = 0, over = 0;
  while (left) {
    u32 k = left < 8 ? left : 8;
    u64 window = (load_up_to_eight(text, n, at) ^ 0x3030303030303030ull) << (64 - 8 * k);
    if (nondigits(window)) return INTEGER_MALFORMED;
    u64 part = eight_digits(window), tens = TENS[k];
    over |= __umul64hi(v, tens);
    v = v * tens + part;
    over |= v < part;
    at += k, left -= k;
  }
  if (over || v > (1ull << 63) - !negative) return INTEGER_OVERFLOW;
  value = (i64)(negative ? 0 - v : v);
  return INTEGER_VALID;
}
