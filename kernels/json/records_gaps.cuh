// records_gaps.cuh: what stands between two tokens, read by one thread in a bounded number of
// steps.
#pragma once
#include "bytes.cuh"

constexpr i64 GAP_BLANKS = 4096;   // in a row; more are not known
constexpr i64 GAP_LONGEST = 1024;  // bytes of a key or a number; more are not known

// Also in records.go.
enum {
  VALUE_NONE,
  VALUE_NULL,
  VALUE_FALSE,
  VALUE_TRUE,
  VALUE_NUMBER,
  VALUE_STRING,
  VALUE_OBJECT,
  VALUE_ARRAY
};

__device__ __forceinline__ bool gap_blank(u32 c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// The first byte in [from, to) that is not blank, or to. The search ends GAP_BLANKS bytes after
// from. lines: whether a line feed is among the blanks.
__device__ __forceinline__ i64 gap_skip(
    const u8 *__restrict__ text, i64 from, i64 to, bool &lines) {
  lines = false;
  for (to = min(to, from + GAP_BLANKS); from < to; from++) {
    const u32 c = text[from];
    if (!gap_blank(c)) break;
    lines |= c == '\n';
  }
  return from;
}
// The first byte in [from, to) that is no blank or too far away, or -1.
__device__ __forceinline__ i64 gap_fault(const u8 *__restrict__ text, i64 from, i64 to) {
  bool lines;
  from = gap_skip(text, from, to, lines);
  return from < to ? from : -1;
}

// After the digits from at on.
__device__ __forceinline__ i64 gap_digits(const u8 *__restrict__ text, i64 at, i64 to) {
  while (at < to && text[at] - (u32)'0' < 10) at++;
  return at;
}
// After the number at byte at (RFC 8259 section 6), none of it at to or after it; -1 - the byte
// that can't continue one.
__device__ __forceinline__ i64 gap_number(const u8 *__restrict__ text, i64 at, i64 to) {
  at += text[at] == '-';
  i64 end = gap_digits(text, at, to);
  if (end == at) return -1 - at;
  if (text[at] == '0' && end > at + 1) return -1 - (at + 1);
  for (int part = 0; part < 2; part++) {  // fraction, exponent
    if (end == to || (part ? text[end] | 0x20 : text[end]) != (part ? 'e' : '.')) continue;
    at = end + 1;
    if (part && at < to && (text[at] == '+' || text[at] == '-')) at++;
    end = gap_digits(text, at, to);
    if (end == at) return -1 - at;
  }
  return end;
}
// Does the word of length letters, the first one lowest, stand at byte at? A token stands somewhere
// after, which is no letter.
__device__ __forceinline__ bool gap_word(
    const u8 *__restrict__ text, i64 at, u64 word, int length) {
  for (int i = 0; i < length; i++)
    if (text[at + i] != (u8)(word >> 8 * i)) return false;
  return true;
}
// The kind of the scalar that v is, of a length from 1 to 8, its first byte lowest and 0 after the
// last; VALUE_NONE if it is not one, has an exponent or blanks around it.
//
//   v      - 1 2 . 5          the first byte that is no digit ends the number or is the point, the next one ends it
//   other  1 . . 1 . 1 1 1
__device__ __forceinline__ u32 gap_short(u64 v, int length) {
  if (v == 0x6c6c756eull) return VALUE_NULL;
  if (v == 0x65736c6166ull) return VALUE_FALSE;
  if (v == 0x65757274ull) return VALUE_TRUE;
  if ((v & 0xff) == '-') v >>= 8, length--;
  const u64 digit = v ^ ONES * '0',
            other = (((digit & ~HIGHS) + ONES * (128 - 10)) | digit) & HIGHS;
  const int whole = first_bit(other) >> 3;
  if (whole == 0 || (whole > 1 && (v & 0xff) == '0')) return VALUE_NONE;
  if (whole == length) return VALUE_NUMBER;
  const int all = first_bit(other & (other - 1)) >> 3;
  return (v >> 8 * whole & 0xff) == '.' && all == length && all > whole + 1 ? VALUE_NUMBER
                                                                            : VALUE_NONE;
}
// After the null, false, true or number at byte at, which is less than to; kind gets which,
// VALUE_NONE if it is not one of these. Then -1 - the byte at fault.
__device__ __forceinline__ i64 gap_scalar(const u8 *__restrict__ text, i64 at, i64 to, u32 &kind) {
  const u32 c = text[at];
  kind = VALUE_NONE;
  if (c == '-' || c - '0' < 10) {
    const i64 end = gap_number(text, at, min(to, at + GAP_LONGEST));
    if (end >= 0) kind = VALUE_NUMBER;
    return end;
  }
  kind = c == 'n' ? VALUE_NULL : c == 'f' ? VALUE_FALSE : c == 't' ? VALUE_TRUE : VALUE_NONE;
  // null, false, true
  const u64 word = c == 'n' ? 0x6c6c756eull : c == 'f' ? 0x65736c6166ull : 0x65757274ull;
  const int length = c == 'f' ? 5 : 4;
  if (kind != VALUE_NONE && gap_word(text, at, word, length)) return at + length;
  kind = VALUE_NONE;
  return -1 - at;
}
