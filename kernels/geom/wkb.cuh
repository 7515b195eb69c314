// wkb.cuh: where the parts of a geometry lie in its ISO WKB (OGC 06-103r4 section 8.2,
// little-endian).
//
//   kind                 a row                                a part    a ring or line    a position
//   Point                                                                                 01 type x y
//   LineString           01 type count                                                    x y
//   Polygon              01 type rings                                  count             x y
//   MultiPoint           01 type count                                                    01 type x y
//   MultiLineString      01 type lines                                  01 type count     x y
//   MultiPolygon         01 type parts                  01 type rings   count             x y
//   GeometryCollection   01 type members, and what these have
//
// and z and m after x and y where the kind has them. A header stands before what it counts, so
// that all of a geometry's bytes lie in the order of its parts, its rings
// and its positions: what is before one of these is a sum of products.
#pragma once
#include "search.cuh"

// As TypeKind of kind.go; a kind has WKB_Z or WKB_M with it where the geometry has a z or an m.
enum {
  WKB_POINT = 1,
  WKB_LINE,
  WKB_POLYGON,
  WKB_POINTS,
  WKB_LINES,
  WKB_POLYGONS,
  WKB_COLLECTION,
  WKB_Z,
  WKB_M = 16,
  WKB_DIMS = WKB_Z | WKB_M
};
constexpr i64 WKB_HEADER = 5, WKB_COUNTED = 9, WKB_COUNT = 4;

// Does each position of a kind have a header?
__device__ __forceinline__ bool wkb_single(u32 kind) {
  return (kind & 7) == WKB_POINT || (kind & 7) == WKB_POINTS;
}
// Bytes of a position, with its header.
__device__ __forceinline__ u32 wkb_position(u32 kind) {
  return 16 + (kind & WKB_Z ? 8 : 0) + (kind & WKB_M ? 8 : 0) +
         (wkb_single(kind) ? (u32)WKB_HEADER : 0);
}

// Bytes of each header of a kind, and of a position.
struct WkbLayout {
  i64 row, part, ring, position;
};
__device__ __forceinline__ WkbLayout wkb_layout(u32 kind) {
  const u32 k = kind & 7;
  WkbLayout l;
  l.row = k == 0 || k == WKB_POINT ? 0 : WKB_COUNTED;
  l.part = k == WKB_POLYGONS ? WKB_COUNTED : 0;
  l.ring = k == WKB_LINES ? WKB_COUNTED : k == WKB_POLYGON || k == WKB_POLYGONS ? WKB_COUNT : 0;
  l.position = wkb_position(kind);
  return l;
}
// The header of a geometry without its count: its five bytes, the first one lowest, the last one 0.
__device__ __forceinline__ u32 wkb_header(u32 kind) {
  return 1 | ((kind & 7) + (kind & WKB_Z ? 1000 : 0) + (kind & WKB_M ? 2000 : 0)) << 8;
}

// The offset in a row after the given numbers of parts, rings and positions, without the headers of
// the next ones.
__device__ __forceinline__ i64 wkb_before(const WkbLayout &l, i64 parts, i64 rings, i64 places) {
  return l.row + l.part * parts + l.ring * rings + l.position * places;
}
