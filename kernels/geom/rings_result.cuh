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
struct RingsFound {
  u64 first;     // byte offset * 4 + RINGS_* of the first fault; all ones if there is none
  u64 disorder;  // the first span that is out of order; all ones if there is none
  i64 sum[3];    // parts, rings and places, each one less than there are
};

// An offset in 32 bits; one that they do not hold becomes the largest that they do.
__device__ __forceinline__ i32 short_offset(i64 v) { return (i32)min(v, 0x7fffffffll); }
// The offsets of spans, parts and rings, and the places of positions. What is 32 bits wide may be
// null, and so may positions.
struct RingLists {
  i64 spans;
  i64 *span_part, *part_ring, *ring_place, *place;
  i32 *span_ring, *short_place;
  PositionsFound *positions;
};
// Stores where a ring begins, in 32 bits, too, if these are wanted.
__device__ __forceinline__ void store_ring(const RingLists &to, i64 ring, i64 place) {
  to.ring_place[ring] = place;
  if (to.short_place) to.short_place[ring] = short_offset(place);
}
// Stores where all lists end, and begins what is to be found of the positions, if that is wanted.
__device__ __forceinline__ void end_rings(
    const RingsFound *__restrict__ result, const RingLists &to) {
  const i64 parts = result->sum[0] + 1, rings = result->sum[1] + 1;
  to.span_part[to.spans] = parts, to.part_ring[parts] = rings;
  store_ring(to, rings, result->sum[2] + 1);
  if (to.span_ring) to.span_ring[to.spans] = short_offset(rings);
  if (to.positions) begin_positions(to.positions);
}
