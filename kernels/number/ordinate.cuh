// ordinate.cuh: ordinates as most are written, from text to float64 in some hundred instructions
// and without a loop. All others are decimal.cuh's.
//
//   ["-"] 1*4digit "." 1*15digit    24 bytes at most, behind the minus, with the byte that ends it
//
//   text      - 1 2 2 . 4 1 9 4 1 5 5 , 3 7 . 4
//   others            1               1   1          bytes that are no digits, a bit each: the point, then the end
//   whole       1 2 2                                shifted up to the top of 4 bytes
//   fraction            4 1 9 4 1 5 5                of 8 bytes; up to seven more by themselves
//
// All digits are an integer a below 10^19, which two float64 hold, and the number is a/b with b =
// 10^fraction. q, which is a/b but for some units in its last place, and
// the remainder a - b * q, which is exact, give a/b within 2^-51 units, rounded once. That is
// rounded correctly: what lies in the middle of two float64 below 10^4 has 40
// digits after the point or more, and so no number of 15 is one, nor within 2^-36 units of one. (q
// + (a - b * q) / b: Markstein, Computation of Elementary Functions on the
// IBM RISC System/6000 Processor, 1990.)
#pragma once
#include "number/decimal.cuh"

constexpr u32 MAX_FRACTION = 15;
// bytes of text from an ordinate on, for its windows to lie in the text
constexpr i64 ORDINATE_ROOM = 32;

struct Ten {
  double power, inverse;  // 10^k and 10^-k
};
static __constant__ const Ten TENS_OF_FRACTION[MAX_FRACTION + 1] = {
    {1e0, 1e0},
    {1e1, 1e-1},
    {1e2, 1e-2},
    {1e3, 1e-3},
    {1e4, 1e-4},
    {1e5, 1e-5},
    {1e6, 1e-6},
    {1e7, 1e-7},
    {1e8, 1e-8},
    {1e9, 1e-9},
    {1e10, 1e-10},
    {1e11, 1e-11},
    {1e12, 1e-12},
    {1e13, 1e-13},
    {1e14, 1e-14},
    {1e15, 1e-15},
};

struct Ordinate {
  u64 bits;
  u32 length;  // 0 if it is not of this kind
  u32 behind;  // the byte after it
};

// Bit 0 to 3: which bytes of v are no digits, up to the first that is beyond ASCII. v is bytes ^
// '0'.
__device__ __forceinline__ u32 other_bytes(u32 v) {
  const u32 high = ((v + 0x76767676u) | v) & 0x80808080u;
  return high * 0x00204081u >> 28;  // bits 7, 15, 23, 31 to 28 and up; no two meet
}

// The ordinate at a byte that has ORDINATE_ROOM. tens: TENS_OF_FRACTION, where lanes may look at
// different ones.
__device__ __forceinline__ Ordinate short_ordinate(const u8 *__restrict__ at, const Ten *tens) {
  Ordinate r = {0, 0, 0};
  const u64 *word = (const u64 *)((u64)at & ~7ull);
  const u64 a = word[0], b = word[1], c = word[2], d = word[3];
  const bool upper = ((u64)at & 4) != 0;
  const u32 t0 = (u32)(upper ? a >> 32 : a), t1 = (u32)(upper ? b : a >> 32),
            t2 = (u32)(upper ? b >> 32 : b), t3 = (u32)(upper ? c : b >> 32),
            t4 = (u32)(upper ? c >> 32 : c), t5 = (u32)(upper ? d : c >> 32),
            t6 = (u32)(upper ? d >> 32 : d);
  u32 shift = (u32)((u64)at & 3) * 8;
  const u32 minus = (t0 >> shift & 0xff) == '-';
  shift += minus * 8;
  const u32 zeros = 0x30303030u;
  const u32 v0 = __funnelshift_rc(t0, t1, shift) ^ zeros,
            v1 = __funnelshift_rc(t1, t2, shift) ^ zeros,
            v2 = __funnelshift_rc(t2, t3, shift) ^ zeros,
            v3 = __funnelshift_rc(t3, t4, shift) ^ zeros;
  const u32 v4 = __funnelshift_rc(t4, t5, shift) ^ zeros,
            v5 = __funnelshift_rc(t5, t6, shift) ^ zeros;
  const u32 others = other_bytes(v0) | other_bytes(v1) << 4 | other_bytes(v2) << 8 |
                     other_bytes(v3) << 12 | other_bytes(v4) << 16 | other_bytes(v5) << 20,
            ends = others & (others - 1);
  const u32 whole = (u32)__ffs((int)others) - 1, end = (u32)__ffs((int)ends) - 1,
            fraction = end - whole - 1;
  if (whole - 1 > 3 || !ends || fraction - 1 >= MAX_FRACTION) return r;
  const u64 low = v0 | (u64)v1 << 32, middle = v2 | (u64)v3 << 32, high = v4 | (u64)v5 << 32,
            tail = low >> 8 * whole;
  if ((tail & 0xff) != ('.' ^ '0') || (whole > 1 && !(v0 & 0xff))) return r;  // a zero leads
  const u64 digits = tail >> 8 | middle << (56 - 8 * whole),
            more = middle >> (8 * whole + 8) | high << (56 - 8 * whole);
  double behind_point;
  if (fraction < 8) {
    behind_point = (double)eight_digits(digits << (64 - 8 * fraction));
    r.behind = (u32)(digits >> 8 * fraction) & 0xff;
  } else {
    const u32 count = fraction - 8;
    behind_point = __fma_rn((double)eight_digits(digits), tens[count].power,
        count ? (double)eight_digits(more << (64 - 8 * count)) : 0.0);
    r.behind = (u32)(more >> 8 * count) & 0xff;
  }
  r.behind ^= '0', r.length = minus + end;
  const Ten ten = tens[fraction];
  const double before_point = (double)four_digits(v0 << (32 - 8 * whole)),
               product = __dmul_rn(before_point, ten.power);
  // a is sum + rest
  const double sum = product + behind_point, rest = (behind_point - (sum - product)) +
                                                    __fma_rn(before_point, ten.power, -product);
  double q = __dmul_rn(sum, ten.inverse);
  q = __fma_rn(__fma_rn(-q, ten.power, sum) + rest, ten.inverse, q);
  r.bits = (u64)__double_as_longlong(q) | (u64)minus << 63;
  return r;
}
