// float64.cuh: a token to float64, for one thread.
#pragma once
#include "number/decimal.cuh"

constexpr u64 ONE_BITS = 0x3ff0000000000000ull;  // 1.0

struct Float64 {
  u64 bits;   // a NaN where there is no number
  u32 state;  // NUMBER_*
};

// The number that text[start, end) is, and nothing else; the text has n bytes.
__device__ __forceinline__ Float64 float64_of(
    const u8 *__restrict__ text, i64 n, i64 start, i64 end, u32 grammar) {
  Float64 v = {NAN_BITS, NUMBER_MALFORMED};
  if (start < 0 || start >= end || end > n) return v;
  const Number r = read_number(text, n, start, end, grammar);
  if (r.length <= LONGEST && start + r.length != end) return v;
  if (r.state != NUMBER_MALFORMED) v.bits = r.bits;
  v.state = r.state;
  return v;
}
