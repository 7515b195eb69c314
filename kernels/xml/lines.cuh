// xml_lines.cuh: what tags mean for the geometry of their row.
#pragma once
#include "core.cuh"

// Of a tag and of the text after it.
enum {
  GAP_OUTSIDE,  // of geometries
  GAP_GEOMETRY,
  GAP_POSITIONS,  // the text is positions, see XMLRole
  GAP_POSITION,
  GAP_TUPLES,
  GAP_TEXT = 7,  // bits of these
  GAP_TAG = 8,   // the tag is part of a geometry
};
// What is written in place of a tag.
enum {
  PATCH_NONE,
  PATCH_WORD = 7,  // bits of the word, before an opening bracket
  PATCH_OPEN = 8,
  PATCH_COMMA = 16,  // before it
  PATCH_CLOSE = 32,
  PATCH_END = 64,    // of a geometry: a closing bracket and a line feed
  PATCH_NULL = 128,  // a row without geometry
};

// As XMLWord of xml_tags.go.
enum {
  WORD_NONE_,
  WORD_POINT,
  WORD_LINE_STRING,
  WORD_POLYGON,
  WORD_MULTI_POINT,
  WORD_MULTI_LINE_STRING,
  WORD_MULTI_POLYGON,
  WORD_COLLECTION
};
__device__ __forceinline__ const char *word_text(u32 word) {
  switch (word) {
  case WORD_POINT: return "POINT";
  case WORD_LINE_STRING: return "LINESTRING";
  case WORD_POLYGON: return "POLYGON";
  case WORD_MULTI_POINT: return "MULTIPOINT";
  case WORD_MULTI_LINE_STRING: return "MULTILINESTRING";
  case WORD_MULTI_POLYGON: return "MULTIPOLYGON";
  case WORD_COLLECTION: return "GEOMETRYCOLLECTION";
  }
  return "";
}
__device__ __forceinline__ u32 word_length(u32 word) {
  const char *at = word_text(word);
  u32 n = 0;
  while (at[n]) n++;
  return n;
}
