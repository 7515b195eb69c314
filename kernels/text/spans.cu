// spans.cu: where bracketed values end.
//
// buffer                        elements   what
// open, close, base, low, some             see depth.cuh
// starts                        count      bytes of the text
// ends                          count      one past the closer that ends each value
#include "text/depth.cuh"

// One thread, one span.
KERNEL __launch_bounds__(BLOCK) spans_ends(const u64 *__restrict__ open,
    const u64 *__restrict__ close, const i32 *__restrict__ base, const i32 *__restrict__ low,
    const u32 *__restrict__ some, i64 n, const i64 *__restrict__ starts, i64 count, i64 skip,
    i64 *__restrict__ ends) {
  const i64 i = thread_index();
  if (i >= count) return;
  const DepthIndex x = {open, close, base, low, some, (n + WORD - 1) / WORD};
  const i64 start = starts[i];
  i64 end = -1;
  if (start >= 0 && start < n && skip < n - start) {
    const i64 first = next_bracket(x, start + skip);
    if (first >= 0) end = first_below(x, first, depth_at(x, first));
  }
  ends[i] = end < 0 ? n : end + 1;
}
