// recode.cu: texts of a code page of one byte a character as UTF-8. Bytes below 0x80 are ASCII in
// all of them. One thread, one text; texts are short.
//
// buffer   elements     written by   what
// starts   texts        -            spans in the text; of more than RECODED bytes only the first ones count
// ends     texts        -            likewise
// upper    128          -            UTF-8 of the bytes from 0x80 on, first byte lowest, and above it, from
//                                    bit 24 on, how many bytes; 0: no character
// sizes    texts        sizes        bytes of each as UTF-8
// odd      1            sizes        FIXED_HIGH, where a byte is no character; 0 before
// out      room bytes   bytes        one text after the other; one that does not fit is left out
#include "fixed/fixed.cuh"

constexpr i64 RECODED = 256;

// Calls with(word, bytes) for words of up to 8 bytes of a text that are ASCII, or one character.
template <class With>
__device__ __forceinline__ void each_run(const u8 *__restrict__ text, i64 n, i64 start, i64 end,
    const u32 *__restrict__ upper, With with) {
  if (end > start + RECODED) end = start + RECODED;
  if (start < 0 || end > n) return;
  for (i64 at = start; at < end;) {
    const int left = (int)(end - at < 8 ? end - at : 8);
    const u64 v = load_window(text, n, at) & low_bytes(left);
    const int plain = v & HIGHS ? first_bit(v & HIGHS) >> 3 : left;
    if (plain) {
      with(v & low_bytes(plain), plain);
      at += plain;
    } else {
      const u32 c = upper[v & 0x7f];
      with(c & 0xffffff, (int)(c >> 24));
      at++;
    }
  }
}

KERNEL __launch_bounds__(BLOCK) recode_sizes(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 texts,
    const u32 *__restrict__ upper, i64 *__restrict__ sizes, u32 *__restrict__ odd) {
  const i64 i = thread_index();
  u32 state = FIXED_VALID;
  if (i < texts) {
    i64 size = 0;
    each_run(text, n, starts[i], ends[i], upper, [&](u64, int bytes) {
      size += bytes;
      if (!bytes) state = FIXED_HIGH;
    });
    sizes[i] = size;
  }
  add_state(odd, state);
}

KERNEL __launch_bounds__(BLOCK) recode_bytes(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 texts,
    const u32 *__restrict__ upper, const i64 *__restrict__ offsets, u8 *__restrict__ out,
    i64 room) {
  const i64 i = thread_index();
  if (i >= texts || offsets[i] == offsets[i + 1] || offsets[i + 1] > room) return;
  Writer to(out + offsets[i]);
  each_run(text, n, starts[i], ends[i], upper, [&](u64 v, int bytes) { to.put(v, bytes); });
  to.flush();
}
