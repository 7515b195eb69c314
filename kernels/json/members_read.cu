// members_read.cu: the values of members of rows: single values of columns, the lengths of their
// texts, and the kind of each row's geometry.
//
// All of it is one launch, so that a few columns fill a GPU. The text and the members of a row are
// next to each other, so that they come from memory once and not once for each reader.
//
//   block    | rows 0 to 255 of column 0 | the same rows of column 1 | ... | their geometries | rows 256 to
//            511 of column 0 | ...
//
// buffer      elements         what
// slots       rows, each       member of each row, all ones where there is none
// starts      columns * rows   of the text of each row's value; 0 where it has no single value
// ends        columns * rows   likewise
// valid       columns * words  bit per row: a value that is not null
// numbers     columns * words  bit per row: a number
// trues       columns * words  bit per row: true
// kinds       columns          the kinds of all numbers of a column; 0 before
// out         rows, each       int32, int64 or float64, of columns whose type is expected
// undecided   floats * words   bit per row of each column of float64 that is made: the host must look
// offsets...  texts            of each column that is measured as texts, see strings.cu
// begins      rows             of the coordinates of each row; where they would be where there are none
// stops       rows             likewise
// types       rows             which geometry its type names
// geometries  rows             kind of the row; 0 where there is no geometry
// present     rows/64          bit per row: there is a geometry
// report      1                see GeometryReport; zero before
#include "geom/geometry_kinds.cuh"
#include "geom/kind.cuh"
#include "number/scalars.cuh"
#include "text/strings_measure.cuh"

// Members, and the text that their values are.
struct MemberText {
  const u8 *__restrict__ text;
  i64 n;
  const u32 *__restrict__ start, *__restrict__ end;
  const u8 *__restrict__ kind;
  i64 count;

  // Has a row a member, with a value other than null?
  __device__ __forceinline__ bool has(u32 member) const {
    return member < count && kind[member] > VALUE_NULL;
  }
};

// Up to 8 columns of single values.
struct ScalarColumnArgs {
  i64 *starts, *ends;
  u64 *valid, *numbers, *trues;
  u32 *kinds;
  void *out[8];
  u64 *undecided;
  u32 types;  // of out: COLUMN_*, 4 bits each
  u32 texts;  // bit per column: its texts are measured
  // the first of the columns that are measured; the others follow it, each list by itself
  StringColumn text;
};
// Of column number i of those that are measured.
__device__ __forceinline__ StringColumn text_column(const StringColumn &first, i64 i, i64 rows) {
  const i64 blocks = (rows + BLOCK - 1) / BLOCK + 1, halves = (rows + WORD - 1) / WORD * 2;
  return {first.offsets + i * (rows + 1), first.block_sums + i * blocks,
      first.flags + i * STRING_FLAGS * halves, first.before + i * rows, first.first + i * blocks,
      first.summary + i};
}
// The single value of a row in one column. All threads of the block call.
__device__ __forceinline__ void read_scalar(const MemberText &x, i64 rows, i64 row, u32 column,
    const u32 *__restrict__ slots, const ScalarColumnArgs &to) {
  __shared__ u32 all;
  const u32 type = to.types >> 4 * column & 15;
  const i64 words = (rows + WORD - 1) / WORD;
  u32 k = 0, mine = 0;
  bool unsure = false;
  Span span = {0, 0};
  if (threadIdx.x == 0) all = 0;
  if (row < rows) {
    const u32 member = slots[row];
    i64 start = 0, end = 0;
    // at once, needed or not
    if (member < x.count) k = x.kind[member], start = x.start[member], end = x.end[member];
    Decimal d = {};
    if (k == VALUE_NUMBER) mine = number_kinds_of(x.text, x.n, start, end, d);
    if (type != COLUMN_NONE)
      unsure = store_value(to.out[column], type, row, k == VALUE_NUMBER, d, k == VALUE_TRUE);
    const i64 quote = k == VALUE_STRING;
    const bool single = k >= VALUE_FALSE && k <= VALUE_STRING;
    if (single) span.start = start + quote, span.end = end - quote;
    to.starts[column * rows + row] = span.start, to.ends[column * rows + row] = span.end;
  }
  if (to.texts >> column & 1) {
    const bool bad = clear_invalid(span, x.n);
    measure_string({x.text, x.n, STRINGS_JSON}, row, rows, span, bad,
        text_column(to.text, __popc(to.texts & (u32)low_bits(column)), rows));
  }
  store_bits(to.valid + column * words, row, rows, k > VALUE_NULL);
  store_bits(to.numbers + column * words, row, rows, k == VALUE_NUMBER);
  store_bits(to.trues + column * words, row, rows, k == VALUE_TRUE);
  if (type == COLUMN_FLOAT64)
    store_bits(to.undecided + floats_before(to.types, column) * words, row, rows, unsure);
  mine = __reduce_or_sync(WARP, mine);
  __syncthreads();
  if (lane_index() == 0 && mine) atomicOr(&all, mine);
  __syncthreads();
  // Few blocks bring anything new. What is read may be old, then the atomic is one too many.
  if (threadIdx.x == 0 && all & ~*(volatile u32 *)(to.kinds + column))
    atomicOr(to.kinds + column, all);
}

// Members of a row's geometry, as slots. Without geometry all rows have one; record says a row's
// own type, and may be null.
struct GeometryMembers {
  const u32 *__restrict__ record, *__restrict__ kind, *__restrict__ geometry,
                                                          *__restrict__ coordinates,
                                                              *__restrict__ geometries;
  const i64 *__restrict__ base;
};
struct GeometryColumnArgs {
  i64 *begins, *stops;
  u8 *types, *geometries;
  u64 *present;
  GeometryReport *report;
};
// What the geometry of a row is. All threads of the block call.
__device__ __forceinline__ void read_geometry(const MemberText &x, i64 rows, i64 row,
    const GeometryMembers &of, const GeometryColumnArgs &to) {
  u32 kind = 0, unlike = 0, own = 0;
  bool has = false;
  if (row < rows) {
    // all on their way at a time
    const u32 named = of.kind[row], held = of.geometry ? of.geometry[row] : ~0u,
              placed = of.coordinates[row], collected = of.geometries[row],
              said = of.record ? of.record[row] : ~0u;
    const i64 name_at = member_name(named, x.start, x.kind, x.count),
              said_at = member_name(said, x.start, x.kind, x.count);
    i64 start = of.base[row], end = start;
    const bool has_coordinates = x.has(placed), has_geometries = x.has(collected);
    if (has_coordinates) start = x.start[placed], end = x.end[placed];
    has = !of.geometry || x.has(held);
    json_kinds(x.text, x.n, name_at, said_at, kind, own);
    own = of.record ? 1u << min(own, 31u) : 0;
    to.begins[row] = start, to.stops[row] = end, to.types[row] = (u8)kind;
    const bool known = kind >= KIND_POINT && kind <= KIND_COLLECTION,
               collection = kind == KIND_COLLECTION;
    unlike = has & (!known | (has_coordinates == collection) | (has_geometries != collection));
    if (!has || !known) kind = 0;
    to.geometries[row] = (u8)kind;
  }
  store_bits(to.present, row, rows, has);
  report_bits(to.report, kind ? 1u << kind : 0, unlike ? GEOMETRY_UNLIKE : 0, own);
}

struct MembersReadArgs {
  i64 n, members, rows, columns;
  const u32 *slots[8];  // of the columns
  ScalarColumnArgs scalars;
  GeometryColumnArgs geometries;
};

// One thread, one row of one column, or its geometry, if geometry_type is not null.
KERNEL __launch_bounds__(BLOCK) members_read(const u8 *__restrict__ text,
    const u32 *__restrict__ start, const u32 *__restrict__ end, const u8 *__restrict__ kind,
    const u32 *__restrict__ record_type, const u32 *__restrict__ geometry_type,
    const u32 *__restrict__ geometry, const u32 *__restrict__ coordinates,
    const u32 *__restrict__ geometries, const i64 *__restrict__ base,
    const __grid_constant__ MembersReadArgs args) {
  const i64 rows = args.rows;
  const u32 columns = (u32)args.columns, parts = columns + (geometry_type != nullptr),
            part = blockIdx.x % parts;
  const i64 row = (i64)(blockIdx.x / parts) * BLOCK + threadIdx.x;
  const MemberText x = {text, args.n, start, end, kind, args.members};
  if (part == columns)
    read_geometry(x, rows, row,
        {record_type, geometry_type, geometry, coordinates, geometries, base}, args.geometries);
  else read_scalar(x, rows, row, part, args.slots[part], args.scalars);
}
