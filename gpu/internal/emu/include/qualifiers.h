// The words that CUDA C++ adds to C++, and the built-in variables.
#ifndef CUDAEMU_QUALIFIERS_H
#define CUDAEMU_QUALIFIERS_H

#include "abi.h"

// The block that this OS thread executes. It is the only thread-local variable other than those that kernels declare __shared__.
static thread_local cudaemu_block *cudaemu_current;

extern "C" __attribute__((visibility("default"))) void cudaemu_enter(cudaemu_block *block) { cudaemu_current = block; }

// Only kernels are visible outside: a shared object is one translation unit, and all else in it is its own.
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__

// A block runs on one OS thread from start to end, so what belongs to the block is what belongs to the OS thread.
#define __shared__ static thread_local

// Dynamic shared memory. CUDA's form, `extern __shared__ T name[]`, would name one symbol with many types.
#define DYN_SHARED(T, name) T *const name = static_cast<T *>(cudaemu_current->shared)

#define threadIdx (cudaemu_current->threadIdx)
#define blockIdx (cudaemu_current->blockIdx)
#define blockDim (cudaemu_current->blockDim)
#define gridDim (cudaemu_current->gridDim)
#define warpSize 32

// Default arguments that take the place of a call, for messages.
#define CUDAEMU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void cudaemu_fail(const char *what, const char *file, int line) {
  cudaemu_current->fail(cudaemu_current, what, file, line);
  __builtin_unreachable();
}

inline void __trap(CUDAEMU_SITE) { cudaemu_fail("__trap", file, line); }

#ifndef __clang__
// What a compiler may assume, an emulation checks.
#define __builtin_assume(condition) ((condition) ? (void)0 : cudaemu_fail("__builtin_assume(" #condition ") is wrong", __FILE__, __LINE__))
#endif

#endif
