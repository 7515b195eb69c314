// Bits of floating point numbers, and arithmetic whose rounding is part of its name. Every operation rounds to nearest even, and none is
// contracted into a fused one (the compiler is told so): a double has the same bits here, on a GPU and in Go.
#ifndef CUDAEMU_DOUBLES_H
#define CUDAEMU_DOUBLES_H

#include <math.h>
#include <string.h>

#define CUDAEMU_BITS(name, To, From)                                          \
  inline To name(From v) {                                                    \
    static_assert(sizeof(To) == sizeof(From), "bits of the same number");     \
    To bits;                                                                  \
    memcpy(&bits, &v, sizeof bits);                                           \
    return bits;                                                              \
  }
CUDAEMU_BITS(__double_as_longlong, long long, double)
CUDAEMU_BITS(__longlong_as_double, double, long long)
CUDAEMU_BITS(__float_as_int, int, float)
CUDAEMU_BITS(__float_as_uint, unsigned, float)
CUDAEMU_BITS(__int_as_float, float, int)
CUDAEMU_BITS(__uint_as_float, float, unsigned)
#undef CUDAEMU_BITS

inline int __double2hiint(double v) { return (int)(__double_as_longlong(v) >> 32); }
inline int __double2loint(double v) { return (int)__double_as_longlong(v); }
inline double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)((unsigned long long)(unsigned)hi << 32 | (unsigned)lo)); }

inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline double __int2double_rn(int v) { return v; }
inline double __uint2double_rn(unsigned v) { return v; }
inline double __ll2double_rn(long long v) { return (double)v; }
inline double __ull2double_rn(unsigned long long v) { return (double)v; }
inline float __double2float_rn(double v) { return (float)v; }

inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }

#endif
