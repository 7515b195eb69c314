// rings_result.cuh: what counting rings gives, and how lists of rings are stored: rings.cu and
// coordinates.cu.
#pragma once
#include "text/depth.cuh"
#include "geom/positions_found.cuh"
#include "geom/rings.cuh"
#include "search.cuh"

// How coordinates are wrong; also in rings.go.
enum { RINGS_SOUND, RINGS_DEEP, RINGS_STRAY, RINGS_UNDECIDED };
// All ones before anything is found.
struct RingResult {
  u64 first;     // byte offset * 4 + RINGS_* of the first fault; all ones if there is none
  u64 disorder;  // the first span that is out of order; all ones if there is none
  i64 sum[3];    // parts, rings and places, each one less than there are
};

// An offset in 32 bits; one that they do not hold becomes the largest that they do.
__device__ __forceinline__ i32 short_offset(i64 v) { return (i32)min(v, 0x7fffffffll); }
// Tells where a ring begins, in 32 bits, too, if these are wanted.
__device__ __forceinline__ void store_ring(
    i64 *__restrict__ ring_place, i32 *__restrict__ short_place, i64 ring, i64 place) {
  ring_place[ring] = place;
  if (short_place) short_place[ring] = short_offset(place);
}
// Tells where all lists end, and begins what is to be found of the positions, if that is wanted.
__device__ __forceinline__ void end_rings(const RingResult *__restrict__ result, i64 spans,
    i64 *__restrict__ span_part, i64 *__restrict__ part_ring, i64 *__restrict__ ring_place,
    i32 *__restrict__ span_ring, i32 *__restrict__ short_place,
    PositionsFound *__restrict__ positions) {
  const i64 parts = result->sum[0] + 1, rings = result->sum[1] + 1;
  span_part[spans] = parts, part_ring[parts] = rings;
  store_ring(ring_place, short_place, rings, result->sum[2] + 1);
  if (span_ring) span_ring[spans] = short_offset(rings);
  if (positions) begin_positions(positions);
}
