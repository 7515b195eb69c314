// core.cuh: what several kernels need. Plain CUDA C++ without headers, so that NVRTC takes it as it
// is and the emulation after its own headers.
//
// Masks hold one bit per byte of text: bit i % 64 of word i / 64 belongs to byte i. One thread
// makes one word, of 64 bytes of text.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#define KERNEL extern "C" __global__ void
#ifndef DYN_SHARED
#define DYN_SHARED(T, name) extern __shared__ T name[]
#endif

constexpr u32 WARP = 0xffffffffu;   // all lanes
constexpr i64 WORD = 64;            // bytes of text a mask word stands for
constexpr int BLOCK = 256;          // threads of a block that reads text
constexpr i64 TILE = WORD * BLOCK;  // bytes of text such a block reads: 16 KiB
constexpr int SCAN = 1024;          // threads of the one block that joins tiles

__device__ __forceinline__ i64 thread_index() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int lane_index() { return threadIdx.x & 31; }

// ---- bits of a word ----

// The n lowest bits; n from 0 to 64.
__device__ __forceinline__ u64 low_bits(i64 n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
// The lowest set bit's place; 64 for 0.
__device__ __forceinline__ int first_bit(u64 v) { return v ? __ffsll((i64)v) - 1 : 64; }
// Bit i is the exclusive-or of the bits 0 to i:
//   v       ..1...1..1
//   result  ..1111...1  read from the right: on from a set bit, off from the next
__device__ __forceinline__ u64 prefix_xor(u64 v) {
  v ^= v << 1, v ^= v << 2, v ^= v << 4, v ^= v << 8, v ^= v << 16, v ^= v << 32;
  return v;
}
// The bits of a word that lie before byte n of the text.
__device__ __forceinline__ u64 word_valid(i64 n, i64 word) {
  i64 left = n - word * WORD;
  return left <= 0 ? 0 : low_bits(left);
}

// Writes a bit of each lane to bit i of mask, which has one for each of count items. All lanes of a
// warp call, with 32 items in a row from a multiple of 32 on;
// warps go on to the end of the mask's last word.
__device__ __forceinline__ void store_bits(u64 *mask, i64 i, i64 count, u32 bit) {
  u32 bits = __ballot_sync(WARP, bit);
  if (lane_index() == 0 && i < (count + 63) / 64 * 64) ((u32 *)mask)[i / 32] = bits;
}

// depths of brackets are kept as 32 bits and stay at this, or at its negative, once they pass it
constexpr i64 DEPTH_MOST = 0x7fffffff;

__device__ __forceinline__ i32 depth_saturated(i64 depth) {
  return (i32)(depth > DEPTH_MOST ? DEPTH_MOST : depth < -DEPTH_MOST ? -DEPTH_MOST : depth);
}

// ---- 64 bytes of text as 8 planes ----

// Bit i of b[k] is bit k of byte i. A test of all 64 bytes for one value is then a handful of logic
// operations, and the planes cost two
// operations a byte, where comparing bytes four at a time costs that much for each value looked
// for.
struct Planes {
  u64 b[8];
};

// Swaps the bits of a above those of b by shift: the blocks off the diagonal of an 8 x 8 bit
// matrix, four matrices at a time.
__device__ __forceinline__ void swap_blocks(u32 &a, u32 &b, int shift, u32 low) {
  u32 x = (a & low) | (b << shift & ~low), y = (a >> shift & low) | (b & ~low);
  a = x, b = y;
}
// 32 bytes in 8 words, first byte lowest, become 8 planes of 32 bits.
__device__ __forceinline__ void transpose(u32 t[8]) {
  // Bytes first: afterwards byte i of a[j] is text byte 8 * i + j.
  u32 a[8];
#pragma unroll
  for (int h = 0; h < 2; h++) {
    u32 p = __byte_perm(t[h], t[2 + h], 0x5140), q = __byte_perm(t[h], t[2 + h], 0x7362);
    u32 r = __byte_perm(t[4 + h], t[6 + h], 0x5140), s = __byte_perm(t[4 + h], t[6 + h], 0x7362);
    a[4 * h] = __byte_perm(p, r, 0x5410), a[4 * h + 1] = __byte_perm(p, r, 0x7632);
    a[4 * h + 2] = __byte_perm(q, s, 0x5410), a[4 * h + 3] = __byte_perm(q, s, 0x7632);
  }
#pragma unroll
  for (int j = 0; j < 4; j++) swap_blocks(a[j], a[j + 4], 4, 0x0f0f0f0fu);
#pragma unroll
  for (int j = 0; j < 8; j += 4)
    swap_blocks(a[j], a[j + 2], 2, 0x33333333u), swap_blocks(a[j + 1], a[j + 3], 2, 0x33333333u);
#pragma unroll
  for (int j = 0; j < 8; j += 2) swap_blocks(a[j], a[j + 1], 1, 0x55555555u);
#pragma unroll
  for (int j = 0; j < 8; j++) t[j] = a[j];
}
// The planes of one word of text, which is 16-byte aligned; bytes at n and after it read as 0 and
// are not touched.
__device__ __forceinline__ Planes load_planes(const u8 *__restrict__ text, i64 n, i64 word) {
  u32 t[16];
  i64 at = word * WORD;
  if (at + WORD <= n) {
    const uint4 *p = (const uint4 *)(text + at);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint4 v = p[i];
      t[4 * i] = v.x, t[4 * i + 1] = v.y, t[4 * i + 2] = v.z, t[4 * i + 3] = v.w;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      t[i] = 0;
#pragma unroll
      for (int b = 0; b < 4; b++)
        if (at + 4 * i + b < n) t[i] |= (u32)text[at + 4 * i + b] << 8 * b;
    }
  }
  transpose(t), transpose(t + 8);
  Planes r;
#pragma unroll
  for (int k = 0; k < 8; k++) r.b[k] = t[k] | (u64)t[8 + k] << 32;
  return r;
}
// The bytes that equal c. Bytes past the text are 0: a caller that looks for 0 masks them off.
__device__ __forceinline__ u64 bytes_equal(const Planes &p, u32 c) {
  u64 r = ~0ull;
#pragma unroll
  for (int k = 0; k < 8; k++) r &= c >> k & 1 ? p.b[k] : ~p.b[k];
  return r;
}

// ---- one block together; every thread of the block calls ----

// The sum of v over the threads before this one; total gets the sum over all. shared holds 33
// elements and may be used again afterwards.
template <class T>
__device__ __forceinline__ T block_exclusive(T v, T *shared, T &total) {
  int lane = lane_index(), warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  T x = v;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    T y = __shfl_up_sync(WARP, x, d);
    if (lane >= d) x += y;
  }
  if (lane == 31) shared[warp] = x;
  __syncthreads();
  if (warp == 0) {
    T s = lane < warps ? shared[lane] : 0, sum = s;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      T y = __shfl_up_sync(WARP, sum, d);
      if (lane >= d) sum += y;
    }
    shared[lane] = sum - s;
    if (lane == 31) shared[32] = sum;
  }
  __syncthreads();
  T r = x - v + shared[warp];
  total = shared[32];
  __syncthreads();
  return r;
}
// The sum over the block, for all its threads. shared holds 33 elements.
template <class T>
__device__ __forceinline__ T block_sum(T v, T *shared) {
  T total;
  block_exclusive(v, shared, total);
  return total;
}

// The sum of v over the lanes before this one; shared, an element for each warp, gets that of all
// of the warp's.
template <class T>
__device__ __forceinline__ T warp_before(T v, T *shared) {
  const int lane = lane_index();
  T x = v;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const T y = __shfl_up_sync(WARP, x, d);
    if (lane >= d) x += y;
  }
  if (lane == 31) shared[threadIdx.x >> 5] = x;
  return x - v;
}
// The sum over the threads before this one, behind a barrier, of what warp_before gave and left in
// shared, in a block of BLOCK threads.
template <class T>
__device__ __forceinline__ T tile_sum(T before, const T *shared, T &all) {
  constexpr int WARPS = BLOCK / 32;
  const int lane = lane_index(), warp = threadIdx.x >> 5;
  if constexpr (sizeof(T) == 4) {
    const T sum = lane < WARPS ? shared[lane] : 0;
    all = __reduce_add_sync(WARP, sum);
    return __reduce_add_sync(WARP, lane < warp ? sum : 0) + before;
  }
  all = 0;
#pragma unroll
  for (int w = 0; w < WARPS; w++) {
    const T sum = shared[w];
    if (w < warp) before += sum;
    all += sum;
  }
  return before;
}
// block_exclusive of a block that reads a tile, of BLOCK threads: shared holds an element for each
// warp, and is not used for anything else, so that one barrier will do.
template <class T>
__device__ __forceinline__ T tile_before(T v, T *shared, T &all) {
  const T before = warp_before(v, shared);
  __syncthreads();
  return tile_sum(before, shared, all);
}

// The parity of count over the threads before this one; all gets that over the block. shared holds
// 32 elements.
__device__ __forceinline__ u32 block_parity(int count, u32 *shared, u32 &all) {
  const int warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  const u32 odd = __ballot_sync(WARP, count & 1);
  if (lane_index() == 0) shared[warp] = (u32)__popc(odd) & 1;
  __syncthreads();
  const u32 odd_warps = __ballot_sync(WARP, lane_index() < warps && shared[lane_index()]);
  __syncthreads();
  all = (u32)__popc(odd_warps) & 1;
  return (u32)(__popc(odd & ((1u << lane_index()) - 1)) + __popc(odd_warps & ((1u << warp) - 1))) &
         1;
}

// A state that most threads set to 0 or 1 and some leave as it is.
enum { STATE_OFF, STATE_ON, STATE_KEPT };
// What the last of some setters sets, of whom on are those that set STATE_ON; start without any.
__device__ __forceinline__ u32 last_state(u32 setters, u32 on, u32 start) {
  return setters ? on >> (31 - __clz((int)setters)) & 1 : start;
}
// The state before this thread: what the nearest thread before it set that did not leave it as it
// was, or start. after gets the state after the
// whole block, which is STATE_KEPT if start is. shared holds 32 elements and may be used again
// afterwards.
__device__ __forceinline__ u32 block_state(u32 set, u32 start, u32 *shared, u32 &after) {
  const int lane = lane_index(), warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  const u32 setters = __ballot_sync(WARP, set != STATE_KEPT),
            on = __ballot_sync(WARP, set == STATE_ON);
  if (lane == 0) shared[warp] = last_state(setters, on, STATE_KEPT);
  __syncthreads();
  const u32 of_warp = lane < warps ? shared[lane] : (u32)STATE_KEPT;
  const u32 setting = __ballot_sync(WARP, of_warp != STATE_KEPT),
            turning_on = __ballot_sync(WARP, of_warp == STATE_ON);
  __syncthreads();
  after = last_state(setting, turning_on, start);
  const u32 earlier = (1u << warp) - 1, before = (1u << lane) - 1;
  return last_state(setters & before, on, last_state(setting & earlier, turning_on, start));
}

// The tiles [from, to) that this thread of a single block takes of all.
struct Share {
  i64 from, to;
};
__device__ __forceinline__ Share block_share(i64 all) {
  i64 each = (all + blockDim.x - 1) / blockDim.x, from = threadIdx.x * each, to = from + each;
  Share s;
  s.from = from < all ? from : all, s.to = to < all ? to : all;
  return s;
}
