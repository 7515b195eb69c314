// tagged_dims.cu: the kind of each geometry, and its dimension, which its tag may say, or else its
// positions do: WKT.
//
// buffer    elements    written by   what
// types     rows        -            what each tag says
// valid     rows/64     -            which rows have a geometry
// collects  rows/64     kinds        which of them are collections
// first     rows + 1    -            positions before each row, and all
// sizes     rows        sizes        bit k: a position of the row has k ordinates; zero before
// tags      rows        -            TagDims of each row
// kinds     rows        kinds, rows  of each geometry, 0 where there is none; and its dimension with it
// z, m      positions   move         the third and the fourth ordinate, NaN where there is none; then z and m
// report    1           kinds, rows  see GeometryReport; zero before
//
// Positions look for their rows, not rows at their positions: a row of millions of them costs what
// millions of rows cost.
#include "geom/geometry_kinds.cuh"
#include "search.cuh"

enum { KIND_M = 16, GEOMETRY_RAGGED = 4 };
constexpr u64 NO_ORDINATE = 0x7ff8000000000000ull;

__device__ __forceinline__ bool is_nan(u64 bits) { return (bits & ~(1ull << 63)) > 0x7ffull << 52; }

// One thread, one row.
KERNEL __launch_bounds__(BLOCK) tagged_dims_kinds(const u8 *__restrict__ types,
    const u64 *__restrict__ valid, i64 rows, u8 *__restrict__ kinds, u64 *__restrict__ collects,
    GeometryReport *__restrict__ report) {
  const i64 i = thread_index();
  u32 kind = 0, unlike = 0;
  if (i < rows && (valid[i / 64] >> i % 64 & 1))
    kind = types[i], unlike = kind - 1 >= KIND_COLLECTION ? GEOMETRY_UNLIKE : 0;
  if (unlike) kind = 0;
  if (i < rows) kinds[i] = (u8)kind;
  store_bits(collects, i, rows, kind == KIND_COLLECTION);
  report_bits(report, kind ? 1u << kind : 0, unlike, 0);
}

// The row of position i. All threads of the block call.
__device__ __forceinline__ i64 row_of(
    const i64 *__restrict__ first, i64 rows, i64 positions, i64 i) {
  __shared__ i64 bound[2];
  const i64 start = (i64)blockIdx.x * BLOCK;
  block_owners(first, 0, rows, start, min(start + BLOCK, positions) - 1, bound);
  return owner_of(first, bound[0], bound[1] + 1, i);
}

// One thread, one position. Few bits of a row are new, however many positions it has.
KERNEL __launch_bounds__(BLOCK) tagged_dims_sizes(const u64 *__restrict__ x,
    const u64 *__restrict__ z, const u64 *__restrict__ m, i64 positions,
    const i64 *__restrict__ first, i64 rows, u32 *__restrict__ sizes) {
  const i64 i = thread_index(), row = row_of(first, rows, positions, i);
  if (i >= positions || is_nan(x[i])) return;
  const u32 bit = 1u << (!z || is_nan(z[i]) ? 2 : !m || is_nan(m[i]) ? 3 : 4);
  if (!(*(volatile u32 *)(sizes + row) & bit)) atomicOr(sizes + row, bit);
}

// One thread, one row.
KERNEL __launch_bounds__(BLOCK) tagged_dims_rows(const u32 *__restrict__ sizes,
    const u8 *__restrict__ tags, i64 rows, u8 *__restrict__ kinds,
    GeometryReport *__restrict__ report) {
  const i64 i = thread_index();
  u32 kind = i < rows ? kinds[i] : 0, odd = 0;
  if (kind) {
    const u32 size = sizes[i], tag = tags[i] & 3;
    u32 dims = tag;
    if (!tag) dims = size == 8 ? 1 : size == 16 ? 3 : 0;
    odd = size && size != 4u << __popc(dims) ? GEOMETRY_RAGGED : 0;
    kind |= dims * KIND_Z;
    kinds[i] = (u8)kind;
  }
  report_bits(report, kind ? 1u << kind : 0, odd, 0);
}

// One thread, one position: the third ordinate of a geometry that has m and no z is its m.
KERNEL __launch_bounds__(BLOCK) tagged_dims_move(i64 positions, const i64 *__restrict__ first,
    i64 rows, const u8 *__restrict__ kinds, u64 *__restrict__ z, u64 *__restrict__ m) {
  const i64 i = thread_index(), row = row_of(first, rows, positions, i);
  if (i >= positions || (kinds[row] & (KIND_Z | KIND_M)) != KIND_M) return;
  m[i] = z[i], z[i] = NO_ORDINATE;
}
