// dates.cuh: the day that a date names, for one thread. Dates are of the proleptic Gregorian
// calendar, in years 0000 to 9999.
#pragma once
#include "bytes.cuh"
#include "number/decimal.cuh"

// Days from 1970-01-01 to a date of the proleptic Gregorian calendar, for years from 0. Years start
// in March, so that leap days come last (Howard Hinnant,
// chrono-Compatible Low-Level Date Algorithms, days_from_civil).
__device__ __forceinline__ i32 days_from_civil(u32 year, u32 month, u32 day) {
  year += 400 - (month <= 2);  // 400 years are 146097 days; none is below 0 so
  u32 era = year / 400, of_era = year % 400,
      of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return (i32)((era - 1) * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year) - 719468;
}
__device__ __forceinline__ u32 month_days(u32 year, u32 month) {
  if (month == 2) return 28 + (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
  return 30 + (0x15aau >> month & 1);  // 31: bits 1, 3, 5, 7, 8, 10, 12
}

// The day of YYYYMMDD. digits are the bytes less '0', the first one lowest.
__device__ __forceinline__ bool date_of(u64 digits, i32 &day) {
  if (nondigits(digits)) return false;
  const u32 ymd = eight_digits(digits), year = ymd / 10000, month = ymd / 100 % 100,
            of_month = ymd % 100;
  if (month < 1 || month > 12 || of_month < 1 || of_month > month_days(year, month)) return false;
  day = days_from_civil(year, month, of_month);
  return true;
}

constexpr i64 DATE_BYTES = 10;
// The day of YYYY-MM-DD or YYYY/MM/DD at text[at, at + DATE_BYTES), which lies inside of the text's
// n bytes.
//   head    2 0 2 5 - 0 6 -
//   tail        2 5 - 0 6 - 2 3
//   digits  2 0 2 5 0 6 2 3
__device__ __forceinline__ bool separated_date(
    const u8 *__restrict__ text, i64 n, i64 at, i32 &day) {
  const u64 head = load_window(text, n, at), tail = load_window(text, n, at + 2);
  const u32 separator = head >> 32 & 0xff;
  if ((separator != '-' && separator != '/') || head >> 56 != separator) return false;
  return date_of(
      ((head & 0xffffffffull) | (head >> 8 & 0xffff00000000ull) | tail >> 48 << 48) ^ ONES * '0',
      day);
}
