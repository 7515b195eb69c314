// The vector types of CUDA C++ with their alignments (CUDA C++ Programming Guide, "Built-in Vector Types"), and dim3.
#ifndef CUDAEMU_VECTORS_H
#define CUDAEMU_VECTORS_H

#include "abi.h"

// name, element, alignment of the vectors of 1, 2, 3 and 4 elements
#define CUDAEMU_VECTORS(name, T, align1, align2, align3, align4)                  \
  struct alignas(align1) name##1 { T x; };                                        \
  struct alignas(align2) name##2 { T x, y; };                                     \
  CUDAEMU_VECTOR3(name, T, align3)                                                \
  struct alignas(align4) name##4 { T x, y, z, w; };                               \
  inline name##1 make_##name##1(T x) { return {x}; }                              \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                      \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }              \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define CUDAEMU_VECTOR3(name, T, align) struct alignas(align) name##3 { T x, y, z; };

CUDAEMU_VECTORS(char, signed char, 1, 2, 1, 4)
CUDAEMU_VECTORS(uchar, unsigned char, 1, 2, 1, 4)
CUDAEMU_VECTORS(short, short, 2, 4, 2, 8)
CUDAEMU_VECTORS(ushort, unsigned short, 2, 4, 2, 8)
CUDAEMU_VECTORS(int, int, 4, 8, 4, 16)
CUDAEMU_VECTORS(float, float, 4, 8, 4, 16)
CUDAEMU_VECTORS(longlong, long long, 8, 16, 8, 16)
CUDAEMU_VECTORS(ulonglong, unsigned long long, 8, 16, 8, 16)
CUDAEMU_VECTORS(double, double, 8, 16, 8, 16)

// uint3 is in abi.h, since the built-in variables have that type.
#undef CUDAEMU_VECTOR3
#define CUDAEMU_VECTOR3(name, T, align)
CUDAEMU_VECTORS(uint, unsigned, 4, 8, 4, 16)
#undef CUDAEMU_VECTOR3
#undef CUDAEMU_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#endif
