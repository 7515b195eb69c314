// Integer intrinsics (CUDA Math API, "Integer Intrinsics"), and min, max and abs of the types that CUDA has them for.
#ifndef CUDAEMU_INTEGERS_H
#define CUDAEMU_INTEGERS_H

#include <stdint.h>
#include <stdlib.h>

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }       // 1 + the lowest set bit, 0 for 0
inline int __ffsll(long long v) { return __builtin_ffsll(v); }

inline unsigned long long __brevll(unsigned long long v) {
  v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
  v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
  return __builtin_bswap64(v);
}
inline unsigned __brev(unsigned v) { return (unsigned)(__brevll(v) >> 32); }

// Byte i of the result is byte (selector >> 4i & 7) of y:x; bit 3 of that nibble spreads the byte's sign bit over it instead.
//
//	y:x       7 6 5 4 : 3 2 1 0     numbers of the bytes
//	selector  0x....7531            gives bytes 7 5 3 1
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = (uint64_t)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned s = selector >> 4 * i;
    const unsigned byte = (unsigned)(bytes >> 8 * (s & 7)) & 0xff;
    r |= (s & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << 8 * i;
  }
  return r;
}

// The upper (l) or lower (r) word of hi:lo shifted; lc and rc shift by 32 at most, the others by shift modulo 32.
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) { return (unsigned)((((uint64_t)hi << 32 | lo) << (shift & 31)) >> 32); }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) { return (unsigned)(((uint64_t)hi << 32 | lo) >> (shift & 31)); }
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) { return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift); }
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) { return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift); }

inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((uint64_t)x * y >> 32); }
inline int __mulhi(int x, int y) { return (int)((int64_t)x * y >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned long long)((unsigned __int128)x * y >> 64); }
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }

#define CUDAEMU_MIN_MAX(T)                             \
  inline T min(T a, T b) { return b < a ? b : a; }     \
  inline T max(T a, T b) { return a < b ? b : a; }
CUDAEMU_MIN_MAX(int)
CUDAEMU_MIN_MAX(unsigned)
CUDAEMU_MIN_MAX(long)
CUDAEMU_MIN_MAX(unsigned long)
CUDAEMU_MIN_MAX(long long)
CUDAEMU_MIN_MAX(unsigned long long)
#undef CUDAEMU_MIN_MAX
inline long abs(long v) { return v < 0 ? -v : v; }
inline long long abs(long long v) { return v < 0 ? -v : v; }

#endif
