// fixed.cu: fields of fixed width in records of fixed length, as in DBF (dBASE III and later, section "Table Records" of its description).
//
//   text   | header | flag field 0 | field 1 | ... | flag field 0 | field 1 | ... |
//                   ^ first        ^ offset         ^ first + stride
//
// One thread a record, so that all lanes of a warp read the same field. Records are longer than the 32 bytes that memory gives at once, so a column costs
// 32 or 64 bytes a record to read, whoever reads it; neighbouring columns find each other's bytes in the cache.
//
// What is a null is decided here: blanks (20 and 00), all asterisks, and what the type adds. What is neither that nor a value is malformed.
#include "bytes.cuh"
#include "decimal.cuh"

enum { FIXED_VALID, FIXED_NULL, FIXED_MALFORMED, FIXED_OVERFLOW, FIXED_FRACTION, FIXED_UNDECIDED };

// Bit 7 of each byte of v that is no blank, among the first n.
__device__ __forceinline__ u64 ink(u64 v, i64 n) { return ~(zero_bytes(v) | zero_bytes(v ^ ONES * ' ')) & HIGHS & low_bytes(n); }

struct Field {
  i64 start, end;
};
// A record's field without the blanks around it.
__device__ __forceinline__ Field trimmed_field(const u8 *__restrict__ text, i64 n, i64 at, i64 width) {
  Field f = {at, at + width};
  for (u64 seen = 0; f.start < f.end && !seen;) {
    seen = ink(load_window(text, n, f.start), f.end - f.start);
    f.start += first_bit(seen) >> 3;
  }
  if (f.start >= f.end) f.start = f.end = at;
  while (f.start < f.end) {
    i64 from = f.end - 8 > f.start ? f.end - 8 : f.start;
    u64 seen = ink(load_window(text, n, from), f.end - from);
    f.end = seen ? from + 8 - (__clzll((i64)seen) >> 3) : from;
    if (seen) break;
  }
  return f;
}
// Nothing but asterisks is how dBASE writes a number that does not fit its field.
__device__ __forceinline__ bool is_null(const u8 *__restrict__ text, Field f) {
  while (f.start < f.end && text[f.start] == '*') f.start++;
  return f.start == f.end;
}

KERNEL __launch_bounds__(BLOCK) fixed_spans(const u8 *__restrict__ text, i64 n, i64 first, i64 stride, i64 width, i64 records, i64 *__restrict__ starts, i64 *__restrict__ ends) {
  const i64 i = thread_index();
  if (i >= records) return;
  Field f = trimmed_field(text, n, first + i * stride, width);
  starts[i] = f.start, ends[i] = f.end;
}

KERNEL __launch_bounds__(BLOCK) fixed_float64(const u8 *__restrict__ text, i64 n, i64 first, i64 stride, i64 width, i64 records, u64 *__restrict__ out, u64 *__restrict__ valid, u64 *__restrict__ malformed, u64 *__restrict__ undecided) {
  const i64 i = thread_index();
  u32 state = FIXED_NULL;
  if (i < records) {
    u64 bits = NAN_BITS;
    Field f = trimmed_field(text, n, first + i * stride, width);
    if (!is_null(text, f)) {
      Number x = read_number(text, n, f.start, f.end, GRAMMAR_LENIENT);
      state = f.start + x.length != f.end     ? FIXED_MALFORMED
              : x.state == NUMBER_VALID     ? FIXED_VALID
              : x.state == NUMBER_UNDECIDED ? FIXED_UNDECIDED
                                            : FIXED_MALFORMED;
      if (state == FIXED_VALID) bits = x.bits;
    }
    out[i] = bits;
  }
  store_bits(valid, i, records, state == FIXED_VALID);
  store_bits(malformed, i, records, state == FIXED_MALFORMED);
  store_bits(undecided, i, records, state == FIXED_UNDECIDED);
}

// The integer that a field spells; with digits behind a point or an exponent it is a number, but no integer.
__device__ __forceinline__ u32 read_integer(const u8 *__restrict__ text, i64 n, Field f, i64 &value) {
  const u8 *at = text + f.start;
  const u32 left = (u32)(f.end - f.start);
  Decimal d;
  if (n - f.start < WINDOWS || !short_digits(at, left, GRAMMAR_LENIENT, d)) long_digits(at, left, GRAMMAR_LENIENT, d);
  const u32 digits = d.length;
  if (!d.malformed) exponent_digits(at, left, d);
  if (d.malformed || d.length != left) return FIXED_MALFORMED;
  if (d.power < 0 || d.length != digits) return FIXED_FRACTION;
  if (d.power > 0 || d.digits > 0x7fffffffffffffffull + d.negative) return FIXED_OVERFLOW;
  value = (i64)(d.negative ? 0 - d.digits : d.digits);
  return FIXED_VALID;
}

KERNEL __launch_bounds__(BLOCK) fixed_int64(const u8 *__restrict__ text, i64 n, i64 first, i64 stride, i64 width, i64 records, i64 *__restrict__ out, u64 *__restrict__ valid, u64 *__restrict__ malformed, u64 *__restrict__ overflow, u64 *__restrict__ fraction) {
  const i64 i = thread_index();
  u32 state = FIXED_NULL;
  if (i < records) {
    i64 value = 0;
    Field f = trimmed_field(text, n, first + i * stride, width);
    if (!is_null(text, f)) state = read_integer(text, n, f, value);
    out[i] = value;
  }
  store_bits(valid, i, records, state == FIXED_VALID);
  store_bits(malformed, i, records, state == FIXED_MALFORMED);
  store_bits(overflow, i, records, state == FIXED_OVERFLOW);
  store_bits(fraction, i, records, state == FIXED_FRACTION);
}

// Days from 1970-01-01 to a date of the proleptic Gregorian calendar, for years from 0. Years start in March, so that leap days come last (Howard Hinnant,
// chrono-Compatible Low-Level Date Algorithms, days_from_civil).
__device__ __forceinline__ i32 days_from_civil(u32 year, u32 month, u32 day) {
  year += 400 - (month <= 2);  // 400 years are 146097 days; none is below 0 so
  u32 era = year / 400, of_era = year % 400, of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return (i32)((era - 1) * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year) - 719468;
}
__device__ __forceinline__ u32 month_days(u32 year, u32 month) {
  if (month == 2) return 28 + (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
  return 30 + (0x15aau >> month & 1);  // 31: bits 1, 3, 5, 7, 8, 10, 12
}
// YYYYMMDD. All zeros is a null.
__device__ __forceinline__ u32 read_date(u64 v, i32 &days) {
  const u64 digits = v ^ ONES * '0';
  if (!ink(v, 8) || !digits || v == ONES * '*') return FIXED_NULL;
  if (nondigits(digits)) return FIXED_MALFORMED;
  u32 ymd = eight_digits(digits), year = ymd / 10000, month = ymd / 100 % 100, day = ymd % 100;
  if (month < 1 || month > 12 || day < 1 || day > month_days(year, month)) return FIXED_MALFORMED;
  days = days_from_civil(year, month, day);
  return FIXED_VALID;
}

KERNEL __launch_bounds__(BLOCK) fixed_date(const u8 *__restrict__ text, i64 n, i64 first, i64 stride, i64 records, i32 *__restrict__ out, u64 *__restrict__ valid, u64 *__restrict__ malformed) {
  const i64 i = thread_index();
  u32 state = FIXED_NULL;
  if (i < records) {
    i32 days = 0;
    state = read_date(load_window(text, n, first + i * stride), days);
    out[i] = days;
  }
  store_bits(valid, i, records, state == FIXED_VALID);
  store_bits(malformed, i, records, state == FIXED_MALFORMED);
}

KERNEL __launch_bounds__(BLOCK) fixed_logical(const u8 *__restrict__ text, i64 first, i64 stride, i64 records, u64 *__restrict__ out, u64 *__restrict__ valid, u64 *__restrict__ malformed) {
  const i64 i = thread_index();
  const u8 c = i < records ? text[first + i * stride] : ' ';
  const bool on = c == 'T' || c == 't' || c == 'Y' || c == 'y', off = c == 'F' || c == 'f' || c == 'N' || c == 'n';
  const bool null = c == '?' || c == ' ' || c == 0 || c == '*';
  store_bits(out, i, records, on);
  store_bits(valid, i, records, on || off);
  store_bits(malformed, i, records, !on && !off && !null);
}

KERNEL __launch_bounds__(BLOCK) fixed_equal(const u8 *__restrict__ text, i64 first, i64 stride, i64 records, u32 byte, u64 *__restrict__ out) {
  const i64 i = thread_index();
  store_bits(out, i, records, i < records && text[first + i * stride] == byte);
}
