// rings.cuh: what a bracket or comma among coordinates begins: a part, a ring, a position.
//
// The kind of a geometry says how many levels of brackets stand around a position; two of them, or
// fewer, are its part and its ring:
//
//                            level 0            1                2           3           written with
//                                                                                        brackets and commas
//                                                                                        (GeoJSON)
//   Point                    part ring position
//   LineString, MultiPoint   part ring          position
//   Polygon, MultiLineString part               ring             position
//   MultiPolygon                                part             ring        position
//
//                            level 0            1                2                       written with commas
//                                                                                        between positions
//                                                                                        (WKT)
//   Point, LineString        part ring ,
//   MultiPoint               part ring ,        position
//   Polygon, MultiLineString part               ring ,
//   MultiPolygon                                part             ring ,
//
// "," is a ring's bracket and each comma in it: a position begins after it. In a MultiPoint one
// begins there only if no bracket does. EMPTY stands for a bracket with
// nothing inside, or as a position of a Point or MultiPoint without numbers.
#pragma once
#include "core.cuh"

constexpr u32 RING_PART = 1, RING_RING = 2, RING_POSITION = 4;
constexpr u32 RING_OUTER = 8;                                        // a bracket has to follow
constexpr u32 RING_DEEP = 16, RING_STRAY = 32, RING_UNDECIDED = 64;  // what is wrong
// kinds from 1 on that have coordinates of their own end before this one
constexpr u32 KIND_MULTIPOINT = 4, RING_KINDS = 7;
constexpr int RING_BLANKS = 256;  // what follows more is not looked for

// Brackets around a position without its own: 0 1 2 1 2 3 from kind 1 on.
__device__ __forceinline__ i64 ring_levels(u32 kind) { return 0x3212100 >> 4 * kind & 15; }

// The first byte at or after at that is not blank. The search ends at n, or RING_BLANKS bytes after
// at.
__device__ __forceinline__ i64 past_blanks(const u8 *__restrict__ text, i64 n, i64 at) {
  for (i64 end = min(n, at + RING_BLANKS); at < end; at++)
    if (text[at] > ' ') return at;
  return at;
}
// What openers begin in GeoJSON: 4 bits for each level from 0 on, none for those that are too deep.
//
//   levels around a position   level 3    2               1               0
//   0                                                                     position ring part
//   1                                                     position        outer ring part
//   2                                     position        outer ring      outer part
//   3                          position   outer ring      outer part      outer
__device__ __forceinline__ u32 ring_brackets(u32 kind) {
  const u32 last = (u32)ring_levels(kind);
  return last > 1 ? 0x4a98u >> 4 * (3 - last) : last ? 0x4b : 7;
}
__device__ __forceinline__ u32 ring_bracket(u32 brackets, i32 level) {
  const u32 token = (u32)level < 4 ? brackets >> 4 * level & 15 : 0;
  return token ? token : RING_DEEP;
}
// What EMPTY begins where an opener at a level would stand.
__device__ __forceinline__ u32 ring_empty(u32 kind, i64 level) {
  const i64 last = ring_levels(kind), ring = max(last - 1, 0ll), part = max(last - 2, 0ll);
  if (level < 0 || level > ring)
    return kind == KIND_MULTIPOINT && level == 1 ? RING_POSITION : RING_DEEP;
  return (level == part ? RING_PART : 0) | (level == ring ? RING_RING : 0) |
         (last == 0 ? RING_POSITION : 0);
}
// What an opener at a level begins in WKT, or a comma in such a bracket. nested: is the next byte
// that is no blank an opener.
__device__ __forceinline__ u32 ring_tag(u32 kind, i64 level, bool comma, bool nested) {
  const i64 last = ring_levels(kind), ring = max(last - 1, 0ll), part = max(last - 2, 0ll);
  if (level < 0 || level > ring)
    return kind == KIND_MULTIPOINT && level == 1 && !comma ? RING_POSITION
           : comma                                         ? RING_STRAY
                                                           : RING_DEEP;
  if (level < ring) return (!comma && level == part ? RING_PART : 0) | RING_OUTER;
  if (comma) return last == 0 ? RING_STRAY : kind == KIND_MULTIPOINT && nested ? 0 : RING_POSITION;
  return (level == part ? RING_PART : 0) | RING_RING |
         (kind == KIND_MULTIPOINT && nested ? 0 : RING_POSITION);
}
