// shapes.cu: records of a .shp, whose places a .shx says, become offsets and ordinates. Every byte
// that decides where something lies is checked here, also what
// the .shx says, so that it may say anything.
//
// buffer       elements     written by           what
// text         n bytes      -                    the records, one after the other, each at a multiple of 2 bytes
// index        records      -                    entries of the .shx: place in the file and length of the
//                                                content, in 16-bit words, big-endian
// rows, live   records, 1   -                    numbers of the records that are rows, ascending, and how
//                                                many; null: all of them are
// starts       records      records              place of each row's record in text. Nothing is looked at
//                                                from the last row on, here and below
// flags        records      records              SHAPE_THERE, SHAPE_MEASURED
// points       records + 1  records              positions of each row, 0 after the last; a scan makes
//                                                offsets of them. Null for points
// parts        records + 1  records              likewise parts, of what has some
// valid        records bits records              bit per row: it has a shape
// report       1            records, parts       see ShapeReport; 0 before
// rings        parts + 1    parts                positions before each part of all rows, and all
// x, y, z, m   positions    points, positions    ordinates; z and m may be null. 0 for a point of a row without shape
// measured     records      points, positions    1 if a measure of the row is one; 0 before
// kinds        records      kinds                as in WKB, 8 for z, 16 for m; 0 for no shape
// all          1            kinds                bit per kind that there is; 0 before
#include "bytes.cuh"
#include "search.cuh"

// Also in shapes.go.
struct ShapeReport {
  u32 odd;  // ODD_*
  u32 has;  // HAS_*
};
enum { ODD_RECORD = 1, ODD_LENGTH = 2, ODD_SHAPE = 4, ODD_PARTS = 8 };
enum { HAS_PARTS = 1, HAS_MEASURES = 2 };
enum { FAMILY_POINT = 1, FAMILY_LINE = 3, FAMILY_POLYGON = 5, FAMILY_MULTIPOINT = 8 };

enum { SHAPE_THERE = 1, SHAPE_MEASURED = 2 };
constexpr i64 HEAD = 8;  // bytes before the content of a record

// What a type is: the family, and whether there is a z and may be an m.
struct ShapeType {
  u32 family;
  bool z, m;
};
__device__ __forceinline__ ShapeType type_of(u32 type) {
  ShapeType t = {type % 10, type > 10 && type < 20, type > 10};
  return t;
}
// Bytes of a content before its arrays.
__device__ __forceinline__ i64 head_of(u32 family) {
  return family == FAMILY_POINT ? 4 : family == FAMILY_MULTIPOINT ? 40 : 44;
}

__device__ __forceinline__ i64 big_endian(u32 v) { return (i64)__byte_perm(v, 0, 0x0123); }
__device__ __forceinline__ i64 place_of(const u64 *__restrict__ index, i64 record, i64 base) {
  return 2 * big_endian((u32)index[record]) - base;
}
__device__ __forceinline__ i64 content_of(const u8 *__restrict__ text, i64 n, i64 at) {
  return 2 * big_endian((u32)(load_window(text, n, at) >> 32));
}

__device__ __forceinline__ void report_shapes(ShapeReport *report, u32 odd, u32 has) {
  odd = __reduce_or_sync(WARP, odd), has = __reduce_or_sync(WARP, has);
  if (lane_index()) return;
  if (odd & ~*(volatile u32 *)&report->odd) atomicOr(&report->odd, odd);
  if (has & ~*(volatile u32 *)&report->has) atomicOr(&report->has, has);
}

// A record begins where the one before it ends: so each one tells where the next one has to be, and
// the last one where the text has to end.
__device__ __forceinline__ u32 check_record(const u8 *__restrict__ text, i64 n,
    const u64 *__restrict__ index, i64 base, i64 first, i64 i, i64 records, i64 most) {
  const i64 at = place_of(index, i, base),
            next = i + 1 < records ? place_of(index, i + 1, base) : n;
  if (at < 0 || at > n - HEAD || (i == 0 && at)) return ODD_RECORD;
  const u64 head = load_window(text, n, at);
  const i64 content = 2 * big_endian((u32)(head >> 32));
  if (big_endian((u32)head) != first + i || at + HEAD + content != next) return ODD_RECORD;
  return content > most ? ODD_LENGTH : 0;
}

struct Shape {
  i64 points, parts;
  u32 flags, odd;
};
// The shape that a record holds, as far as its content lies in the text: else the record is odd by
// itself.
__device__ __forceinline__ Shape read_shape(const u8 *__restrict__ text, i64 n, i64 at, u32 type) {
  Shape s = {0, 0, 0, 0};
  if (at < 0 || at > n - HEAD) return s;
  const i64 content = content_of(text, n, at), from = at + HEAD;
  if (content > n - from) return s;
  s.odd = ODD_SHAPE;
  const u32 is = content < 4 ? ~0u : (u32)load_window(text, n, from);
  if (is == 0 && content == 4) s.odd = 0;
  if (is != type) return s;
  const ShapeType t = type_of(type);
  const i64 head = head_of(t.family);
  i64 need = 20 + 8 * t.z, measures = 8;
  if (t.family == FAMILY_POINT) {
    s.points = 1;
  } else {
    if (content < head) return s;
    s.points = (u32)load_window(text, n, from + head - 4);
    if (t.family != FAMILY_MULTIPOINT) s.parts = (u32)load_window(text, n, from + head - 8);
    need = head + 4 * s.parts + 16 * s.points + (t.z ? 16 + 8 * s.points : 0),
    measures = 16 + 8 * s.points;
  }
  if (!t.m) measures = 0;
  if ((content != need && content != need + measures) ||
      (t.family != FAMILY_POINT && t.family != FAMILY_MULTIPOINT && s.points && !s.parts)) {
    s.points = s.parts = 0;
    return s;
  }
  s.odd = 0, s.flags = SHAPE_THERE | (content > need ? SHAPE_MEASURED : 0);
  return s;
}

struct ShapeRecordsArgs {
  i64 n;
  i64 base;   // of the text in the file
  i64 first;  // number of the first record
  i64 records;
  i64 longest;  // content, in bytes
  i64 kind;     // type of all shapes
  i64 *starts;
  u8 *flags;
  i32 *points, *parts;
  u64 *valid;
  ShapeReport *report;
};

// One thread, one record, and the row of the same number, whose record is another one where some
// records are no rows.
KERNEL __launch_bounds__(BLOCK) shape_records(const u8 *__restrict__ text,
    const u64 *__restrict__ index, const i64 *__restrict__ rows, const i64 *__restrict__ live,
    const __grid_constant__ ShapeRecordsArgs args) {
  const i64 i = thread_index(), n = args.n, records = args.records;
  Shape s = {0, 0, 0, 0};
  u32 odd = 0;
  if (i < records) {
    odd = check_record(text, n, index, args.base, args.first, i, records, args.longest);
    if (!rows || i < *live) {
      const i64 at = place_of(index, rows ? rows[i] : i, args.base);
      s = read_shape(text, n, at, (u32)args.kind);
      args.starts[i] = at;
    }
    args.flags[i] = (u8)s.flags;
    if (args.points) args.points[i] = (i32)s.points;
    if (args.parts) args.parts[i] = (i32)s.parts;
  }
  store_bits(args.valid, i, records, s.flags & SHAPE_THERE);
  report_shapes(args.report, odd | s.odd,
      (s.parts > 1 ? HAS_PARTS : 0) | (s.flags & SHAPE_MEASURED ? HAS_MEASURES : 0));
}

// The rows of the first and of the last item of a block bound where its other items look for
// theirs.
__device__ __forceinline__ i64 row_of(
    const i64 *__restrict__ offsets, i64 rows, i64 items, i64 item) {
  __shared__ i64 bound[2];
  const i64 first = (i64)blockIdx.x * BLOCK,
            last = first + BLOCK < items ? first + BLOCK - 1 : items - 1;
  block_owners(offsets, 0, rows, first, last, bound);
  return item < items ? owner_of(offsets, bound[0], bound[1] + 1, item) : -1;
}

// One thread, one part. Parts begin at the first position, and each after the first position of
// the one before it, so that none is empty.
KERNEL __launch_bounds__(BLOCK) shape_parts(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ points, const i64 *__restrict__ parts,
    i64 records, i64 count, i64 *__restrict__ rings, ShapeReport *__restrict__ report) {
  const i64 i = thread_index(), row = row_of(parts, records, count, i);
  u32 odd = 0;
  if (row >= 0) {
    const i64 k = i - parts[row], at = starts[row] + HEAD + 44 + 4 * k;
    const u32 from = (u32)load_window(text, n, at);
    const bool behind = k ? from > (u32)load_window(text, n, at - 4) : from == 0;
    odd = behind && from < points[row + 1] - points[row] ? 0 : ODD_PARTS;
    rings[i] = points[row] + from;
  }
  if (i == count) rings[i] = points[records];
  report_shapes(report, odd, 0);
}

__device__ __forceinline__ u64 ordinate(u64 bits) {
  return (bits & ~(1ull << 63)) > 0x7ffull << 52 ? 0x7ff8ull << 48 : bits;
}
// NaN, and a measure of -10^38 or below, mean that there is no measure.
__device__ __forceinline__ bool is_measure(u64 bits) {
  return __longlong_as_double((i64)bits) > -1e38;
}

// One thread, one row of points.
KERNEL __launch_bounds__(BLOCK) shape_points(const u8 *__restrict__ text, i64 n, u32 type,
    const i64 *__restrict__ starts, const u8 *__restrict__ flags, i64 rows, u64 *__restrict__ x,
    u64 *__restrict__ y, u64 *__restrict__ z, u64 *__restrict__ m, u8 *__restrict__ measured) {
  const i64 i = thread_index();
  if (i >= rows) return;
  const u32 f = flags[i];
  u64 px = 0, py = 0, pz = 0, pm = 0;
  if (f & SHAPE_THERE) {
    i64 at = starts[i] + HEAD + 4;
    px = ordinate(load_window(text, n, at)), py = ordinate(load_window(text, n, at + 8)), at += 16;
    if (type_of(type).z) pz = ordinate(load_window(text, n, at)), at += 8;
    pm = f & SHAPE_MEASURED ? load_window(text, n, at) : ~0ull;
    if (is_measure(pm)) {
      if (measured) measured[i] = 1;
    } else {
      pm = ordinate(~0ull);
    }
  }
  x[i] = px, y[i] = py;
  if (z) z[i] = pz;
  if (m) m[i] = pm;
}

struct ShapePositionsArgs {
  i64 n, kind, records;
  i64 count;  // positions
  u64 *x, *y, *z, *m;
  u8 *measured;
};

// One thread, one position of a row that is no point.
KERNEL __launch_bounds__(BLOCK) shape_positions(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const u8 *__restrict__ flags, const i64 *__restrict__ points,
    const i64 *__restrict__ parts, const __grid_constant__ ShapePositionsArgs args) {
  const i64 i = thread_index(), n = args.n, row = row_of(points, args.records, args.count, i);
  if (row < 0) return;
  const ShapeType t = type_of((u32)args.kind);
  const i64 k = i - points[row], all = points[row + 1] - points[row];
  i64 at = starts[row] + HEAD + head_of(t.family);
  if (parts) at += 4 * (parts[row + 1] - parts[row]);
  args.x[i] = ordinate(load_window(text, n, at + 16 * k)),
  args.y[i] = ordinate(load_window(text, n, at + 16 * k + 8));
  at += 16 * all + 16;
  if (args.z) args.z[i] = ordinate(load_window(text, n, at + 8 * k));
  if (!args.m) return;
  if (t.z) at += 8 * all + 16;
  const u64 v = flags[row] & SHAPE_MEASURED ? load_window(text, n, at + 8 * k) : ~0ull;
  const bool is = is_measure(v);
  args.m[i] = is ? v : ordinate(~0ull);
  if (is) args.measured[row] = 1;
}

// One thread, one row. What has several parts is the Multi kind of lines; of polygons, where the
// rings lie decides.
KERNEL __launch_bounds__(BLOCK) shape_kinds(u32 type, const u8 *__restrict__ flags,
    const i64 *__restrict__ parts, const u8 *__restrict__ measured, i64 rows,
    u8 *__restrict__ kinds, u32 *__restrict__ all) {
  const i64 i = thread_index();
  const ShapeType t = type_of(type);
  u32 kind = 0;
  if (i < rows) {
    if (flags[i] & SHAPE_THERE) {
      switch (t.family) {
      case FAMILY_POINT: kind = 1; break;
      case FAMILY_LINE: kind = parts[i + 1] - parts[i] > 1 ? 5 : 2; break;
      case FAMILY_POLYGON: kind = 3; break;
      default: kind = 4;
      }
      kind += (t.z ? 8 : 0) + (measured && measured[i] ? 16 : 0);
    }
    kinds[i] = (u8)kind;
  }
  const u32 bits = __reduce_or_sync(WARP, kind ? 1u << kind : 0);
  if (lane_index() == 0 && (bits & ~*(volatile u32 *)all)) atomicOr(all, bits);
}
