// pattern.cu: where a string of bytes occurs. It is compiled anew for each pattern, with the
// pattern as constants.
//
// The planes of a word tell for all its bytes at once where a byte of the pattern is. Up to 4 bytes
// of the pattern, those that are rare in data, are
// looked for in that way; where all of them are in place, the text is compared:
//
//   pattern     " t y p e "       probes  y at place 2, p at place 3
//   text        { " t y p e " :
//   y           . . . 1 . . . .   moved by 2   . 1 . . . . . .
//   p           . . . . 1 . . .   moved by 3   . 1 . . . . . .
//   candidates                                 . 1 . . . . . .
//
// A text of nothing but candidates costs an eighth of the pattern's length in comparisons for each
// byte, and no more.
//
// buffer   elements        what
// inside   n/64 or none    bytes in strings
// pattern  length/8        its bytes, the first lowest, filled up with anything; none where the pattern is compiled in
// hits     n/64            the first bytes of occurrences
#include "bytes.cuh"

// -DLENGTH=6 -DPROBES=0x7079u -DPLACES=0x0302u -DCHECK=5 -DPATTERN=0x226570797422ull sets what the
// arguments say otherwise: the bytes to look for and their
// places, lowest first, 4 or LENGTH of them; the place that must lie outside of strings; the words
// of the pattern.
#ifdef LENGTH
static __constant__ const u64 WORDS[] = {PATTERN};
#else
#define LENGTH length
#define PROBES probes
#define PLACES places
#define CHECK check
#define WORDS pattern
#endif

constexpr int MAX_PROBES = 4;
// words a block matches; its last thread reads the word after them
constexpr i64 MATCHED = BLOCK - 1;

KERNEL __launch_bounds__(BLOCK) pattern_match(const u8 *__restrict__ text, i64 n,
    const u64 *__restrict__ inside, [[maybe_unused]] const u64 *__restrict__ pattern,
    [[maybe_unused]] u32 length, [[maybe_unused]] u32 probes, [[maybe_unused]] u32 places,
    [[maybe_unused]] u32 check, u64 *__restrict__ hits) {
  __shared__ u64 found[MAX_PROBES][BLOCK];
  const i64 word = blockIdx.x * MATCHED + threadIdx.x, words = (n + WORD - 1) / WORD;
  const Planes p = load_planes(text, n, word);
#pragma unroll
  for (u32 i = 0; i < MAX_PROBES; i++)
    if (i < LENGTH) found[i][threadIdx.x] = bytes_equal(p, PROBES >> 8 * i & 255);
  __syncthreads();
  if (threadIdx.x == MATCHED || word >= words) return;
  u64 hit = word_valid(n - (i64)LENGTH + 1, word);
#pragma unroll
  for (u32 i = 0; i < MAX_PROBES; i++) {
    if (i >= LENGTH) continue;
    const u32 place = PLACES >> 8 * i & 255;
    hit &= found[i][threadIdx.x] >> place | found[i][threadIdx.x + 1] << 1 << (63 - place);
  }
  if (inside && hit) {
    const i64 at = word + CHECK / 64;
    const u32 shift = CHECK % 64;
    u64 strings = inside[at] >> shift;  // a hit ends in the text, so that the word is there
    if (at + 1 < words) strings |= inside[at + 1] << 1 << (63 - shift);
    hit &= ~strings;
  }
  if (LENGTH > MAX_PROBES)
    for (u64 m = hit; m; m &= m - 1) {
      const i64 at = word * WORD + first_bit(m);
      u64 differ = 0;
      for (u32 i = 0; i < LENGTH && !differ; i += 8) {
        differ = load_window(text, n, at + i) ^ WORDS[i / 8];
        if (LENGTH - i < 8) differ &= low_bytes(LENGTH - i);
      }
      if (differ) hit ^= m & (0 - m);
    }
  hits[word] = hit;
}
