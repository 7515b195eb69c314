// decimal.cuh: decimal text to float64, correctly rounded over the whole range, for one thread.
//
// Two grammars. JSON is RFC 8259 section 6, and nothing else. Lenient is what CSV, WKT and DBF
// hold: a plus, leading zeros, and digits on one side of the
// point only. Neither knows NaN, Infinity, hexadecimal or underscores.
//
//   json     ["-"] ( "0" | digit1-9 *digit ) [ "." 1*digit ] [ ("e" | "E") ["-" | "+"] 1*digit ]
//   lenient  ["-" | "+"] ( 1*digit ["." *digit] | "." 1*digit ) [ ("e" | "E") ["-" | "+"] 1*digit ]
//
// How the value is found:
//
//   digits  value                                                             decided by
//   <= 19   a 128-bit product with a power of five                            Lemire 2021; Mushtak and Lemire 2023
//   > 19    as above for the first 19 and for these plus one, if they agree   Lemire 2021, section 11
//   > 19    they do not agree                                                 the host: UNDECIDED
//
// A number of more than LONGEST bytes is UNDECIDED too, so that no thread works longer for one
// number than for as many bytes of short ones.
//
// Daniel Lemire, Number Parsing at a Gigabyte per Second, Software: Practice and Experience 51(8),
// 2021. Noble Mushtak and Daniel Lemire, Fast Number
// Parsing Without Fallback, Software: Practice and Experience 53(7), 2023.
#pragma once
#include "number/powers.cuh"

constexpr u32 LONGEST = 1024;
constexpr int MAX_DIGITS = 19;  // that a u64 holds, whatever they are
// where a written exponent stops to grow: LONGEST digits can't make up for it
constexpr int MAX_EXPONENT = 1000000;
constexpr u64 INFINITY_BITS = 0x7ffull << 52;
constexpr u64 NAN_BITS = 0x7ff8000000000001ull;  // as Go's math.NaN

enum { GRAMMAR_JSON, GRAMMAR_LENIENT };
enum { NUMBER_VALID, NUMBER_MALFORMED, NUMBER_RANGE, NUMBER_UNDECIDED };

// A number as written: +-digits * 10^power.
struct Decimal {
  u64 digits;  // the first 19 significant ones, or all
  i32 power;
  // bytes read; of malformed text, those before the first that can't continue a number
  u32 length;
  u32 negative;  // a minus is written
  u32 cut;       // a digit beyond the 19 is not 0
  u32 malformed;
  u32 exponent;  // the letter of one is next
};
struct Number {
  u64 bits;    // of the float64; NAN_BITS if MALFORMED or UNDECIDED, an infinity if RANGE
  u32 length;  // bytes, as in Decimal
  u32 state;   // NUMBER_*
};

// The bits of the float64 next to digits * 10^power, ties to even; infinity beyond the largest.
__device__ __forceinline__ u64 eisel_lemire(u64 digits, i32 power) {
  if (!digits || power < MIN_POWER) return 0;
  if (power > MAX_POWER) return INFINITY_BITS;
  int zeros = __clzll((i64)digits);
  digits <<= zeros;
  const u64 *five = FIVES[power - MIN_POWER];
  u64 high = __umul64hi(digits, five[0]), low = digits * five[0];
  // 9 bits of high lie below those of the result, one for rounding, and one if the top bit is 0.
  // Only where they are all ones can the lower half of the
  // power change more than them.
  if ((high & 0x1ff) == 0x1ff) {
    u64 more = __umul64hi(digits, five[1]);
    low += more, high += low < more;
  }
  int top = (int)(high >> 63), shift = top + 9;
  u64 m = high >> shift;
  // 217706 / 65536 is log2(10), close enough for these powers (Lemire 2021, section 8).
  i32 exponent = (217706 * power >> 16) + 63 + top - zeros + 1023;
  if (exponent <= 0) {
    if (exponent <= -63) return 0;
    // Subnormal. No tie is possible: it would need a small power. A sum that reaches bit 52 is the
    // smallest normal number, by its bits.
    m >>= 1 - exponent;
    return (m + (m & 1)) >> 1;
  }
  // A tie is possible for these powers only, where 5^power or its inverse divides the digits
  // (Lemire 2021, section 9).
  if (low <= 1 && power >= -4 && power <= 23 && (m & 3) == 1 && m << shift == high) m--;
  m = (m + (m & 1)) >> 1;
  // m has 53 bits, or is 2^53 after rounding: its top bit adds one to the exponent, and so does the
  // carry.
  u64 bits = ((u64)(exponent - 1) << 52) + m;
  return bits < INFINITY_BITS ? bits : INFINITY_BITS;
}

// 8 bytes at any address, the first one lowest. Reads whole aligned words of 4, so up to 3 bytes
// before and after them.
__device__ __forceinline__ u64 load_eight(const u8 *at) {
  const u32 *word = (const u32 *)((u64)at & ~3ull);
  u32 shift = (u32)((u64)at & 3) * 8, middle = word[1];
  return __funnelshift_r(word[0], middle, shift) | (u64)__funnelshift_r(middle, word[2], shift)
                                                       << 32;
}
// Sets the high bit of each byte of v that is no digit, up to the first of these at least. v is
// bytes ^ '0'.
//
//   v    0A 1E 05 02   of "25.:": ':' is 3A, '.' is 2E, the first byte stands right
//   sum  80 94 7B 78   + 76: at least 80 where the byte is 0A to 89
//   | v  80 80 00 00   the high bits, and of v those from 80 on. A byte from 8A on carries, but only above itself
__device__ __forceinline__ u64 nondigits(u64 v) {
  return ((v + 0x7676767676767676ull) | v) & 0x8080808080808080ull;
}
// The number that 4 digits spell, the first one in the lowest byte: pairs, then both pairs.
__device__ __forceinline__ u32 four_digits(u32 v) {
  v = v * (10 * 256 + 1) >> 8 & 0x00ff00ff;
  return v * (100 * 65536 + 1) >> 16;
}
__device__ __forceinline__ u32 eight_digits(u64 v) {
  return four_digits((u32)v) * 10000 + four_digits((u32)(v >> 32));
}
__device__ const u32 TENS[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// How far the text goes on, at least, for numbers to be read 8 bytes at a time: a sign, 19 digits
// and a point, one window of 8 more, and its words.
constexpr i64 WINDOWS = 32;

// Reads sign, digits and point, 8 bytes at a time, of a number of up to 19 digits that is not
// malformed and does not pass left bytes; says whether it is
// such a one. At least WINDOWS bytes lie after at.
//
//   text     - 1 2 2 . 4 1 9 4 1 5 5 ,
//   windows    |1 2 2 . 4 1 9 4|        3 digits, then the point
//                      |4 1 9 4 1 5 5 ,|  7 digits, then none
__device__ __forceinline__ bool short_digits(
    const u8 *__restrict__ at, u32 left, u32 grammar, Decimal &d) {
  u32 sign = at[0];
  d.negative = sign == '-';
  u32 i = d.negative || (sign == '+' && grammar == GRAMMAR_LENIENT), first = at[i];
  u32 count = 0, before = 0, point = 0;
  u64 digits = 0, v;
  for (;;) {
    v = load_eight(at + i) ^ 0x3030303030303030ull;
    u64 others = nondigits(v);
    u32 k = others ? (u32)first_bit(others) >> 3 : 8;
    if (k) digits = digits * TENS[k] + eight_digits(v << (64 - 8 * k));
    count += k, i += k;
    if (count > MAX_DIGITS) return false;
    if (k == 8) continue;
    v = v >> 8 * k & 0xff;
    if (point || v != ('.' ^ '0')) break;
    point = 1, before = count, i++;
  }
  if (!point) before = count;
  d.digits = digits, d.power = (i32)before - (i32)count, d.length = i, d.cut = 0, d.malformed = 0;
  d.exponent = i < left && ((v ^ '0') | 0x20) == 'e';
  bool strict = before && !(first == '0' && before > 1) && count > before - !point;
  return i <= left && (grammar == GRAMMAR_JSON ? strict : count != 0);
}
// The same of any number, digit by digit.
__device__ __forceinline__ void long_digits(
    const u8 *__restrict__ at, u32 left, u32 grammar, Decimal &d) {
  const bool json = grammar == GRAMMAR_JSON;
  u32 i = 0, c = left ? at[0] : 0;
  d.negative = c == '-', d.digits = 0, d.power = 0, d.cut = 0, d.malformed = 1, d.exponent = 0;
  if (c == '-' || (c == '+' && !json)) i = 1;
  u32 first = i, count = 0, significant = 0;
  for (u32 point = 0; point < 2; point++) {
    u32 from = i, digit;
    for (; i < left && (digit = at[i] - '0') < 10; i++) {
      if (json && !point && i == first + 1 && at[first] == '0') {
        d.length = i;  // no digit follows a leading 0
        return;
      }
      if (significant < MAX_DIGITS) {
        d.digits = d.digits * 10 + digit;
        significant += d.digits != 0;
        d.power -= point;
      } else {
        d.cut |= digit != 0;
        d.power += 1 - point;
      }
    }
    count += i - from;
    d.length = i;
    if (json && i == from) return;
    if (point || i == left || at[i] != '.') break;
    i++;
  }
  d.malformed = count == 0;
  d.exponent = count && i < left && (at[i] | 0x20) == 'e';
}
// Reads the exponent after the digits, if there is one.
__device__ __forceinline__ void exponent_digits(const u8 *__restrict__ at, u32 left, Decimal &d) {
  if (!d.exponent) return;
  u32 i = d.length + 1, sign = i < left ? at[i] : 0, digit;
  if (sign == '-' || sign == '+') i++;
  u32 from = i;
  i32 exponent = 0;
  for (; i < left && (digit = at[i] - '0') < 10; i++)
    if (exponent < MAX_EXPONENT) exponent = exponent * 10 + (i32)digit;
  d.malformed = i == from;
  d.length = i;
  d.power += sign == '-' ? -exponent : exponent;
}

// Reads the number that starts at byte at of text, which has n bytes, and of which left may be part
// of it.
__device__ __forceinline__ Decimal read_decimal(
    const u8 *__restrict__ text, i64 n, i64 at, u32 left, u32 grammar) {
  Decimal d;
  if (n - at < WINDOWS || !short_digits(text + at, left, grammar, d))
    long_digits(text + at, left, grammar, d);
  exponent_digits(text + at, left, d);
  return d;
}

// The float64 next to a number.
__device__ __forceinline__ Number rounded(const Decimal &d) {
  Number r = {NAN_BITS, d.length, NUMBER_MALFORMED};
  if (d.length > LONGEST) r.state = NUMBER_UNDECIDED;
  if (d.malformed || d.length > LONGEST) return r;
  u64 bits = eisel_lemire(d.digits, d.power);
  if (d.cut && eisel_lemire(d.digits + 1, d.power) != bits) {
    r.state = NUMBER_UNDECIDED;
    return r;
  }
  r.bits = bits | (u64)d.negative << 63;
  r.state = bits == INFINITY_BITS ? NUMBER_RANGE : NUMBER_VALID;
  return r;
}

// The number that starts at byte at of text, which has n bytes. No byte at limit or after it is
// part of the number, or read beyond what aligned words of
// 4 bytes make unavoidable; 0 <= at and limit <= n. What may follow a number is the caller's to
// say: compare length with what is expected.
__device__ __forceinline__ Number read_number(
    const u8 *__restrict__ text, i64 n, i64 at, i64 limit, u32 grammar) {
  i64 room = limit - at;
  u32 left = room > LONGEST ? LONGEST + 1 : room > 0 ? (u32)room : 0;
  return rounded(read_decimal(text, n, at, left, grammar));
}
