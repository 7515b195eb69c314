// xml_tags.cuh: the dictionary of tags, and whether a tag is one of it.
#pragma once
#include "xml/xml.cuh"

constexpr u32 MAX_ENTRIES = 255, NO_ENTRY = 255;
constexpr i64 LONGEST_TAG = 1024;  // bytes
constexpr u32 XML_ANY = 1;         // in place of a value

// Also in xml_tags.go.
enum {
  XML_END,
  XML_ROW,
  XML_AROUND,
  XML_HOLDER,
  XML_VALUE,
  XML_PASSED,
  XML_SHAPE,
  XML_FIRST,
  XML_MORE,
  XML_POSITIONS,
  XML_POSITION,
  XML_TUPLES
};
struct XMLEntry {
  u64 parents;  // classes that may be right around it
  u32 hash;     // of its name
  u32 at;       // of its text
  u16 length;
  u8 name, role, klass, column, word, empty;  // column: NO_ENTRY if it has none. empty: <a/>
};

// The hash of a tag's name, which ends with a blank or with the tag. Also in xml_tags.go.
__device__ __forceinline__ u32 tag_hash(const u8 *__restrict__ text, i64 from, i64 to) {
  u32 hash = 2166136261u;
  for (const i64 end = min(to, from + LONGEST_TAG); from < end && !is_white(text[from]); from++)
    hash = (hash ^ text[from]) * 16777619u;
  return hash;
}

// Is the tag text[from, to) this one? Then the value in place of XML_ANY, the last one, is
// text[any, behind); any is -1 if there is none.
__device__ __forceinline__ bool same_tag(const u8 *__restrict__ text, i64 from, i64 to,
    const u8 *__restrict__ want, u32 length, i64 &any, i64 &behind) {
  any = behind = -1;
  if (to - from > LONGEST_TAG || to - from + 1 < (i64)length) return false;
  for (u32 k = 0; k < length; k++) {
    if (want[k] != XML_ANY) {
      if (from >= to || text[from++] != want[k]) return false;
      continue;
    }
    const u32 quote = want[k + 1];  // the host has looked
    for (any = from; from < to && text[from] != quote; from++)
      if (text[from] == '&' || (is_white(text[from]) && text[from] != ' ')) return false;
    behind = from;
  }
  return from == to;
}
