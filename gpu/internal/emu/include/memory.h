// Loads and stores with a hint for a GPU's caches, of which there are none here.
#ifndef CUDAEMU_MEMORY_H
#define CUDAEMU_MEMORY_H

#define CUDAEMU_LOAD(name) \
  template <class T> inline T name(const T *p) { return *p; }
CUDAEMU_LOAD(__ldg)
CUDAEMU_LOAD(__ldca)
CUDAEMU_LOAD(__ldcg)
CUDAEMU_LOAD(__ldcs)
CUDAEMU_LOAD(__ldlu)
CUDAEMU_LOAD(__ldcv)
#undef CUDAEMU_LOAD

#define CUDAEMU_STORE(name) \
  template <class T> inline void name(T *p, T value) { *p = value; }
CUDAEMU_STORE(__stwb)
CUDAEMU_STORE(__stcg)
CUDAEMU_STORE(__stcs)
CUDAEMU_STORE(__stwt)
#undef CUDAEMU_STORE

#endif
