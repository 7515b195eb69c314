// scalars.cuh: a single value of a column, and the columns of a launch, for one thread.
#pragma once
#include "number/float64.cuh"
#include "number/number_kinds.cuh"

// As ValueKind of records.go. Those from false to string are single values.
enum { VALUE_NULL = 1, VALUE_FALSE, VALUE_TRUE, VALUE_NUMBER, VALUE_STRING };

// Also in scalars.go.
enum { COLUMN_INT32, COLUMN_INT64, COLUMN_FLOAT64, COLUMN_NONE };

// Writes the value of a row, which is a number, or true, or neither. What a number becomes that the
// type does not hold is left open: then the kinds say so.
// True if the host must look at it.
__device__ __forceinline__ bool store_value(
    void *out, u32 type, i64 row, bool number, const Decimal &d, bool one) {
  if (type == COLUMN_FLOAT64) {
    Number v = {one ? ONE_BITS : 0, 0, NUMBER_VALID};
    if (number) v = rounded(d);
    ((u64 *)out)[row] = v.bits;
    return v.state == NUMBER_UNDECIDED;
  }
  const u64 v = !number ? one : d.negative ? 0 - d.digits : d.digits;
  if (type == COLUMN_INT64) ((u64 *)out)[row] = v;
  if (type == COLUMN_INT32) ((u32 *)out)[row] = (u32)v;
  return false;
}

// The types of a launch's columns are 4 bits each, the first one's lowest. This is how many of
// float64, which alone is 2 in its lower two bits, lie before one of them.
//
//   types   2 0 2 1 3   the first one left
//   result  0 1 1 2 2
__device__ __forceinline__ u32 floats_before(u32 types, u32 i) {
  return __popc(types >> 1 & ~types & 0x11111111u & (u32)low_bits(4 * i));
}
