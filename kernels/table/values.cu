// values.cu: what the fields of a Table are, and columns made of them. One thread, one field;
// columns are side by side, so that a few fill a GPU, and fields that are next to each other are
// read at about the same time, as in scalars.cu.
//
// buffer     elements         written by   what
// starts     rows             -            see table.cu
// stops      columns * rows   -            likewise
// kinds      columns          kinds        CELL_* and KIND_* of all fields of a column; 0 before
// out        rows, each       parse        int32, int64, float64, or a mask of what is true
// valid      words, each      parse,       bit per row: the field has a value
//                             dates, texts
// days       rows, each       dates        days since 1970-01-01
// first,     1, each          dates        of the column's days, the first and the last one; a high and a low
//                                          number before
// last
// from, to   rows, each       texts        the text of each field, without quotes around it
// odd        1                parse,       CELL_UNSURE and CELL_WRONG; 0 before
//                             points
// x, y       rows             points       0 where there is no point
#include "number/dates.cuh"
#include "table/table.cuh"

// Also in table_values.go, above the first five KIND_* and NEGATIVE, INEXACT, UNDECIDED, which say
// of integers and of numbers with a point what they say there.
enum {
  CELL_TEXT = 1 << 10,
  CELL_BOOL = 1 << 11,
  CELL_EMPTY = 1 << 12,  // in quotes, with nothing in them
  CELL_WRONG = 1 << 13,  // an invalid ordinate
  CELL_DATE = 1 << 14,
  CELL_UNSURE = KIND_UNDECIDED,
};
enum { TABLE_INT32, TABLE_INT64, TABLE_FLOAT64, TABLE_BOOL };

// A number that begins with digits, a sign or a point, or text. What may be an identifier is text:
// zeros in front, an integer beyond int64. -0 is no integer.
//
//   007  18446744073709551616  1e999  5"    text
//   +5  -12  0                              integers
//   .5  5.  -0  +1.5E3                      no integers
__device__ __forceinline__ u32 number_cell(const TableText &t, Cell c) {
  const bool sign = t.text[c.from] == '+' || t.text[c.from] == '-';
  const i64 first = c.from + sign;
  if (first >= c.to) return CELL_TEXT;
  const u32 lead = t.text[first], next = first + 1 < c.to ? t.text[first + 1] : 0;
  if ((lead - '0' > 9 && lead != '.') || (lead == '0' && next - '0' < 10)) return CELL_TEXT;
  u32 kinds = c.to - c.from > LONGEST
                  ? (u32)KIND_MALFORMED
                  : number_kinds_of(t.text, t.n, t.text[c.from] == '+' ? first : c.from, c.to);
  if (kinds & KIND_MALFORMED) {  // of RFC 8259
    const u32 state = float64_of(t.text, t.n, c.from, c.to, GRAMMAR_LENIENT).state;
    return state == NUMBER_VALID       ? KIND_REAL
           : state == NUMBER_UNDECIDED ? (u32)CELL_UNSURE
                                       : (u32)CELL_TEXT;
  }
  if (kinds & (KIND_UINT64 | KIND_HUGE | KIND_RANGE)) return CELL_TEXT;
  if (lead == '0' && c.to - first == 1 && t.text[c.from] == '-') return KIND_REAL;
  return kinds;
}
// Nothing may stand around a date, which has no quotes that are doubled.
__device__ __forceinline__ bool date_cell(const TableText &t, Cell c, i32 &day) {
  return c.to - c.from == DATE_BYTES && separated_date(t.text, t.n, c.from, day);
}
// The kinds of a field that is not empty.
__device__ __forceinline__ u32 cell_kinds(const TableText &t, Cell c) {
  i32 day;
  if (date_cell(t, c, day)) return CELL_DATE;
  if (boolean_word(folded(t, c))) return CELL_BOOL;
  bool unsure;
  u64 bits;
  c = trimmed_cell(t, c, unsure);
  if (unsure) return CELL_UNSURE;
  if (c.from == c.to) return CELL_TEXT;
  if (special_number(folded(t, c), bits)) return KIND_REAL;
  return number_cell(t, c);
}

KERNEL __launch_bounds__(BLOCK) table_kinds(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const u32 *__restrict__ stops, i64 rows, u32 quote, u32 columns,
    u32 *__restrict__ kinds) {
  __shared__ u32 all;
  const u32 column = blockIdx.x % columns;
  const i64 row = (i64)(blockIdx.x / columns) * BLOCK + threadIdx.x;
  u32 mine = 0;
  if (threadIdx.x == 0) all = 0;
  if (row < rows) {
    const TableText t = {text, n, starts, stops, rows, quote};
    const Cell c = table_cell(t, column, row);
    mine = c.from < c.to ? cell_kinds(t, c) : c.quoted ? (u32)CELL_EMPTY : 0;
  }
  mine = __reduce_or_sync(WARP, mine);
  __syncthreads();
  if (lane_index() == 0 && mine) atomicOr(&all, mine);
  __syncthreads();
  // Few blocks bring anything new. What is read may be old, then the atomic is one too many.
  if (threadIdx.x == 0 && all & ~*(volatile u32 *)(kinds + column)) atomicOr(kinds + column, all);
}

// A table, and the columns of it that a launch makes.
struct TableColumnRef {
  u32 number, kind;  // kind: TABLE_*
};
struct TableColumns {
  i64 n, rows;
  i64 quote;  // 0: none
  i64 count;
  TableColumnRef columns[8];
};
// The field that is this thread's: of column i of the launch.
struct TableField {
  u32 i, column, type;
  i64 row;
};
__device__ __forceinline__ TableField table_field(const TableColumns &of) {
  TableField f;
  const u32 count = (u32)of.count;
  f.i = blockIdx.x % count, f.row = (i64)(blockIdx.x / count) * BLOCK + threadIdx.x;
  f.column = of.columns[f.i].number, f.type = of.columns[f.i].kind;
  return f;
}

// Adds what a warp found to odd.
__device__ __forceinline__ void add_odd(u32 *odd, u32 mine) {
  mine = __reduce_or_sync(WARP, mine);
  if (mine && lane_index() == 0) atomicOr(odd, mine);
}

struct TableParseArgs {
  void *out[8];
  u64 *valid;
  u32 *odd;
};

KERNEL __launch_bounds__(BLOCK) table_parse(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const u32 *__restrict__ stops,
    const __grid_constant__ TableColumns table, const __grid_constant__ TableParseArgs args) {
  const TableField p = table_field(table);
  const i64 n = table.n, rows = table.rows, words = (rows + WORD - 1) / WORD;
  void *out = args.out[p.i];
  u32 mine = 0;
  bool has = false, yes = false;
  if (p.row < rows) {
    const TableText t = {text, table.n, starts, stops, rows, (u32)table.quote};
    Cell c = table_cell(t, p.column, p.row);
    has = c.from < c.to;
    u64 bits = 0;
    if (p.type == TABLE_BOOL) {
      yes = has && boolean_word(folded(t, c)) == WORD_TRUE;
    } else if (has) {
      bool unsure;
      c = trimmed_cell(t, c, unsure);
      if (p.type == TABLE_FLOAT64) {
        if (!special_number(folded(t, c), bits)) {
          const Float64 v = float64_of(text, n, c.from, c.to, GRAMMAR_LENIENT);
          bits = v.bits, mine = v.state == NUMBER_UNDECIDED ? (u32)CELL_UNSURE : 0;
        }
      } else {
        i64 v;
        read_integer(text, n, c.from, c.to, GRAMMAR_LENIENT, v);
        bits = (u64)v;
      }
    }
    if (p.type == TABLE_INT32) ((u32 *)out)[p.row] = (u32)bits;
    else if (p.type != TABLE_BOOL) ((u64 *)out)[p.row] = bits;
  }
  store_bits(args.valid + p.i * words, p.row, rows, has);
  if (p.type == TABLE_BOOL) store_bits((u64 *)out, p.row, rows, yes);
  add_odd(args.odd, mine);
}

struct TableDatesArgs {
  i32 *days;
  u64 *valid;
  i32 *first, *last;
};

KERNEL __launch_bounds__(BLOCK) table_dates(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const u32 *__restrict__ stops,
    const __grid_constant__ TableColumns table, const __grid_constant__ TableDatesArgs args) {
  const TableField p = table_field(table);
  const i64 rows = table.rows;
  i32 day = 0;
  bool has = false;
  if (p.row < rows) {
    const TableText t = {text, table.n, starts, stops, rows, (u32)table.quote};
    has = date_cell(t, table_cell(t, p.column, p.row), day);
    args.days[p.i * rows + p.row] = day;
  }
  store_bits(args.valid + p.i * ((rows + WORD - 1) / WORD), p.row, rows, has);
  const i32 low = __reduce_min_sync(WARP, has ? day : 0x7fffffff),
            high = __reduce_max_sync(WARP, has ? day : (i32)0x80000000);
  if (lane_index()) return;
  // As in table_kinds: few warps bring anything new.
  i32 *first = args.first + p.i, *last = args.last + p.i;
  if (low < *(volatile i32 *)first) atomicMin(first, low);
  if (high > *(volatile i32 *)last) atomicMax(last, high);
}

struct TableTextsArgs {
  i64 *from, *to;
  u64 *valid;
};

// The spans of texts, of which one without quotes and bytes is no value.
KERNEL __launch_bounds__(BLOCK) table_texts(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const u32 *__restrict__ stops,
    const __grid_constant__ TableColumns table, const __grid_constant__ TableTextsArgs args) {
  const TableField p = table_field(table);
  const i64 rows = table.rows;
  bool has = false;
  if (p.row < rows) {
    const TableText t = {text, table.n, starts, stops, rows, (u32)table.quote};
    const Cell c = table_cell(t, p.column, p.row);
    has = c.quoted || c.from < c.to;
    args.from[p.i * rows + p.row] = c.from, args.to[p.i * rows + p.row] = c.to;
  }
  store_bits(args.valid + p.i * ((rows + WORD - 1) / WORD), p.row, rows, has);
}

// The offsets of columns of texts, one after the other, to offsets of each column by itself, which
// has one more.
KERNEL __launch_bounds__(BLOCK) table_offsets(
    const i64 *__restrict__ offsets, i64 rows, i64 columns, i32 *__restrict__ narrow) {
  const i64 i = thread_index();
  if (i >= (rows + 1) * columns) return;
  const i64 column = i / (rows + 1), row = i % (rows + 1);
  narrow[i] = (i32)(offsets[column * rows + row] - offsets[column * rows]);
}

// An ordinate: any finite number, zeros in front or not, or nothing. odd gets why it is neither.
__device__ __forceinline__ bool ordinate_cell(const TableText &t, Cell c, u64 &bits, u32 &odd) {
  bool unsure;
  c = trimmed_cell(t, c, unsure);
  if (!unsure && says_null(folded(t, c))) return false;
  const Float64 v = float64_of(t.text, t.n, c.from, c.to, GRAMMAR_LENIENT);
  bits = v.bits;
  if (v.state != NUMBER_VALID || unsure)
    odd |= unsure || v.state == NUMBER_UNDECIDED ? (u32)CELL_UNSURE : (u32)CELL_WRONG;
  return true;
}

KERNEL __launch_bounds__(BLOCK) table_points(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const u32 *__restrict__ stops, i64 rows, u32 quote,
    u32 x_column, u32 y_column, u64 *__restrict__ x, u64 *__restrict__ y, u64 *__restrict__ valid,
    u32 *__restrict__ odd) {
  const i64 row = thread_index();
  bool has = false;
  u32 mine = 0;
  if (row < rows) {
    const TableText t = {text, n, starts, stops, rows, quote};
    u64 at_x = 0, at_y = 0;
    const bool has_x = ordinate_cell(t, table_cell(t, x_column, row), at_x, mine),
               has_y = ordinate_cell(t, table_cell(t, y_column, row), at_y, mine);
    has = has_x && has_y;
    x[row] = has ? at_x : 0, y[row] = has ? at_y : 0;
  }
  store_bits(valid, row, rows, has);
  add_odd(odd, mine);
}
