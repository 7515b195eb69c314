// What a thread does alone: intrinsics and atomics. The oracles are in scalar_test.go.
typedef unsigned u32;
typedef unsigned long long u64;

__device__ u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void intrinsics(const u64 *x, const u64 *y, u64 *out, u64 n) {
  const u64 i = thread_index();
  if (i >= n) return;
  const u64 a = __ldg(x + i), b = __ldg(y + i);
  const u32 a0 = (u32)a, a1 = (u32)(a >> 32), b0 = (u32)b;
  u64 *o = out + 24 * i;
  o[0] = (u64)__popc(a0);
  o[1] = (u64)__popcll(a);
  o[2] = (u64)__clz((int)a0);
  o[3] = (u64)__clzll((long long)a);
  o[4] = (u64)__ffs((int)a0);
  o[5] = (u64)__ffsll((long long)a);
  o[6] = __brev(a0);
  o[7] = __brevll(a);
  o[8] = __byte_perm(a0, a1, b0);
  o[9] = __funnelshift_l(a0, a1, b0);
  o[10] = __funnelshift_r(a0, a1, b0);
  o[11] = __funnelshift_lc(a0, a1, b0 & 63);
  o[12] = __funnelshift_rc(a0, a1, b0 & 63);
  o[13] = __umulhi(a0, b0);
  o[14] = (u32)__mulhi((int)a0, (int)b0);
  o[15] = __umul64hi(a, b);
  o[16] = (u64)__mul64hi((long long)a, (long long)b);
  o[17] = min(a, b);
  o[18] = (u64)max((long long)a, (long long)b);
  o[19] = (u64)__double_as_longlong(__dmul_rn((double)a0, 0.1) + (double)b0); // not a fused multiply and add
  o[20] = (u64)__double_as_longlong(__fma_rn((double)a0, 0.1, (double)b0));
  o[21] = (u64)__double_as_longlong(__ull2double_rn(a));
  o[22] = (u64)__double_as_longlong(__hiloint2double((int)a1, (int)a0));
  o[23] = __float_as_uint(__uint_as_float(a0 & 0x7fffffu));
}

// One cell of each type and operation, in the order of scalar_test.go.
extern "C" __global__ void atomics(const u64 *in, u64 n, u32 *u, int *s, u64 *w, long long *l) {
  const u64 i = thread_index();
  if (i >= n) return;
  const u64 v = in[i];
  atomicAdd(u, (u32)v);
  atomicAnd(u + 1, (u32)v);
  atomicOr(u + 2, (u32)v);
  atomicXor(u + 3, (u32)v);
  atomicMin(u + 4, (u32)v);
  atomicMax(u + 5, (u32)v);
  atomicSub(u + 6, (u32)v);
  atomicAdd(s, (int)(v & 0xffff) - 0x8000);
  atomicAnd(s + 1, (int)v);
  atomicOr(s + 2, (int)v);
  atomicXor(s + 3, (int)v);
  atomicMin(s + 4, (int)v);
  atomicMax(s + 5, (int)v);
  atomicAdd(w, v);
  atomicAnd(w + 1, v);
  atomicOr(w + 2, v);
  atomicXor(w + 3, v);
  atomicMin(w + 4, v);
  atomicMax(w + 5, v);
  atomicMin(l + 4, (long long)v);
  atomicMax(l + 5, (long long)v);
  atomicAdd(w + 6, atomicExch(w + 7, v)); // all values but the last one end in 6, the last in 7
  for (u64 old = w[8];;) {                 // a sum by compare and swap
    const u64 seen = atomicCAS(w + 8, old, old + v);
    if (seen == old) break;
    old = seen;
  }
}

// Vectors in memory: sizes, alignments, and the order of the elements.
extern "C" __global__ void vectors(const uint4 *in, uint4 *out, ulonglong2 *pair, u32 *sizes) {
  const uint4 v = in[threadIdx.x];
  out[threadIdx.x] = make_uint4(v.w, v.z, v.y, v.x);
  pair[threadIdx.x] = make_ulonglong2(v.x, v.y);
  if (threadIdx.x > 0) return;
  const dim3 d(5, 6);
  const u32 all[] = {sizeof(uchar3), sizeof(uchar4), sizeof(uint2), alignof(uint2), sizeof(uint3), alignof(uint4), alignof(double2), alignof(ulonglong4), d.x, d.y, d.z};
  for (u32 i = 0; i < sizeof all / sizeof all[0]; i++) sizes[i] = all[i];
}
