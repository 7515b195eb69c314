// Kernels that are wrong. Lines that a message must name are marked with the name of their kernel.
typedef unsigned u32;
typedef unsigned long long u64;
constexpr u32 FULL = 0xffffffffu;

extern "C" __global__ void deadlock(u32 *out) {
  if (threadIdx.x == 0) return;
  if (threadIdx.x < 31) out[0] = __ballot_sync(FULL, 1); // deadlock: lane 31 never comes
  else __syncthreads();                                  // deadlock: nor does anybody come here
}

extern "C" __global__ void masks(u32 *out) {
  out[threadIdx.x] = __ballot_sync(threadIdx.x & 1 ? FULL : 0x55555555u | 1u << 1, 1); // masks: lanes that name each other differently
}

extern "C" __global__ void divergent(u32 *out) {
  if (threadIdx.x < 32) {
    __syncthreads(); // divergent: one half here
  } else {
    __syncthreads(); // divergent: the other half here
  }
  out[threadIdx.x] = 1;
}

extern "C" __global__ void outside(u32 *out) { out[threadIdx.x] = __shfl_sync(0xffu, threadIdx.x, 0); } // outside

extern "C" __global__ void width(u32 *out) { out[threadIdx.x] = __shfl_sync(FULL, threadIdx.x, 0, 12); } // width

extern "C" __global__ void trap(u32 *out) {
  if (blockIdx.x == 3) __trap(); // trap
  __syncthreads();
  out[blockIdx.x] = 1;
}

extern "C" __global__ void shift(u32 *out, u32 n) { out[0] = 1u << n; } // shift

extern "C" __global__ void overflow(int *out, int n) { out[0] = n + 1; } // overflow

extern "C" __global__ void bounds(u32 *out, u32 n) {
  __shared__ u32 cell[4];
  cell[n] = n; // bounds
  out[0] = cell[n];
}

extern "C" __global__ void misaligned(u32 *out, const unsigned char *p) { out[0] = ((const uint4 *)(p + 1))->w; } // misaligned

extern "C" __global__ void divide(int *out, int n) { out[0] = 7 / n; } // divide

// Right, to be launched after one that is wrong.
extern "C" __global__ void right(u32 *out) {
  __syncthreads();
  out[threadIdx.x] = __ballot_sync(FULL, 1);
}

// Touches one byte at p.
extern "C" __global__ void touch(const unsigned char *p, u32 *out) { out[0] = *p; }
extern "C" __global__ void touch_shared(int at, u32 *out) {
  DYN_SHARED(unsigned char, bytes);
  out[0] = bytes[at];
}
extern "C" __global__ void poke(unsigned char *p) { *p = 1; }

__device__ __noinline__ u32 dig(u32 n) {
  volatile u32 room[1024];
  room[n & 1023] = n;
  return n == 0 ? 0 : dig(n - 1) + room[n & 1023];
}
extern "C" __global__ void deep(u32 *out, u32 n) { out[0] = dig(n); }

constexpr int SOME = 48;
extern "C" __global__ void __launch_bounds__(SOME, 2) few(u32 *out) { out[threadIdx.x] = 1; }
