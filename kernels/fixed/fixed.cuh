// fixed.cuh: what a field of fixed width says, for one thread.
//
// What is a null is decided here: blanks (20 and 00), all asterisks, and what the type adds. What
// is neither that nor a value is malformed.
#pragma once
#include "number/dates.cuh"

// From FIXED_MALFORMED on also in fixed_columns.go, as bits: an invalid deletion flag, and a
// text with a byte that is no character.
enum {
  FIXED_VALID,
  FIXED_NULL,
  FIXED_MALFORMED,
  FIXED_OVERFLOW,
  FIXED_FRACTION,
  FIXED_UNDECIDED,
  FIXED_FLAG,
  FIXED_HIGH
};

// Adds what a warp found to odd.
__device__ __forceinline__ void add_state(u32 *odd, u32 state) {
  const u32 all = __reduce_or_sync(WARP, state >= FIXED_MALFORMED ? 1u << state : 0);
  if (all && lane_index() == 0) atomicOr(odd, all);
}

// Bit 7 of each byte of v that is no blank, among the first n.
__device__ __forceinline__ u64 ink(u64 v, i64 n) {
  return ~(zero_bytes(v) | zero_bytes(v ^ ONES * ' ')) & HIGHS & low_bytes(n);
}

struct Field {
  i64 start, end;
};
// A record's field without the blanks around it.
__device__ __forceinline__ Field trimmed_field(
    const u8 *__restrict__ text, i64 n, i64 at, i64 width) {
  Field f = {at, at + width};
  for (u64 seen = 0; f.start < f.end && !seen;) {
    seen = ink(load_window(text, n, f.start), f.end - f.start);
    f.start += first_bit(seen) >> 3;
  }
  if (f.start >= f.end) f.start = f.end = at;
  while (f.start < f.end) {
    i64 from = f.end - 8 > f.start ? f.end - 8 : f.start;
    u64 seen = ink(load_window(text, n, from), f.end - from);
    f.end = seen ? from + 8 - (__clzll((i64)seen) >> 3) : from;
    if (seen) break;
  }
  return f;
}
// Nothing but asterisks is how dBASE writes a number that does not fit its field.
__device__ __forceinline__ bool is_null(const u8 *__restrict__ text, Field f) {
  while (f.start < f.end && text[f.start] == '*') f.start++;
  return f.start == f.end;
}

// The integer that a field spells; with digits after a point or an exponent it is a number, but no
// integer.
__device__ __forceinline__ u32 read_integer(
    const u8 *__restrict__ text, i64 n, Field f, i64 &value) {
  const u8 *at = text + f.start;
  const u32 left = (u32)(f.end - f.start);
  Decimal d;
  if (n - f.start < WINDOWS || !short_digits(at, left, GRAMMAR_LENIENT, d))
    long_digits(at, left, GRAMMAR_LENIENT, d);
  const u32 digits = d.length;
  if (!d.malformed) exponent_digits(at, left, d);
  if (d.malformed || d.length != left) return FIXED_MALFORMED;
  if (d.power < 0 || d.length != digits) return FIXED_FRACTION;
  if (d.power > 0 || d.digits > 0x7fffffffffffffffull + d.negative) return FIXED_OVERFLOW;
  value = (i64)(d.negative ? 0 - d.digits : d.digits);
  return FIXED_VALID;
}

// YYYYMMDD. All zeros is a null.
__device__ __forceinline__ u32 read_date(u64 v, i32 &days) {
  const u64 digits = v ^ ONES * '0';
  if (!ink(v, 8) || !digits || v == ONES * '*') return FIXED_NULL;
  return date_of(digits, days) ? FIXED_VALID : FIXED_MALFORMED;
}
