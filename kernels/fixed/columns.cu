// columns.cu: columns of the records of fixed.cu that are rows. One thread, one field;
// columns are side by side, so that a few fill a GPU, and fields that are next to each other are
// read at about the same time, as in table/values.cu.
//
// buffer     elements         written by   what
// text       n bytes          -            records of `length` bytes each, from byte 0 on
// live       records bits     live         bit per record: it is a row
// rows       records          -            numbers of the records that are rows, ascending; their number is
//                                          in count, and no other element is looked at
// values     words, each      values       int32, int64, float64, two words of a decimal128, or a mask of
//                                          what is true; columns one after the other
// valid      records bits,    values,      bit per row: the field has a value
//            each             texts
// from, to   records, each    texts        the text of each field; after the last row empty
// odd        1                all          a bit for each FIXED_* that is no value, from FIXED_MALFORMED on; 0 before
#include "fixed/fixed.cuh"

// Also in fixed_columns.go.
enum {
  COLUMN_INT32,
  COLUMN_INT64,
  COLUMN_FLOAT64,
  COLUMN_DATE,
  COLUMN_LOGICAL,
  COLUMN_BINARY32,
  COLUMN_DOUBLE,
  COLUMN_MONEY,
  COLUMN_TIMESTAMP,
  COLUMN_TEXT,
  COLUMN_VARIABLE
};

constexpr u32 NO_FLAG = 0xfff;
// Julian days of years 1, 1970 and the end of 9999
constexpr i64 FIRST_DAY = 1721426, EPOCH_DAY = 2440588, LAST_DAY = 5373484, DAY_MILLIS = 86400000;

KERNEL __launch_bounds__(BLOCK) fixed_live(const u8 *__restrict__ text, i64 length, i64 records,
    u32 deleted, u64 *__restrict__ live, u32 *__restrict__ odd) {
  const i64 i = thread_index();
  const u8 flag = i < records ? text[i * length] : ' ';
  const bool plain = flag == ' ' || flag == 0;
  store_bits(live, i, records, i < records && (plain || (deleted && flag == '*')));
  add_state(odd, plain || flag == '*' ? FIXED_VALID : FIXED_FLAG);
}

// A column: where its field is in a record, and two flags, which are bits of the field of flags, or
// NO_FLAG.
struct FixedColumnRef {
  u32 at, width, kind, null, size;  // kind: COLUMN_*
};
// Records, and the columns of them that a launch makes. flags: the field of flags in a record.
struct FixedColumns {
  i64 n, length, records, flags;
  i64 count;
  FixedColumnRef columns[8];
};
// The field that is this thread's: of column i of the launch.
struct FixedField {
  u32 i, width, type, null, size;
  i64 at;  // of the field in its record
  i64 row;
};
__device__ __forceinline__ FixedField fixed_field(const FixedColumns &of) {
  FixedField f;
  const u32 count = (u32)of.count;
  f.i = blockIdx.x % count, f.row = (i64)(blockIdx.x / count) * BLOCK + threadIdx.x;
  const FixedColumnRef &c = of.columns[f.i];
  f.at = c.at, f.width = c.width, f.type = c.kind, f.null = c.null, f.size = c.size;
  return f;
}
__device__ __forceinline__ bool is_narrow(u32 type) {
  return type == COLUMN_INT32 || type == COLUMN_DATE || type == COLUMN_BINARY32;
}
// How many words the values of the columns before a column have: FixedType.Words.
__device__ __forceinline__ i64 words_before(u32 column, const FixedColumns &of) {
  const i64 records = of.records;
  i64 words = 0;
  for (u32 i = 0; i < column; i++) {
    const u32 type = of.columns[i].kind;
    words += type == COLUMN_LOGICAL ? (records + WORD - 1) / WORD
             : is_narrow(type)      ? (records + 1) / 2
             : type == COLUMN_MONEY ? 2 * records
                                    : records;
  }
  return words;
}
// A flag of the record whose field of flags begins at `flags`.
__device__ __forceinline__ bool flag_of(const u8 *__restrict__ text, i64 flags, u32 flag) {
  return flag != NO_FLAG && (text[flags + (flag >> 3)] >> (flag & 7) & 1);
}

// nan, inf and infinity in any case, with a sign or without.
__device__ __forceinline__ bool special_field(
    const u8 *__restrict__ text, i64 n, Field f, u64 &bits) {
  const u32 sign = text[f.start];
  f.start += sign == '-' || sign == '+';
  const i64 left = f.end - f.start;
  if (left != 3 && left != 8) return false;
  const u64 v = (load_window(text, n, f.start) | ONES * 0x20) & low_bytes(left);
  const bool nan = v == 0x6e616e, infinite = v == 0x666e69 || v == 0x7974696e69666e69ull;
  bits = nan ? 0x7ffull << 52 | 1ull << 51 : INFINITY_BITS | (u64)(sign == '-') << 63;
  return nan || infinite;
}
__device__ __forceinline__ u32 number_field(
    const u8 *__restrict__ text, i64 n, Field f, u32 type, u64 &bits) {
  if (is_null(text, f)) return FIXED_NULL;
  if (type == COLUMN_FLOAT64) {
    const Number x = read_number(text, n, f.start, f.end, GRAMMAR_LENIENT);
    if (f.start + x.length == f.end && x.state == NUMBER_VALID) {
      bits = x.bits;
      return FIXED_VALID;
    }
    if (x.state == NUMBER_UNDECIDED) return FIXED_UNDECIDED;
    return special_field(text, n, f, bits) ? FIXED_VALID : FIXED_MALFORMED;
  }
  i64 value = 0;
  const u32 state = read_integer(text, n, f, value);
  bits = (u64)value;
  if (state != FIXED_VALID) return state;
  if (text[f.end - 1] == '.') return FIXED_FRACTION;
  return type == COLUMN_INT32 && value != (i32)value ? FIXED_OVERFLOW : FIXED_VALID;
}
__device__ __forceinline__ u32 date_field(const u8 *__restrict__ text, i64 n, Field f, u64 &bits) {
  if (is_null(text, f)) return FIXED_NULL;
  if (f.end - f.start != 8) return FIXED_MALFORMED;
  i32 days = 0;
  const u32 state = read_date(load_window(text, n, f.start), days);
  bits = (u32)days;
  return state;
}
__device__ __forceinline__ u32 logical_field(const u8 *__restrict__ text, Field f, u64 &bits) {
  if (f.start == f.end) return FIXED_NULL;
  const u8 c = text[f.start];
  bits = c == 'T' || c == 't' || c == 'Y' || c == 'y';
  if (f.end - f.start > 1) return FIXED_MALFORMED;
  if (c == '?') return FIXED_NULL;
  return bits || c == 'F' || c == 'f' || c == 'N' || c == 'n' ? FIXED_VALID : FIXED_MALFORMED;
}
// Two int32: a Julian day and milliseconds of that day. All zeros or blanks are null.
__device__ __forceinline__ u32 timestamp_field(u64 v, u64 &bits) {
  const i64 day = (i32)(u32)v, clock = (i32)(u32)(v >> 32);
  bits = (u64)((day - EPOCH_DAY) * DAY_MILLIS + clock);
  if (day >= FIRST_DAY && day <= LAST_DAY && clock >= 0 && clock < DAY_MILLIS) return FIXED_VALID;
  return ink(v, 8) ? FIXED_MALFORMED : FIXED_NULL;
}
__device__ __forceinline__ u32 double_field(u64 v, u64 &bits) {
  bits = (v & ~(1ull << 63)) > INFINITY_BITS ? 0x7ffull << 52 | 1ull << 51 : v;
  return FIXED_VALID;
}
__device__ __forceinline__ u32 value_field(
    const u8 *__restrict__ text, i64 n, i64 at, u32 width, u32 type, u64 &bits) {
  if (type <= COLUMN_LOGICAL) {
    const Field f = trimmed_field(text, n, at, width);
    return type == COLUMN_DATE      ? date_field(text, n, f, bits)
           : type == COLUMN_LOGICAL ? logical_field(text, f, bits)
                                    : number_field(text, n, f, type, bits);
  }
  const u64 v = load_window(text, n, at);
  if (type == COLUMN_TIMESTAMP) return timestamp_field(v, bits);
  if (type == COLUMN_DOUBLE) return double_field(v, bits);
  bits = v;
  return FIXED_VALID;
}

KERNEL __launch_bounds__(BLOCK) fixed_values(const u8 *__restrict__ text,
    const i64 *__restrict__ rows, const i64 *__restrict__ count,
    const __grid_constant__ FixedColumns of, u64 *__restrict__ values, u64 *__restrict__ valid,
    u32 *__restrict__ odd) {
  const FixedField p = fixed_field(of);
  const i64 n = of.n, length = of.length, records = of.records, flags = of.flags;
  u64 *out = values + words_before(p.i, of);
  u32 state = FIXED_NULL;
  u64 bits = 0;
  if (p.row < *count) {
    const i64 record = rows[p.row] * length;
    if (!flag_of(text, record + flags, p.null))
      state = value_field(text, n, record + p.at, p.width, p.type, bits);
    if (state != FIXED_VALID) bits = 0;
    if (is_narrow(p.type)) {
      ((u32 *)out)[p.row] = (u32)bits;
    } else if (p.type == COLUMN_MONEY) {
      out[2 * p.row] = bits, out[2 * p.row + 1] = (u64)((i64)bits >> 63);
    } else if (p.type != COLUMN_LOGICAL) {
      out[p.row] = bits;
    }
  }
  store_bits(valid + p.i * ((records + WORD - 1) / WORD), p.row, records, state == FIXED_VALID);
  if (p.type == COLUMN_LOGICAL) store_bits(out, p.row, records, (u32)bits);
  add_state(odd, state);
}

// Whether a byte from 0x80 on lies in a span.
__device__ __forceinline__ bool beyond_ascii(const u8 *__restrict__ text, i64 n, Field f) {
  u64 high = 0;
  for (i64 at = f.start; at < f.end; at += 8)
    high |= load_window(text, n, at) & low_bytes(f.end - at < 8 ? f.end - at : 8);
  return (high & HIGHS) != 0;
}

// A text of variable length is as long as its last byte says, where a flag says so; else it is the
// whole field, blanks and all. It has a value even if it is empty.
KERNEL __launch_bounds__(BLOCK) fixed_texts(const u8 *__restrict__ text,
    const i64 *__restrict__ rows, const i64 *__restrict__ count,
    const __grid_constant__ FixedColumns of, u32 ascii, i64 *__restrict__ from,
    i64 *__restrict__ to, u64 *__restrict__ valid, u32 *__restrict__ odd) {
  const FixedField p = fixed_field(of);
  const i64 n = of.n, length = of.length, records = of.records, flags = of.flags;
  u32 state = FIXED_NULL;
  Field f = {0, 0};
  if (p.row < *count) {
    const i64 record = rows[p.row] * length, at = record + p.at;
    if (!flag_of(text, record + flags, p.null)) {
      if (p.type == COLUMN_VARIABLE) {
        state = FIXED_VALID;
        f.start = at, f.end = at + p.width;
        if (p.width && flag_of(text, record + flags, p.size)) {
          const u32 size = text[f.end - 1];
          if (size >= p.width) state = FIXED_MALFORMED;
          f.end = at + (size < p.width ? size : 0);
        }
      } else {
        f = trimmed_field(text, n, at, p.width);
        if (f.start < f.end) state = FIXED_VALID;
      }
      if (ascii && beyond_ascii(text, n, f)) state = FIXED_HIGH;
    }
  }
  if (p.row < records) from[p.i * records + p.row] = f.start, to[p.i * records + p.row] = f.end;
  store_bits(valid + p.i * ((records + WORD - 1) / WORD), p.row, records, state == FIXED_VALID);
  add_state(odd, state);
}
