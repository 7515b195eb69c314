// arrays.cu: the elements of JSON arrays, or of the brackets of WKT, one array after the other,
// and where sorted values belong.
//
//   text      … [ {a} , {b} ] … [ ] … [{c}] …
//   out           {a} _ , _ {b} _ , {c} ,           _: blanks stay, but for those before the first element
//
// buffer    elements     written by   what
// firsts    arrays       measure      where each array's first element begins
// offsets   arrays + 1   measure      bytes of each array's elements with a comma after them; a scan makes
//                                     offsets of them
// out       bytes        join
//
// A thread makes eight bytes of the output, whatever array they are of: an array of millions of
// elements costs what millions of arrays cost.
#include "bytes.cuh"
#include "search.cuh"

constexpr i64 EMPTY_BLANKS = 256;  // what follows more counts as an element, blanks too

// One thread, one array. One that does not lie in the text is empty, and so is one that begins with
// a letter: EMPTY.
KERNEL __launch_bounds__(BLOCK) arrays_measure(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 arrays,
    i64 *__restrict__ firsts, i64 *__restrict__ sizes) {
  const i64 i = thread_index();
  if (i >= arrays) return;
  i64 from = starts[i], to = ends[i], size = 0;
  if (0 <= from && from < to && to <= n && to - from >= 2 && (text[from] | 0x20u) - 'a' >= 26) {
    from++, to--;
    const i64 look = min(to, from + EMPTY_BLANKS);
    while (from < look &&
           (text[from] == ' ' || text[from] == '\t' || text[from] == '\n' || text[from] == '\r'))
      from++;
    if (from < to) size = to - from + 1;
  }
  firsts[i] = from, sizes[i] = size;
}

KERNEL __launch_bounds__(BLOCK) arrays_join(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ firsts, const i64 *__restrict__ offsets, i64 arrays,
    u8 *__restrict__ out, i64 room) {
  const i64 at = thread_index() * 8;
  if (at >= room) return;
  i64 array = owner_of(offsets, 0, arrays, at), end = offsets[array + 1],
      text_at = firsts[array] + at - offsets[array];
  u64 v = 0;
  if (at + 8 < end) {
    v = load_window(text, n, text_at);
  } else {
    for (int b = 0; b < 8 && at + b < room; b++, text_at++) {
      if (at + b == end)
        array = owner_of(offsets, array, arrays, end), end = offsets[array + 1],
        text_at = firsts[array];
      v |= (u64)(at + b == end - 1 ? ',' : text[text_at]) << 8 * b;
    }
  }
  if (at + 8 <= room) *(u64 *)(out + at) = v;
  else
    for (int b = 0; at + b < room; b++) out[at + b] = (u8)(v >> 8 * b);
}

// One thread, one value.
KERNEL __launch_bounds__(BLOCK) arrays_rank(const i64 *__restrict__ sorted, i64 n,
    const i64 *__restrict__ values, i64 count, i64 *__restrict__ out) {
  const i64 i = thread_index();
  if (i < count) out[i] = lower_bound(sorted, 0, n, values[i]);
}
