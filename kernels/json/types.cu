// types.cu: types of GeoJSON by their names: see kind.cuh.
//
// buffer     elements   what
// position   count      first bytes of names
// kind       count      KIND_*; also in kind.go
// found      1          a bit for each kind that there is, the last one TYPE_UNDECIDED; 0 at first
#include "geom/kind.cuh"

// One thread, one name in a JSON string.
KERNEL __launch_bounds__(BLOCK) types_names(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ position, i64 count, u64 end_bytes, u32 end_count,
    u8 *__restrict__ kind) {
  const i64 i = thread_index();
  const Ends ends = {end_bytes, end_count};
  if (i < count) kind[i] = (u8)name_kind(text, n, position[i], ends);
}

// One thread, one row: the name that its member is, if it has one that is a string.
KERNEL __launch_bounds__(BLOCK) types_found(const u8 *__restrict__ text, i64 n,
    const u32 *__restrict__ slots, i64 rows, const u32 *__restrict__ value_start,
    const u8 *__restrict__ value_kind, i64 members, u32 *__restrict__ found) {
  __shared__ u32 all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  const i64 row = thread_index();
  const u32 bit = row < rows
                      ? 1u << min(json_kind(text, n,
                                      member_name(slots[row], value_start, value_kind, members)),
                            31u)
                      : 0,
            bits = __reduce_or_sync(WARP, bit);
  if (lane_index() == 0 && bits) atomicOr(&all, bits);
  __syncthreads();
  if (threadIdx.x == 0 && all & ~*(volatile u32 *)found) atomicOr(found, all);
}
