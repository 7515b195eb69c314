// positions_found.cuh: what positions.cu finds of all positions. Who lists them may begin it.
#pragma once
#include "core.cuh"

// Also in positions.go.
struct PositionsFound {
  i64 malformed;  // the first byte that can't go on, or -1
  i64 empty;      // positions of no ordinate
  i64 more;       // ordinates after the third
  u32 dims;       // bit k: some position has k ordinates
  u32 undecided;  // positions that the host must read
};
// Before anything is found.
__device__ __forceinline__ void begin_positions(PositionsFound *__restrict__ found) {
  const PositionsFound nothing = {-1, 0, 0, 0, 0};
  *found = nothing;
}
