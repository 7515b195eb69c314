// parse_int64.cu: tokens to int64, one thread a token.
//
// buffer    elements    written by    what
// out       count       parse_int64   the values, 0 where there is none
// valid     count/64    parse_int64   bit per token: out is its value
// overflow  count/64    parse_int64   bit per token: an integer, but none that int64 holds
//
// Neighbours in a warp read neighbouring text. A warp takes as long as its longest token, of which
// at most 1 KiB is read.
#include "number/integer.cuh"

KERNEL __launch_bounds__(BLOCK) parse_int64(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 count, u32 grammar,
    i64 *__restrict__ out, u64 *__restrict__ valid, u64 *__restrict__ overflow) {
  const i64 i = thread_index();
  u32 state = INTEGER_MALFORMED;
  if (i < count) {
    i64 start = starts[i], end = ends[i], value = 0;
    if (0 <= start && start < end && end <= n)
      state = read_integer(text, n, start, end, grammar, value);
    out[i] = value;
  }
  store_bits(valid, i, count, state == INTEGER_VALID);
  store_bits(overflow, i, count, state == INTEGER_OVERFLOW);
}
