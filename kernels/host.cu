// host.cu: brings the text of a few items to one place, for the host to read.
//
// buffer  elements    written by      what
// token   2 * count   host_spans   start and length of each item
// copy    bytes       host_copy     their text, one after the other
#include "core.cuh"

// index holds the numbers of the items. Without ends an item is as much of the text as there is, up
// to window bytes.
KERNEL __launch_bounds__(BLOCK) host_spans(const i64 *__restrict__ starts,
    const i64 *__restrict__ ends, const i64 *__restrict__ index, i64 count, i64 n, i64 window,
    i64 *__restrict__ token) {
  const i64 i = thread_index();
  if (i >= count) return;
  i64 item = index[i], start = starts[item], left = n - start;
  token[2 * i] = start, token[2 * i + 1] = ends            ? ends[item] - start
                                           : left < window ? left
                                                           : window;
}

// A warp an item: item i goes to at[i], unless that is negative.
KERNEL __launch_bounds__(BLOCK) host_copy(const u8 *__restrict__ text,
    const i64 *__restrict__ token, const i64 *__restrict__ at, i64 count, u8 *__restrict__ copy) {
  const i64 i = thread_index() / 32;
  if (i >= count || at[i] < 0) return;
  for (i64 k = lane_index(); k < token[2 * i + 1]; k += 32)
    copy[at[i] + k] = text[token[2 * i] + k];
}
