package drivertest

// kernels is one translation unit. Its types are those of the language, since nothing else is there
// without headers: unsigned int has 32 bits and unsigned long long 64 on every device.
const kernels = `
#ifndef DYN_SHARED
#define DYN_SHARED(T, name) extern __shared__ T name[]
#endif
typedef unsigned long long u64;

// out[i] = i + 1 for each i < n; threads beyond n do nothing.
extern "C" __global__ void ordinal(unsigned int* out, u64 n) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (unsigned int)i + 1;
}

// Each parameter is widened into a slot of its own, signed ones with their sign.
extern "C" __global__ void widths(u64* out, unsigned char u1, signed char s1, unsigned short u2, short s2,
                                  unsigned int u4, int s4, u64 u8, long long s8, const unsigned char* p) {
  out[0] = u1;
  out[1] = (u64)(long long)s1;
  out[2] = u2;
  out[3] = (u64)(long long)s2;
  out[4] = u4;
  out[5] = (u64)(long long)s4;
  out[6] = u8;
  out[7] = (u64)s8;
  out[8] = p ? *p : 0xdead;
}

// out[0] = sum of (k+1) * a_k, so that two arguments in each other's place show.
extern "C" __global__ void many(u64* out,
    u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5, u64 a6, u64 a7, u64 a8, u64 a9,
                                u64 a10, u64 a11, u64 a12, u64 a13, u64 a14, u64 a15, u64 a16, u64 a17, u64 a18) {
  out[0] = a0 + 2 * a1 + 3 * a2 + 4 * a3 + 5 * a4 + 6 * a5 + 7 * a6 + 8 * a7 + 9 * a8 + 10 * a9 + 11 * a10 + 12 * a11 +
           13 * a12 + 14 * a13 + 15 * a14 + 16 * a15 + 17 * a16 + 18 * a17 + 19 * a18;
}

struct Triple {
  unsigned char a;
  unsigned int b;
  u64 c;
};
struct Four {
  Triple low;
  u64 rest[4];
};

// Two structs, with a narrow parameter between them. Each thread writes to its own copy.
extern "C" __global__ void structs(Triple first, short s, __grid_constant__ const Four four, u64* out) {
  first.a += threadIdx.x;
  u64* o = out + 8 * threadIdx.x;
  o[0] = first.a, o[1] = first.b, o[2] = first.c, o[3] = (u64)s;
  o[4] = four.low.b, o[5] = four.low.c, o[6] = four.rest[threadIdx.x & 3], o[7] = four.rest[3];
}

// A block of 256 threads writes its input backwards, through static shared memory.
extern "C" __global__ void reverse256(unsigned int* data) {
  __shared__ unsigned int tile[256];
  unsigned int* block = data + (u64)blockIdx.x * 256;
  tile[threadIdx.x] = block[threadIdx.x];
  __syncthreads();
  block[threadIdx.x] = tile[255 - threadIdx.x];
}

// Thread 0 of each block adds up words values that its block has put into dynamic shared memory.
extern "C" __global__ void dynamic_sum(u64* out, unsigned int words) {
  DYN_SHARED(unsigned int, tile);
  for (unsigned int i = threadIdx.x; i < words; i += blockDim.x) tile[i] = i + blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    u64 sum = 0;
    for (unsigned int i = 0; i < words; i++) sum += tile[i];
    out[blockIdx.x] = sum;
  }
}

// value = value * factor + term: launches that change places give another value.
extern "C" __global__ void step(u64* value, u64 factor, u64 term) { *value = *value * factor + term; }

// One thread is busy for some rounds, then sets n bytes to value.
extern "C" __global__ void slow_write(unsigned char* out, u64 n, unsigned int rounds, unsigned char value) {
  unsigned int x = 1;
  for (unsigned int i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  if (x == 0) value = 0;  // never, since the shifts keep x from 0, but no compiler drops the loop for it
  for (u64 i = 0; i < n; i++) out[i] = value;
}

__device__ unsigned int visits;

// Counts the launches since this module was loaded.
extern "C" __global__ void visit(unsigned int* out) { *out = ++visits; }
`
