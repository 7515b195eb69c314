// Atomic functions (CUDA C++ Programming Guide, "Atomic Functions") for the integer types that CUDA has them for; each gives the old value.
// uint64_t is unsigned long here and unsigned long long under CUDA, so both are taken. There are none for floats: their sums would depend on
// the order of the threads.
#ifndef CUDAEMU_ATOMICS_H
#define CUDAEMU_ATOMICS_H

#define CUDAEMU_FETCH(name, builtin, T) \
  inline T name(T *p, T v) { return builtin(p, v, __ATOMIC_SEQ_CST); }
#define CUDAEMU_FETCH_ALL(name, builtin)   \
  CUDAEMU_FETCH(name, builtin, int)        \
  CUDAEMU_FETCH(name, builtin, unsigned)   \
  CUDAEMU_FETCH(name, builtin, unsigned long) \
  CUDAEMU_FETCH(name, builtin, unsigned long long)

CUDAEMU_FETCH_ALL(atomicAdd, __atomic_fetch_add)
CUDAEMU_FETCH_ALL(atomicAnd, __atomic_fetch_and)
CUDAEMU_FETCH_ALL(atomicOr, __atomic_fetch_or)
CUDAEMU_FETCH_ALL(atomicXor, __atomic_fetch_xor)
CUDAEMU_FETCH_ALL(atomicExch, __atomic_exchange_n)
CUDAEMU_FETCH(atomicSub, __atomic_fetch_sub, int)
CUDAEMU_FETCH(atomicSub, __atomic_fetch_sub, unsigned)
#undef CUDAEMU_FETCH_ALL
#undef CUDAEMU_FETCH

#define CUDAEMU_CAS(T)                                                                                \
  inline T atomicCAS(T *p, T expected, T desired) {                                                   \
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                                  \
  }
CUDAEMU_CAS(unsigned short)
CUDAEMU_CAS(int)
CUDAEMU_CAS(unsigned)
CUDAEMU_CAS(unsigned long)
CUDAEMU_CAS(unsigned long long)
#undef CUDAEMU_CAS

#define CUDAEMU_EXTREME(name, T, better)                                                                                   \
  inline T name(T *p, T v) {                                                                                               \
    T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                                          \
    while (v better old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {          \
    }                                                                                                                      \
    return old;                                                                                                            \
  }
#define CUDAEMU_MIN_MAX(T)           \
  CUDAEMU_EXTREME(atomicMin, T, <)   \
  CUDAEMU_EXTREME(atomicMax, T, >)
CUDAEMU_MIN_MAX(int)
CUDAEMU_MIN_MAX(unsigned)
CUDAEMU_MIN_MAX(long)
CUDAEMU_MIN_MAX(long long)
CUDAEMU_MIN_MAX(unsigned long)
CUDAEMU_MIN_MAX(unsigned long long)
#undef CUDAEMU_MIN_MAX
#undef CUDAEMU_EXTREME

#endif
