// What a kernel's shared object and the runtime that executes it agree on. The runtime reads it as C, a kernel as C++.
//
//   kernel.so                                  runtime (block.c, warp.c, report.c)
//     cudaemu_enter(block)  <----------------  once for each block of the grid, after shared memory was poisoned
//     cudaemu_call_K(args)  <----------------  once for each CUDA thread, on a fiber's stack: calls kernel K
//     cudaemu_sizes_K()     <----------------  once for each kernel K: the sizes of its parameters, and 0
//     block->warp, block->barrier  --------->  a thread waits: the runtime runs another one of the block
#ifndef CUDAEMU_ABI_H
#define CUDAEMU_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uint3 {
  unsigned x, y, z;
};

// Calls a kernel: args[i] is the address of argument i. The compiler of this package adds such a function for each kernel.
typedef void cudaemu_call(const void *const *args);

// What the lanes of a warp do together. Lanes complete an operation only if all of them ask for the same one.
enum cudaemu_warp_op {
  CUDAEMU_SYNCWARP,
  CUDAEMU_BALLOT,
  CUDAEMU_ANY,
  CUDAEMU_ALL,
  CUDAEMU_SHFL,
  CUDAEMU_SHFL_UP,
  CUDAEMU_SHFL_DOWN,
  CUDAEMU_SHFL_XOR,
  CUDAEMU_MATCH_ANY,
  CUDAEMU_MATCH_ALL,
  CUDAEMU_REDUCE_ADD,
  CUDAEMU_REDUCE_MIN,   // unsigned
  CUDAEMU_REDUCE_MAX,   // unsigned
  CUDAEMU_REDUCE_MIN_S, // signed
  CUDAEMU_REDUCE_MAX_S, // signed
  CUDAEMU_REDUCE_AND,
  CUDAEMU_REDUCE_OR,
  CUDAEMU_REDUCE_XOR,
};

enum cudaemu_barrier_op {
  CUDAEMU_SYNCTHREADS,
  CUDAEMU_SYNCTHREADS_COUNT,
  CUDAEMU_SYNCTHREADS_AND,
  CUDAEMU_SYNCTHREADS_OR,
};

// The block that an OS thread executes now, as its kernel sees it. threadIdx changes with every switch to another CUDA thread.
struct cudaemu_block {
  struct uint3 threadIdx, blockIdx, blockDim, gridDim;
  void *shared; // dynamic shared memory, which ends at a page that can't be touched

  // source is the lane that a shuffle reads, computed by the lane that asks. file and line are the call in the kernel.
  uint64_t (*warp)(struct cudaemu_block *, unsigned op, uint32_t mask, uint64_t value, unsigned source, const char *file, int line);
  int (*barrier)(struct cudaemu_block *, unsigned op, int predicate, const char *file, int line);
  // fail ends the launch with an error. It does not return.
  void (*fail)(struct cudaemu_block *, const char *what, const char *file, int line);
};

#ifdef __cplusplus
}
#endif
#endif
