// bounds.cu: where numbers may start and end.
//
// buffer      elements   written by   what
// inside      n/64                    bytes of strings, where no number is looked for; may be null
// start, end  n/64       bounds       first and last bytes of numbers
//
// One pass over the text: planes for all 64 bytes of a word at once, and the one byte before the
// word and after it by themselves.
#include "core.cuh"

// Up to 16 bytes that separate numbers, 8 in each half. What is left of the halves repeats one of
// them.
struct Separators {
  u64 low, high;
  u32 count;
};
// Is one of the 8 bytes of list equal to c.
__device__ __forceinline__ bool one_of_eight(u64 list, u32 c) {
  u64 v = list ^ c * 0x0101010101010101ull;
  return ((v - 0x0101010101010101ull) & ~v & 0x8080808080808080ull) != 0;
}
// Does byte c separate numbers; -1 is the file's edge and does.
__device__ __forceinline__ u64 separates(const Separators &s, i32 c) {
  return c < 0 || one_of_eight(s.low, (u32)c) || one_of_eight(s.high, (u32)c);
}
__device__ __forceinline__ u64 separator_bytes(const Planes &p, const Separators &s) {
  u64 r = 0;
  for (u32 i = 0; i < s.count; i++)
    r |= bytes_equal(p, (u32)((i < 8 ? s.low : s.high) >> i % 8 * 8) & 0xff);
  return r;
}

// before and after: the bytes next to the text, or -1. points: may a number start with a point.
//
//   text   [ - 1 . 5 , 2 ]
//   start  . 1 . . . . 1 .
//   end    . . . . 1 . 1 .
KERNEL __launch_bounds__(BLOCK) bounds(const u8 *__restrict__ text, i64 n,
    const u64 *__restrict__ inside, u64 low, u64 high, u32 count, u32 points, i32 before,
    i32 behind, u64 *__restrict__ start, u64 *__restrict__ end) {
  const i64 word = thread_index(), at = word * WORD;
  if (at >= n) return;
  const Separators s = {low, high, count};
  Planes p = load_planes(text, n, word);
  // digits 0011xxxx up to 9   + 00101011   - 00101101   . 00101110   E 01000101   e 01100101
  u64 row2 = ~p.b[7] & ~p.b[6] & p.b[5] & ~p.b[4],
      digit = ~p.b[7] & ~p.b[6] & p.b[5] & p.b[4] & ~(p.b[3] & (p.b[2] | p.b[1]));
  u64 sign = row2 & p.b[3] & p.b[0] & (p.b[2] ^ p.b[1]),
      point = row2 & p.b[3] & p.b[2] & p.b[1] & ~p.b[0];
  u64 letter = ~p.b[7] & p.b[6] & ~p.b[4] & ~p.b[3] & p.b[2] & ~p.b[1] & p.b[0];
  u64 valid = word_valid(n, word), here = valid & ~(inside ? inside[word] : 0);
  u64 separator = separator_bytes(p, s) & valid;
  i64 last = n - at < WORD ? n - at : WORD;  // bytes of the word
  u64 follows = separator << 1 | separates(s, at ? text[at - 1] : before);
  u64 precedes = separator >> 1 | separates(s, at + WORD < n ? text[at + WORD] : behind)
                                      << (last - 1);
  start[word] = (digit | sign | (points ? point : 0)) & follows & here;
  end[word] = (digit | sign | point | letter) & precedes & here;
}
