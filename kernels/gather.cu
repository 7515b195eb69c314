// gather.cu: elements by their index, integers in fewer bytes, and zeros where there is no value. One thread, one element.
#include "vf.cuh"

template <class T>
__device__ __forceinline__ void gather_elements(const T *__restrict__ from, i64 n, const i64 *__restrict__ index, i64 count, T *__restrict__ out) {
  const i64 i = thread_index();
  if (i >= count) return;
  const i64 at = index[i];
  out[i] = at >= 0 && at < n ? from[at] : 0;
}

KERNEL __launch_bounds__(BLOCK) gather_8(const u8 *__restrict__ from, i64 n, const i64 *__restrict__ index, i64 count, u8 *__restrict__ out) { gather_elements(from, n, index, count, out); }

KERNEL __launch_bounds__(BLOCK) gather_32(const u32 *__restrict__ from, i64 n, const i64 *__restrict__ index, i64 count, u32 *__restrict__ out) { gather_elements(from, n, index, count, out); }

KERNEL __launch_bounds__(BLOCK) gather_64(const u64 *__restrict__ from, i64 n, const i64 *__restrict__ index, i64 count, u64 *__restrict__ out) { gather_elements(from, n, index, count, out); }

KERNEL __launch_bounds__(BLOCK) gather_narrow(const i64 *__restrict__ in, i64 n, i32 *__restrict__ out) {
  const i64 i = thread_index();
  if (i < n) out[i] = (i32)min(max(in[i], -0x80000000ll), 0x7fffffffll);
}

// Only what changes is written: where all values are there, nothing is.
template <class T>
__device__ __forceinline__ void gather_valid(T *__restrict__ values, i64 n, const u64 *__restrict__ valid) {
  const i64 i = thread_index();
  if (i < n && !(valid[i / 64] >> i % 64 & 1)) values[i] = 0;
}

KERNEL __launch_bounds__(BLOCK) gather_valid_8(u8 *__restrict__ values, i64 n, const u64 *__restrict__ valid) { gather_valid(values, n, valid); }

KERNEL __launch_bounds__(BLOCK) gather_valid_32(u32 *__restrict__ values, i64 n, const u64 *__restrict__ valid) { gather_valid(values, n, valid); }

KERNEL __launch_bounds__(BLOCK) gather_valid_64(u64 *__restrict__ values, i64 n, const u64 *__restrict__ valid) { gather_valid(values, n, valid); }
