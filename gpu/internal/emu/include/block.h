// Barriers of a block (CUDA C++ Programming Guide, "Synchronization Functions") and fences.
//
// A barrier opens when every thread of the block that has not exited stands at it: at the same call, or the launch ends with an error, since
// CUDA leaves a barrier in diverged code undefined.
#ifndef CUDAEMU_BLOCK_H
#define CUDAEMU_BLOCK_H

#include "qualifiers.h"

inline int cudaemu_barrier(unsigned op, int predicate, const char *file, int line) {
  return cudaemu_current->barrier(cudaemu_current, op, predicate != 0, file, line);
}

inline void __syncthreads(CUDAEMU_SITE) { cudaemu_barrier(CUDAEMU_SYNCTHREADS, 0, file, line); }
inline int __syncthreads_count(int predicate, CUDAEMU_SITE) { return cudaemu_barrier(CUDAEMU_SYNCTHREADS_COUNT, predicate, file, line); }
inline int __syncthreads_and(int predicate, CUDAEMU_SITE) { return cudaemu_barrier(CUDAEMU_SYNCTHREADS_AND, predicate, file, line); }
inline int __syncthreads_or(int predicate, CUDAEMU_SITE) { return cudaemu_barrier(CUDAEMU_SYNCTHREADS_OR, predicate, file, line); }

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
