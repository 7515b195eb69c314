// bits.cuh: operations on the bits of doubles, for steps.cuh.
#pragma once
#include "core.cuh"

__device__ __forceinline__ double of_bits(u64 v) { return __longlong_as_double((i64)v); }
__device__ __forceinline__ u64 bits_of(double v) { return (u64)__double_as_longlong(v); }

__device__ __forceinline__ double bits_and(double a, double b) {
  return of_bits(bits_of(a) & bits_of(b));
}
__device__ __forceinline__ double bits_or(double a, double b) {
  return of_bits(bits_of(a) | bits_of(b));
}
__device__ __forceinline__ double bits_xor(double a, double b) {
  return of_bits(bits_of(a) ^ bits_of(b));
}
__device__ __forceinline__ double bits_add(double a, double b) {
  return of_bits(bits_of(a) + bits_of(b));
}
__device__ __forceinline__ double bits_sub(double a, double b) {
  return of_bits(bits_of(a) - bits_of(b));
}
__device__ __forceinline__ double bits_shl(double a, int n) { return of_bits(bits_of(a) << n); }
__device__ __forceinline__ double bits_shr(double a, int n) { return of_bits(bits_of(a) >> n); }
