// kind.cuh: geometry types by their names.
//
// A name is compared in three windows of 8 bytes, so that no byte is looked at one by one:
//
//   text     L i n e S t r i | n g " , " c o o | ...
//   name     L i n e S t r i | n g                    and an end after it
#pragma once
#include "bytes.cuh"

enum { TYPE_UNKNOWN, TYPE_UNDECIDED = 255 };

struct Name {
  u64 word[3];
  int length, kind;
};
constexpr int NAMES = 9, WKT_NAMES = 7, FEATURE = 7;  // FEATURE: where that is among them

// 8 bytes of a string as a word, the first lowest; 0 after its end.
__device__ constexpr u64 word_of(const char *s, int length, int from) {
  u64 v = 0;
  for (int i = 0; i < 8 && from + i < length; i++) v |= (u64)s[from + i] << 8 * i;
  return v;
}
__device__ constexpr Name name_of(const char *s, int kind) {
  int n = 0;
  while (s[n]) n++;
  return {{word_of(s, n, 0), word_of(s, n, 8), word_of(s, n, 16)}, n, kind};
}
// As RFC 7946 section 1.4 writes them; WKT has the same in upper case, without the last two.
static __constant__ const Name names[NAMES] = {
    name_of("Point", 1),
    name_of("LineString", 2),
    name_of("Polygon", 3),
    name_of("MultiPoint", 4),
    name_of("MultiLineString", 5),
    name_of("MultiPolygon", 6),
    name_of("GeometryCollection", 7),
    name_of("Feature", 8),
    name_of("FeatureCollection", 9),
};

// The 8 bytes from at on; those after the text are 0.
__device__ __forceinline__ u64 window(const u8 *__restrict__ text, i64 n, i64 at) {
  return at < n ? load_window(text, n, at) & low_bytes(n - at) : 0;
}
// Up to 8 bytes that end a name.
struct Ends {
  u64 bytes;
  u32 count;
  __device__ __forceinline__ bool has(u32 c) const {
    for (u32 i = 0; i < count; i++)
      if ((bytes >> 8 * i & 255) == c) return true;
    return false;
  }
};
// Byte number i of three windows; 0 after them.
__device__ __forceinline__ u32 byte_of(const u64 w[3], int i) {
  return (u32)((i < 8 ? w[0] : i < 16 ? w[1] : w[2]) >> i % 8 * 8) & 255;
}
// Do the windows begin with a name? ignore: bits that don't count, in each byte.
__device__ __forceinline__ bool begins(const u64 w[3], const Name &name, u64 ignore) {
  u64 differ = 0;
#pragma unroll
  for (int k = 0; k < 3; k++)
    differ |= ((w[k] | ignore) ^ (name.word[k] | ignore)) &
              low_bytes(name.length - 8 * k < 0 ? 0 : name.length - 8 * k);
  return differ == 0;
}

// The only name that a string may be that begins with these 8 bytes, or NAMES. The longer of two
// that begin alike.
__device__ __forceinline__ int name_like(u64 v) {
  int k = NAMES;
  if ((v & low_bytes(5)) == word_of("Point", 5, 0)) k = 0;
  if (v == word_of("LineString", 10, 0)) k = 1;
  if ((v & low_bytes(7)) == word_of("Polygon", 7, 0)) k = 2;
  if (v == word_of("MultiPoint", 10, 0)) k = 3;
  if (v == word_of("MultiLineString", 15, 0)) k = 4;
  if (v == word_of("MultiPolygon", 12, 0)) k = 5;
  if (v == word_of("GeometryCollection", 18, 0)) k = 6;
  if ((v & low_bytes(7)) == word_of("Feature", 7, 0)) k = v >> 56 == 'C' ? 8 : 7;
  return k;
}
// Three windows from at on, of a text that goes on after the word in which they end.
__device__ __forceinline__ void near_windows(const u8 *__restrict__ text, i64 at, u64 w[3]) {
  const u64 *word = (const u64 *)(text + (at & ~7ll));
  const u32 shift = (u32)(at & 7) * 8;
  u64 low = word[0];
#pragma unroll
  for (int k = 0; k < 3; k++) {
    const u64 high = word[k + 1];
    w[k] = shift ? low >> shift | high << (64 - shift) : low;
    low = high;
  }
}

// Three windows from at on; bytes after the text are 0, and so is all where at is -1.
__device__ __forceinline__ void name_windows(const u8 *__restrict__ text, i64 n, i64 at, u64 w[3]) {
  if (at >= 0 && n - at >= 32) near_windows(text, at, w);
  else
#pragma unroll
    for (int k = 0; k < 3; k++) w[k] = at >= 0 ? window(text, n, at + 8 * k) : 0;
}
// The type that a name is whose windows are w, which ends before one of some bytes. A name of at
// most 18 letters that is written with escapes has the first within 18 bytes.
__device__ __forceinline__ u32 kind_of_windows(const u64 w[3], i64 n, i64 at, const Ends &ends) {
  if (at < 0 || at >= n) return TYPE_UNKNOWN;
  // Feature, with an end that is a C
  for (int k = name_like(w[0]); k < NAMES; k = k == 8 ? 7 : NAMES)
    if (begins(w, names[k], 0) && at + names[k].length < n && ends.has(byte_of(w, names[k].length)))
      return (u32)names[k].kind;
  for (int b = 0; b < 18; b++) {
    const u32 c = byte_of(w, b);
    if (c == '\\') return TYPE_UNDECIDED;
    if (ends.has(c)) break;
  }
  return TYPE_UNKNOWN;
}
__device__ __forceinline__ u32 name_kind(
    const u8 *__restrict__ text, i64 n, i64 at, const Ends &ends) {
  u64 w[3];
  name_windows(text, n, at, w);
  return kind_of_windows(w, n, at, ends);
}

// As ValueKind of records.go.
constexpr u32 VALUE_OF_NAME = 5;
// Where the name begins that a member's value is; -1 where there is no member or where it is no
// string.
__device__ __forceinline__ i64 member_name(u32 member, const u32 *__restrict__ value_start,
    const u8 *__restrict__ value_kind, i64 members) {
  i64 start = 0;
  u32 kind = 0;
  if (member < members) start = value_start[member], kind = value_kind[member];
  return kind == VALUE_OF_NAME ? start + 1 : -1;
}
// Where the text goes on far enough for what quoted_kind reads.
__device__ __forceinline__ bool name_near(i64 n, i64 at) { return at >= 0 && n - at >= 32; }
// Do bytes from byte 8 * k of a string on begin with that part of a name, and with the quote after
// it if it lies there?
__device__ __forceinline__ bool is_quoted(u64 v, const Name &name, int k) {
  const int left = name.length - 8 * k;
  if (left < 0) return true;
  return ((v ^ name.word[k] ^ (left < 8 ? (u64)'"' << 8 * left : 0)) &
             low_bytes(min(left + 1, 8))) == 0;
}
// The type that the name at a byte is, which is near, and whose first 16 bytes are v; TYPE_UNKNOWN
// also where it is written with escapes.
__device__ __forceinline__ u32 quoted_kind(const u8 *__restrict__ text, i64 n, i64 at, Sixteen v) {
  u32 kind = TYPE_UNKNOWN;
#pragma unroll
  for (int i = 0; i < NAMES; i++)
    if (is_quoted(v.low, names[i], 0) && is_quoted(v.high, names[i], 1) &&
        (names[i].length < 16 || is_quoted(load_window(text, n, at + 16), names[i], 2)))
      kind = (u32)names[i].kind;
  return kind;
}
// The type that the name at a byte is; TYPE_UNKNOWN where that is -1.
__device__ __forceinline__ u32 json_kind(const u8 *__restrict__ text, i64 n, i64 at) {
  const Ends quote = {'"', 1};
  return name_kind(text, n, at, quote);
}
// Of two names at a time, so that none waits for the other, and for whom most are Feature. All but
// few are found in their first bytes.
__device__ __forceinline__ void json_kinds(
    const u8 *__restrict__ text, i64 n, i64 at0, i64 at1, u32 &kind0, u32 &kind1) {
  const bool near0 = name_near(n, at0), near1 = name_near(n, at1);
  Sixteen v0 = {0, 0}, v1 = {0, 0};
  if (near0) v0 = load_sixteen(text, at0, 16);
  if (near1) v1 = load_sixteen(text, at1, 8);
  kind0 = near0 ? quoted_kind(text, n, at0, v0) : TYPE_UNKNOWN;
  kind1 = near1 && is_quoted(v1.low, names[FEATURE], 0) ? (u32)names[FEATURE].kind : TYPE_UNKNOWN;
  if (kind0 == TYPE_UNKNOWN && at0 >= 0) kind0 = json_kind(text, n, at0);
  if (kind1 == TYPE_UNKNOWN && at1 >= 0) kind1 = json_kind(text, n, at1);
}
