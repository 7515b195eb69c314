// gather.cu: elements by their index, and integers in fewer bytes. One thread, one element.
#include "core.cuh"

template <class T>
__device__ __forceinline__ void gather_elements(const T *__restrict__ from, i64 n,
    const i64 *__restrict__ index, i64 count, T *__restrict__ out) {
  const i64 i = thread_index();
  if (i >= count) return;
  const i64 at = index[i];
  out[i] = at >= 0 && at < n ? from[at] : 0;
}

KERNEL __launch_bounds__(BLOCK) gather_8(const u8 *__restrict__ from, i64 n,
    const i64 *__restrict__ index, i64 count, u8 *__restrict__ out) {
  gather_elements(from, n, index, count, out);
}

KERNEL __launch_bounds__(BLOCK) gather_32(const u32 *__restrict__ from, i64 n,
    const i64 *__restrict__ index, i64 count, u32 *__restrict__ out) {
  gather_elements(from, n, index, count, out);
}

KERNEL __launch_bounds__(BLOCK) gather_64(const u64 *__restrict__ from, i64 n,
    const i64 *__restrict__ index, i64 count, u64 *__restrict__ out) {
  gather_elements(from, n, index, count, out);
}

KERNEL __launch_bounds__(BLOCK) gather_narrow(
    const i64 *__restrict__ in, i64 n, i32 *__restrict__ out) {
  const i64 i = thread_index();
  if (i < n) out[i] = (i32)min(max(in[i], -0x80000000ll), 0x7fffffffll);
}
