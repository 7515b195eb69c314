// kml.cuh: what tags mean in KML, and what one Placemark is made of.
#pragma once
#include "core.cuh"

// Elements. Also in kml.go.
enum {
  OTHER,
  PLACEMARK,
  NAME,
  DESCRIPTION,
  SNIPPET,
  VISIBILITY,
  TIMESTAMP,
  WHEN,
  EXTENDED,
  DATA,
  VALUE,
  SCHEMA_DATA,
  SIMPLE_DATA,
  POINT,
  LINE,
  LINEAR_RING,
  POLYGON,
  MULTI,
  OUTER,
  INNER,
  COORDINATES,
  ALTITUDE_MODE,
  EXTRUDE,
  TESSELLATE,
  REFUSED,
  IN_SKIPPED,  // no element: all that stands in one that nobody reads
};
// Columns that every Placemark may have; those of extended data follow. Also in kml.go.
enum {
  COLUMN_ID,
  COLUMN_NAME,
  COLUMN_DESCRIPTION,
  COLUMN_TIMESTAMP,
  COLUMN_ALTITUDE_MODE,
  COLUMN_SNIPPET,
  COLUMN_TESSELLATE,
  COLUMN_EXTRUDE,
  COLUMN_VISIBILITY,
  LEADING_COLUMNS
};
// Why rows are refused. Also in kml.go.
enum {
  ODD_NESTING = 1,
  ODD_ELEMENT = 2,
  ODD_TEXT = 4,
  ODD_TWICE = 8,
  ODD_COORDINATES = 16,
  ODD_LONG = 32,
  ODD_BETWEEN = 64
};

// A tag of the dictionary. Also in kml.go.
//
//   bits   0-1    2               3-7      8-13    16-31               32-47
//          form   id left open    element  column  local name's number  number of the name as written
enum { TAG_START, TAG_END, TAG_EMPTY };
struct Tag {
  u64 bits;

  __device__ __forceinline__ u32 form() const { return (u32)bits & 3; }
  __device__ __forceinline__ bool open_id() const { return bits >> 2 & 1; }
  __device__ __forceinline__ u32 element() const { return (u32)(bits >> 3) & 31; }
  __device__ __forceinline__ u32 column() const { return (u32)(bits >> 8) & 63; }
  __device__ __forceinline__ u32 local() const { return (u32)(bits >> 16) & 0xffff; }
  __device__ __forceinline__ u32 name() const { return (u32)(bits >> 32) & 0xffff; }
};

// Coordinates with what stands around them in WKT:
//
//   code     comma   word     brackets   inner word   brackets                 closing brackets   end of the line
//   piece            POLYGON  ( (                                0 0,9 0,9 9   )
//   piece    ,                (                                  1 1,2 1,2 2   ) )                \n
//   piece                                             NULL                                        \n
struct KMLPiece {
  i64 from;  // of the coordinates, without blanks around them
  u32 size;
  u32 code;
};
enum {
  PIECE_COMMA = 1,
  PIECE_WORD = 1 << 1,
  PIECE_OPEN = 1 << 4,
  PIECE_INNER_WORD = 1 << 6,
  PIECE_INNER_OPEN = 1 << 9,
  PIECE_CLOSE = 1 << 11,
  PIECE_LINE_END = 1 << 14,
  PIECE_POINT = 1 << 15,  // one tuple
};
// a word and WORD_MULTI is its Multi word
enum {
  WORD_NONE,
  WORD_POINT,
  WORD_LINE,
  WORD_POLYGON,
  WORD_MULTI = WORD_POLYGON,
  WORD_COLLECTION = 7
};
constexpr u32 PIECE_NULL = 4;  // an inner word

static __constant__ const u8 WORD_SIZES[8] = {0, 5, 10, 7, 10, 15, 12, 18};
static __constant__ const char WORDS[8][20] = {"", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT",
    "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION"};
static __constant__ const u8 INNER_SIZES[5] = {0, 5, 10, 7, 4};
static __constant__ const char INNER_WORDS[5][12] = {"", "POINT", "LINESTRING", "POLYGON", "NULL"};

__device__ __forceinline__ u32 piece_word(u32 code) { return code / PIECE_WORD & 7; }
__device__ __forceinline__ u32 piece_inner(u32 code) { return code / PIECE_INNER_WORD & 7; }
__device__ __forceinline__ u32 piece_open(u32 code) { return code / PIECE_OPEN & 3; }
__device__ __forceinline__ u32 piece_inner_open(u32 code) { return code / PIECE_INNER_OPEN & 3; }
__device__ __forceinline__ u32 piece_close(u32 code) { return code / PIECE_CLOSE & 7; }
// Bytes before the coordinates, and after them.
__device__ __forceinline__ u32 piece_head(u32 code) {
  return (code & PIECE_COMMA) + WORD_SIZES[piece_word(code)] + piece_open(code) +
         INNER_SIZES[piece_inner(code)] + piece_inner_open(code);
}
__device__ __forceinline__ u32 piece_tail(u32 code) {
  return piece_close(code) + (code / PIECE_LINE_END & 1);
}
