// geometry_kinds.cu: what each geometry is by itself, its kind and whether it has a third ordinate, and which of these there are.
//
// buffer    elements   written by     what
// starts    rows       rows           of the coordinates of each row; where they would be where there are none
// ends      rows       rows           likewise
// types     rows       rows           which geometry its type names
// kinds     rows       rows, dims     kind of the row, and 8 if a position of it has a z; 0 where there is no geometry
// valid     rows/64    rows           bit per row: there is a geometry
// first     rows + 1   -              positions before each row, and all
// report    1          rows, dims,    see GeometryReport; zero before
//                      totals
//
// Positions look for their rows, not rows at their positions: a row of millions of them costs what millions of rows cost.
#include "kind.cuh"
#include "search.cuh"

// Also in geometry_kinds.go.
struct GeometryReport {
  u32 kinds;  // bit per kind
  u32 odd;    // GEOMETRY_*
  u32 named;  // bit per kind that the records' own types name; the last one KIND_UNDECIDED
};
enum { KIND_POINT = 1, KIND_COLLECTION = 7, KIND_Z = 8 };
enum { GEOMETRY_UNLIKE = 1, GEOMETRY_HOLLOW = 2 };

__device__ __forceinline__ bool is_nan(u64 bits) { return (bits & ~(1ull << 63)) > 0x7ffull << 52; }

// Adds bits to a report of which most have been there for long; the block calls together, once.
__device__ __forceinline__ void report_bits(GeometryReport *report, u32 kinds, u32 odd, u32 named) {
  __shared__ u32 shared[3];
  if (threadIdx.x < 3) shared[threadIdx.x] = 0;
  __syncthreads();
  kinds = __reduce_or_sync(WARP, kinds), odd = __reduce_or_sync(WARP, odd), named = __reduce_or_sync(WARP, named);
  if (lane_index() == 0 && kinds) atomicOr(&shared[0], kinds);
  if (lane_index() == 0 && odd) atomicOr(&shared[1], odd);
  if (lane_index() == 0 && named) atomicOr(&shared[2], named);
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (shared[0] & ~*(volatile u32 *)&report->kinds) atomicOr(&report->kinds, shared[0]);
  if (shared[1] & ~*(volatile u32 *)&report->odd) atomicOr(&report->odd, shared[1]);
  if (shared[2] & ~*(volatile u32 *)&report->named) atomicOr(&report->named, shared[2]);
}

// As ValueKind of records.go.
constexpr u32 VALUE_OF_NULL = 1;

// One thread, one row: its members are in type, geometry, coordinates and geometries, all ones where there is none. Without geometry all rows have one. record: the
// member that says a row's own type; may be null.
KERNEL __launch_bounds__(BLOCK) geometry_kinds_rows(const u8 *__restrict__ text, i64 n, const u32 *__restrict__ value_start, const u32 *__restrict__ value_end, const u8 *__restrict__ value_kind, i64 members, i64 rows, const u32 *__restrict__ record, const u32 *__restrict__ type, const u32 *__restrict__ geometry, const u32 *__restrict__ coordinates, const u32 *__restrict__ geometries, const i64 *__restrict__ base, i64 *__restrict__ starts, i64 *__restrict__ ends, u8 *__restrict__ types, u8 *__restrict__ kinds, u64 *__restrict__ valid, GeometryReport *__restrict__ report) {
  const i64 i = thread_index();
  u32 kind = 0, unlike = 0, own = 0;
  bool has = false;
  if (i < rows) {
    const u32 named = type[i], held = geometry ? geometry[i] : ~0u, placed = coordinates[i], collected = geometries[i], said = record ? record[i] : ~0u;  // all on their way at a time
    const i64 name_at = member_name(named, value_start, value_kind, members), said_at = member_name(said, value_start, value_kind, members);
    i64 start = base[i], end = start;
    bool has_coordinates = false;
    if (placed < members && value_kind[placed] > VALUE_OF_NULL) has_coordinates = true, start = value_start[placed], end = value_end[placed];
    const bool has_geometries = collected < members && value_kind[collected] > VALUE_OF_NULL;
    has = !geometry || (held < members && value_kind[held] > VALUE_OF_NULL);
    json_kinds(text, n, name_at, said_at, kind, own);
    own = record ? 1u << min(own, 31u) : 0;
    starts[i] = start, ends[i] = end, types[i] = (u8)kind;
    const bool known = kind >= KIND_POINT && kind <= KIND_COLLECTION, collection = kind == KIND_COLLECTION;
    unlike = has & (!known | (has_coordinates == collection) | (has_geometries != collection));
    if (!has || !known) kind = 0;
    kinds[i] = (u8)kind;
  }
  store_bits(valid, i, rows, has);
  report_bits(report, kind ? 1u << kind : 0, unlike ? GEOMETRY_UNLIKE : 0, own);
}

// One thread, one position. Whoever has a z writes the same byte.
KERNEL __launch_bounds__(BLOCK) geometry_kinds_dims(const u64 *__restrict__ x, const u64 *__restrict__ z, i64 positions, const i64 *__restrict__ first, i64 rows, u8 *kinds, GeometryReport *__restrict__ report) {
  __shared__ i64 bound[2];
  const i64 i = thread_index(), start = (i64)blockIdx.x * BLOCK;
  block_owners(first, 0, rows, start, min(start + BLOCK, positions) - 1, bound);
  u32 hollow = 0;
  if (i < positions && rows > 0) {
    const bool empty = is_nan(x[i]), has_z = z && !is_nan(z[i]);
    if (empty || has_z) {
      const i64 row = owner_of(first, bound[0], bound[1] + 1, i);
      const u32 kind = kinds[row] & 7;
      hollow = empty && kind != KIND_POINT;
      if (has_z) kinds[row] = (u8)(kind | KIND_Z);
    }
  }
  report_bits(report, 0, hollow ? GEOMETRY_HOLLOW : 0, 0);
}

KERNEL __launch_bounds__(BLOCK) geometry_kinds_totals(const u8 *__restrict__ kinds, i64 rows, GeometryReport *__restrict__ report) {
  const i64 i = thread_index();
  const u32 kind = i < rows ? kinds[i] : 0;
  report_bits(report, kind ? 1u << (kind & 31) : 0, 0, 0);
}
