// geometry_kinds.cu: which rows have a third ordinate, of geometries whose types members_read.cu
// read, and which kinds of geometries there are.
//
// buffer    elements   written by     what
// kinds     rows       dims           kind of the row, and 8 if a position of it has a z; 0 where there is no geometry
// first     rows + 1   -              positions before each row, and all
// report    1          dims, totals   see GeometryReport; zero before
//
// Positions look for their rows, not rows at their positions: a row of millions of them costs what
// millions of rows cost.
#include "geom/geometry_kinds.cuh"
#include "search.cuh"

__device__ __forceinline__ bool is_nan(u64 bits) { return (bits & ~(1ull << 63)) > 0x7ffull << 52; }

// One thread, one position. Each that has a z writes the same byte.
KERNEL __launch_bounds__(BLOCK) geometry_kinds_dims(const u64 *__restrict__ x,
    const u64 *__restrict__ z, i64 positions, const i64 *__restrict__ first, i64 rows, u8 *kinds,
    GeometryReport *__restrict__ report) {
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

KERNEL __launch_bounds__(BLOCK) geometry_kinds_totals(
    const u8 *__restrict__ kinds, i64 rows, GeometryReport *__restrict__ report) {
  const i64 i = thread_index();
  const u32 kind = i < rows ? kinds[i] : 0;
  report_bits(report, kind ? 1u << (kind & 31) : 0, 0, 0);
}
