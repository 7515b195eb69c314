// Warp operations. Each kernel's oracle is in warp_test.go.
typedef unsigned u32;
typedef unsigned long long u64;
constexpr u32 FULL = 0xffffffffu;

__device__ u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// Threads whose input has bit 7 exit first. out: ballot, any, all of the input's bit 0 over the others of the warp.
extern "C" __global__ void votes(const u32 *in, u32 *out) {
  const u64 i = thread_index();
  if (in[i] & 0x80) return;
  const int p = in[i] & 1;
  out[3 * i] = __ballot_sync(FULL, p);
  out[3 * i + 1] = (u32)__any_sync(FULL, p);
  out[3 * i + 2] = (u32)__all_sync(FULL, p);
}

// Threads exit one by one between votes: round r counts those whose input is above r.
extern "C" __global__ void dwindle(const u32 *in, u32 *out, u32 rounds) {
  const u64 i = thread_index();
  u32 seen = 0;
  for (u32 r = 0; r < rounds; r++) {
    if (in[i] <= r) break;
    seen = seen * 31 + __popc(__ballot_sync(FULL, 1));
    out[i] = seen;
  }
}

// Each thread has a source, or a distance, of its own.
extern "C" __global__ void shuffles(const u64 *in, const int *source, int width, u64 *out) {
  const u64 i = thread_index();
  const u64 v = in[i];
  const int s = source[i];
  out[6 * i] = __shfl_sync(FULL, v, s, width);
  out[6 * i + 1] = __shfl_up_sync(FULL, v, (u32)s & 31, width);
  out[6 * i + 2] = __shfl_down_sync(FULL, v, (u32)s & 31, width);
  out[6 * i + 3] = __shfl_xor_sync(FULL, v, s & 31, width);
  out[6 * i + 4] = __shfl_sync(FULL, (u32)v, s, width);
  out[6 * i + 5] = (u64)__double_as_longlong(__shfl_xor_sync(FULL, __longlong_as_double((long long)v), 1, width));
}

// The lanes of a warp fall into groups by their key, and each group works alone, as many rounds as its key says: the sum of its values by
// shuffles around a ring, a vote, and a reduction.
extern "C" __global__ void groups(const u32 *key, const u32 *value, u32 *out) {
  const u64 i = thread_index();
  const u32 lane = threadIdx.x & 31, group = __match_any_sync(FULL, key[i]);
  u32 sum = 0;
  for (u32 round = 0; round <= key[i]; round++) {
    u32 around = 0, from = lane;
    for (int k = 0; k < __popc(group); k++) {
      const u32 above = from == 31 ? 0 : group & ~((2u << from) - 1);
      from = __ffs((int)(above ? above : group)) - 1;
      around += __shfl_sync(group, value[i], (int)from);
      __syncwarp(group);
    }
    sum = sum * 3 + around;
  }
  out[4 * i] = sum;
  out[4 * i + 1] = group;
  out[4 * i + 2] = __ballot_sync(group, value[i] & 1);
  out[4 * i + 3] = __reduce_max_sync(group, value[i]);
}

extern "C" __global__ void matches(const u64 *in, u32 *out) {
  const u64 i = thread_index();
  int same, never;
  out[6 * i] = __match_any_sync(FULL, in[i]);
  out[6 * i + 1] = __match_any_sync(FULL, (u32)in[i]);
  out[6 * i + 2] = __match_all_sync(FULL, in[i] >> 60, &same);
  out[6 * i + 3] = (u32)same;
  out[6 * i + 4] = __match_all_sync(FULL, threadIdx.x, &never);
  out[6 * i + 5] = (u32)never;
}

extern "C" __global__ void reductions(const u32 *in, u32 *out) {
  const u64 i = thread_index();
  const u32 v = in[i];
  u32 *o = out + 9 * i;
  o[0] = __reduce_add_sync(FULL, v);
  o[1] = __reduce_min_sync(FULL, v);
  o[2] = __reduce_max_sync(FULL, v);
  o[3] = (u32)__reduce_min_sync(FULL, (int)v);
  o[4] = (u32)__reduce_max_sync(FULL, (int)v);
  o[5] = __reduce_and_sync(FULL, v);
  o[6] = __reduce_or_sync(FULL, v);
  o[7] = __reduce_xor_sync(FULL, v);
  o[8] = (u32)__reduce_add_sync(FULL, (int)v);
}

// Both halves of a warp meet in __syncwarp from different places, and each sees what the other wrote.
extern "C" __global__ void meet(u32 *out) {
  __shared__ u32 word[32];
  const u32 lane = threadIdx.x;
  word[lane] = lane * lane;
  if (lane < 16) {
    __syncwarp();
    out[lane] = word[lane + 16];
  } else {
    __syncwarp();
    out[lane] = word[lane - 16];
  }
}

// A lane's own answer is always right.
extern "C" __global__ void active(u32 *out) { out[threadIdx.x] = __activemask(); }
