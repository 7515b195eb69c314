// Blocks: barriers, shared memory, and the order of a grid. The oracles are in block_test.go.
typedef unsigned u32;
typedef unsigned long long u64;

__device__ u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// The sum of the block for each of its threads, by halves, for any number of threads.
extern "C" __global__ void block_sum(const u32 *in, u32 *out) {
  __shared__ u32 part[1024];
  part[threadIdx.x] = in[thread_index()];
  __syncthreads();
  for (u32 n = blockDim.x; n > 1; n = (n + 1) / 2) {
    if (threadIdx.x < n / 2) part[threadIdx.x] += part[threadIdx.x + (n + 1) / 2];
    __syncthreads();
  }
  out[thread_index()] = part[0];
}

// Threads whose input has bit 7 exit; the others count how many of them have bit 0, over and over.
extern "C" __global__ void counts(const u32 *in, u32 *out, u32 rounds) {
  const u64 i = thread_index();
  if (in[i] & 0x80) return;
  u32 h = 0;
  for (u32 r = 0; r < rounds; r++) {
    h = h * 31 + (u32)__syncthreads_count(in[i] >> r & 1);
    h = h * 31 + (u32)__syncthreads_or(in[i] >> r & 2);
    h = h * 31 + (u32)__syncthreads_and(in[i] >> r & 4);
  }
  out[i] = h;
}

// What shared memory holds before anybody wrote it; afterwards it is written, for the next block to find if it may.
extern "C" __global__ void unwritten(u32 *out) {
  __shared__ u32 fixed[8];
  DYN_SHARED(u32, dynamic);
  u32 *o = out + 16 * blockIdx.x;
  for (int i = 0; i < 8; i++) {
    o[i] = fixed[i];
    o[8 + i] = dynamic[i];
  }
  for (int i = 0; i < 8; i++) fixed[i] = dynamic[i] = 7;
}

extern "C" __global__ void largest(u32 *out) {
  __shared__ u32 all[12288];
  for (u32 i = 0; i < 12288; i++) all[i] = i;
  out[0] = all[12287];
}
extern "C" __global__ void too_large(u32 *out) {
  __shared__ u32 all[12289];
  for (u32 i = 0; i < 12289; i++) all[i] = i;
  out[0] = all[12288];
}

// Adds up in one pass. A block publishes its sum, then its prefix, which it finds from those of the blocks before it: decoupled look-back
// (Merrill and Garland 2016). It needs blocks that start in order.
//
//	state  one word a block: flag << 62 | value; flag 0 nothing, 1 the block's own sum, 2 the sum of all up to it
extern "C" __global__ void scan(const u32 *in, u64 *out, u64 n, u64 *state) {
  __shared__ u64 warp_sum[32];
  __shared__ u64 before;
  const u64 i = thread_index();
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const u64 own = i < n ? in[i] : 0;
  u64 v = own;
  for (u32 d = 1; d < 32; d *= 2) {
    const u64 up = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += up;
  }
  if (lane == 31) warp_sum[warp] = v;
  __syncthreads();
  u64 base = 0;
  for (u32 w = 0; w < warp; w++) base += warp_sum[w];
  if (threadIdx.x == blockDim.x - 1) {
    const u64 sum = base + v, value = ~0ull >> 2;
    atomicExch(&state[blockIdx.x], (blockIdx.x == 0 ? 2ull : 1ull) << 62 | sum);
    u64 prefix = 0;
    for (u32 b = blockIdx.x; b > 0;) {
      const u64 s = *(volatile u64 *)&state[b - 1];
      if (s >> 62 == 0) continue;
      prefix += s & value;
      b = s >> 62 == 2 ? 0 : b - 1;
    }
    __threadfence();
    atomicExch(&state[blockIdx.x], 2ull << 62 | (prefix + sum));
    before = prefix;
  }
  __syncthreads();
  if (i < n) out[i] = before + base + v - own;
}

// Each block and each thread takes the next number: the order in which they were started.
extern "C" __global__ void tickets(u32 *next, u32 *out) { out[thread_index()] = atomicAdd(next, 1u); }

// A word that every block of a grid adds to.
extern "C" __global__ void visits(u64 *sum) { atomicAdd(sum, (u64)blockIdx.x + 1); }
