// How the runtime calls kernels, whose parameters it does not know. The compiler of this package adds CUDAEMU_ENTRY(k) for each kernel k.
#ifndef CUDAEMU_ENTRY_H
#define CUDAEMU_ENTRY_H

#include "qualifiers.h"

template <unsigned... I>
struct cudaemu_indexes {};

// cudaemu_below<3>::indexes is cudaemu_indexes<0, 1, 2>.
template <unsigned N, unsigned... I>
struct cudaemu_below : cudaemu_below<N - 1, N - 1, I...> {};
template <unsigned... I>
struct cudaemu_below<0, I...> {
  typedef cudaemu_indexes<I...> indexes;
};

template <class Kernel>
struct cudaemu_entry;

template <class... P>
struct cudaemu_entry<void (*)(P...)> {
  typedef typename cudaemu_below<sizeof...(P)>::indexes indexes;
  static constexpr unsigned sizes[sizeof...(P) + 1] = {sizeof(P)..., 0};

  // Each CUDA thread has a copy of the arguments, as on a device.
  template <unsigned... I>
  static void call(void (*kernel)(P...), [[maybe_unused]] const void *const *args, cudaemu_indexes<I...>) {
    kernel(*static_cast<const P *>(args[I])...);
  }
};

#define CUDAEMU_ENTRY(k)                                                                         \
  extern "C" __global__ void cudaemu_call_##k(const void *const *args) {                         \
    cudaemu_entry<decltype(&k)>::call(k, args, cudaemu_entry<decltype(&k)>::indexes());          \
  }                                                                                              \
  extern "C" __global__ const unsigned *cudaemu_sizes_##k() {                                    \
    return cudaemu_entry<decltype(&k)>::sizes;                                                   \
  }

#endif
