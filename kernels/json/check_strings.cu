// check_strings.cu: the first byte of JSON text that no string may hold, or that stands outside of
// strings and may not.
//
// buffer   elements   written by      what
// tile     n/16384    -               see quote.cuh, joined: the state before each tile
// sound    n/16384    -               see structure.cu: what is known of the tile by then. Most tiles need no look
// fault    1          check_strings   the lowest byte offset found; all ones before
//
// A thread looks at 64 bytes at once, as planes. What lies before a word is needed for three
// things, and none of them walks:
//   escaped   by the tile's state and the words of the tile, as in quote.cuh
//   UTF-8     the three bytes before the word say how many bytes of a character are still to come
//   \uXXXX    looks ahead instead: the lane that has the u looks at the digits, up to four of them in the next word
// Words without backslashes and beyond ASCII, which nearly all are, do none of this.
#include "json/check_strings.cuh"

constexpr int CHECKED = 4;  // also in check_strings.go

// One word's bytes that are escaped; all threads of the block call. before: is the tile's first
// byte escaped.
__device__ __forceinline__ u64 escaped_in_tile(u64 bs, u32 before, u32 *shared) {
  u32 carry = 0, all;
  escaped_bytes(bs, carry);
  // 64 backslashes escape one another
  carry = block_state(bs == ~0ull ? (u32)STATE_KEPT : carry, before, shared, all);
  return escaped_bytes(bs, carry);
}

// The first byte of a thread's word that is at fault, or -1; all threads of a block call, for the
// words of one tile.
__device__ __forceinline__ i64 string_fault(
    const u8 *__restrict__ text, i64 n, i64 word, const QuoteTile &tile, u32 *shared) {
  const i64 start = word * WORD;
  const u64 valid = word_valid(n, word);
  const Planes p = load_planes(text, n, word);
  const u64 bs = bytes_equal(p, '\\');
  const u64 escaped =
      __syncthreads_or(bs != 0) || tile.odd ? escaped_in_tile(bs, tile.odd, shared) : 0;
  const u64 quotes = bytes_equal(p, '"') & ~escaped;
  u32 all, before = tile.quotes ^ block_parity(__popcll(quotes), shared, all);
  const u64 inside = prefix_xor(quotes) ^ (before ? ~0ull : 0);
  u64 wrong = (control_bytes(p) & inside) | (string_bytes(p, bs) & ~inside);
  if (utf8_to_check(text, n, word, p.b[7])) wrong |= utf8_faults(p, four_before(text, n, word));
  u32 reach = 0;
  if (escaped) wrong |= escape_faults(p, escaped, reach);
  wrong &= valid;
  if (wrong) return start + first_bit(wrong);
  const i64 behind = no_digit_behind(text, n, word, reach);
  // the last string has no end
  if (behind < 0 && valid && start + WORD >= n && inside >> (n - 1 - start) & 1) return n;
  return behind;
}

// A block goes over CHECKED tiles, and looks at those that are not known to be sound.
KERNEL __launch_bounds__(BLOCK) check_strings(const u8 *__restrict__ text, i64 n,
    const QuoteTile *__restrict__ tile, const u8 *__restrict__ sound, i64 tiles,
    u64 *__restrict__ fault) {
  __shared__ u32 shared[33];
  for (i64 i = (i64)blockIdx.x * CHECKED; i < tiles && i < ((i64)blockIdx.x + 1) * CHECKED; i++) {
    const QuoteTile t = tile[i];
    if (!t.odd && sound[i] >> t.quotes & 1) continue;
    const i64 first = string_fault(text, n, i * BLOCK + threadIdx.x, t, shared);
    if (first >= 0 && (u64)first < *(volatile u64 *)fault) atomicMin(fault, (u64)first);
  }
}
