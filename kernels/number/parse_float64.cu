// parse_float64.cu: tokens to float64, one thread a token.
//
// buffer      elements    written by             what
// out         count       parse_float64          the values
// valid       count/64    parse_float64, resolve bit per token: out is its value
// undecided   count/64    parse_float64          bit per token: the host must look
//
// Neighbours in a warp read neighbouring text, so that a token of 18 bytes costs about as many of
// them. A warp takes as long as its longest token, of
// which decimal.cuh reads 1 KiB at most.
#include "number/float64.cuh"

KERNEL __launch_bounds__(BLOCK) parse_float64(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 count, u32 grammar,
    u64 *__restrict__ out, u64 *__restrict__ valid, u64 *__restrict__ undecided) {
  const i64 i = thread_index();
  Float64 v = {NAN_BITS, NUMBER_MALFORMED};
  if (i < count) {
    v = float64_of(text, n, starts[i], ends[i], grammar);
    out[i] = v.bits;
  }
  store_bits(valid, i, count, v.state == NUMBER_VALID);
  store_bits(undecided, i, count, v.state == NUMBER_UNDECIDED);
}

// Takes what the host says: value i is that of token index[i], or an infinity or NaN where it is
// none.
KERNEL __launch_bounds__(BLOCK) parse_float64_resolve(const i64 *__restrict__ index,
    const u64 *__restrict__ value, i64 count, u64 *__restrict__ out, u64 *__restrict__ valid) {
  const i64 i = thread_index();
  if (i >= count) return;
  i64 t = index[i];
  out[t] = value[i];
  if ((value[i] & INFINITY_BITS) != INFINITY_BITS) atomicOr(valid + t / 64, 1ull << t % 64);
}
