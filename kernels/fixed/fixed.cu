// fixed.cu: fields of fixed width in records of fixed length, as in DBF (dBASE III and later,
// section "Table Records" of its description).
//
//   text   | header | flag field 0 | field 1 | ... | flag field 0 | field 1 | ... |
//                   ^ first        ^ offset         ^ first + stride
//
// One thread a record, so that all lanes of a warp read the same field. Records are longer than the
// 32 bytes that memory gives at once, so a column costs
// 32 or 64 bytes a record to read; neighbouring columns find each other's bytes
// in the cache.
#include "fixed/fixed.cuh"

KERNEL __launch_bounds__(BLOCK) fixed_spans(const u8 *__restrict__ text, i64 n, i64 first,
    i64 stride, i64 width, i64 records, i64 *__restrict__ starts, i64 *__restrict__ ends) {
  const i64 i = thread_index();
  if (i >= records) return;
  Field f = trimmed_field(text, n, first + i * stride, width);
  starts[i] = f.start, ends[i] = f.end;
}

KERNEL __launch_bounds__(BLOCK) fixed_float64(const u8 *__restrict__ text, i64 n, i64 first,
    i64 stride, i64 width, i64 records, u64 *__restrict__ out, u64 *__restrict__ valid,
    u64 *__restrict__ malformed, u64 *__restrict__ undecided) {
  const i64 i = thread_index();
  u32 state = FIXED_NULL;
  if (i < records) {
    u64 bits = NAN_BITS;
    Field f = trimmed_field(text, n, first + i * stride, width);
    if (!is_null(text, f)) {
      Number x = read_number(text, n, f.start, f.end, GRAMMAR_LENIENT);
      state = f.start + x.length != f.end   ? FIXED_MALFORMED
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

KERNEL __launch_bounds__(BLOCK) fixed_int64(const u8 *__restrict__ text, i64 n, i64 first,
    i64 stride, i64 width, i64 records, i64 *__restrict__ out, u64 *__restrict__ valid,
    u64 *__restrict__ malformed, u64 *__restrict__ overflow, u64 *__restrict__ fraction) {
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

KERNEL __launch_bounds__(BLOCK) fixed_date(const u8 *__restrict__ text, i64 n, i64 first,
    i64 stride, i64 records, i32 *__restrict__ out, u64 *__restrict__ valid,
    u64 *__restrict__ malformed) {
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

KERNEL __launch_bounds__(BLOCK) fixed_logical(const u8 *__restrict__ text, i64 first, i64 stride,
    i64 records, u64 *__restrict__ out, u64 *__restrict__ valid, u64 *__restrict__ malformed) {
  const i64 i = thread_index();
  const u8 c = i < records ? text[first + i * stride] : ' ';
  const bool on = c == 'T' || c == 't' || c == 'Y' || c == 'y',
             off = c == 'F' || c == 'f' || c == 'N' || c == 'n';
  const bool null = c == '?' || c == ' ' || c == 0 || c == '*';
  store_bits(out, i, records, on);
  store_bits(valid, i, records, on || off);
  store_bits(malformed, i, records, !on && !off && !null);
}

KERNEL __launch_bounds__(BLOCK) fixed_equal(const u8 *__restrict__ text, i64 first, i64 stride,
    i64 records, u32 byte, u64 *__restrict__ out) {
  const i64 i = thread_index();
  store_bits(out, i, records, i < records && text[first + i * stride] == byte);
}
