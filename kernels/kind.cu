// kind.cu: geometry types by their names.
//
// A name is compared in three windows of 8 bytes, so that no byte is looked at one by one:
//
//   text     L i n e S t r i | n g " , " c o o | ...
//   name     L i n e S t r i | n g                    and an end behind it
//
// buffer     elements   what
// position   count      first bytes of names
// kind       count      KIND_*; also in kind.go
// dims       count      DIMS_* of a WKT tag; also in kind.go
#include "bytes.cuh"

enum { KIND_UNKNOWN, KIND_UNDECIDED = 255 };
enum { DIMS_Z = 1, DIMS_M = 2, DIMS_EMPTY = 4 };
constexpr int MOST_BLANKS = 64;  // between the words of a tag; what has more is undecided

struct Name {
  u64 word[3];
  int length, kind;
};
constexpr int NAMES = 9, WKT_NAMES = 7;

// 8 bytes of a string as a word, the first lowest; 0 behind its end.
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
    name_of("Point", 1),           name_of("LineString", 2),   name_of("Polygon", 3),
    name_of("MultiPoint", 4),      name_of("MultiLineString", 5), name_of("MultiPolygon", 6),
    name_of("GeometryCollection", 7), name_of("Feature", 8),   name_of("FeatureCollection", 9),
};

// The 8 bytes from at on; those behind the text are 0.
__device__ __forceinline__ u64 window(const u8 *__restrict__ text, i64 n, i64 at) { return at < n ? load_window(text, n, at) & low_bytes(n - at) : 0; }
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
// Byte number i of three windows; 0 behind them.
__device__ __forceinline__ u32 byte_of(const u64 w[3], int i) { return (u32)((i < 8 ? w[0] : i < 16 ? w[1] : w[2]) >> i % 8 * 8) & 255; }
// Do the windows begin with a name? ignore: bits that don't count, in each byte.
__device__ __forceinline__ bool begins(const u64 w[3], const Name &name, u64 ignore) {
  u64 differ = 0;
#pragma unroll
  for (int k = 0; k < 3; k++) differ |= ((w[k] | ignore) ^ (name.word[k] | ignore)) & low_bytes(name.length - 8 * k < 0 ? 0 : name.length - 8 * k);
  return differ == 0;
}

// The only name that a string may be that begins with these 8 bytes, or NAMES. The longer of two that begin alike.
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
// Three windows from at on, of a text that goes on behind the word in which they end.
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

// One thread, one name in a JSON string. A name of at most 18 letters that is written with escapes has the first within 18 bytes.
KERNEL __launch_bounds__(BLOCK) kind_geojson(const u8 *__restrict__ text, i64 n, const i64 *__restrict__ position, i64 count, u64 end_bytes, u32 end_count, u8 *__restrict__ kind) {
  const i64 i = thread_index();
  if (i >= count) return;
  const i64 at = position[i];
  u32 found = KIND_UNKNOWN;
  if (at >= 0 && at < n) {
    const Ends ends = {end_bytes, end_count};
    u64 w[3];
    if (n - at >= 32) near_windows(text, at, w);
    else w[0] = window(text, n, at), w[1] = window(text, n, at + 8), w[2] = window(text, n, at + 16);
    for (int k = name_like(w[0]); k < NAMES && found == KIND_UNKNOWN; k = k == 8 ? 7 : NAMES)  // Feature, with an end that is a C
      if (begins(w, names[k], 0) && at + names[k].length < n && ends.has(byte_of(w, names[k].length))) found = names[k].kind;
    for (int b = 0; b < 18 && found == KIND_UNKNOWN; b++) {
      const u32 c = byte_of(w, b);
      if (c == '\\') found = KIND_UNDECIDED;
      if (ends.has(c)) break;
    }
  }
  kind[i] = (u8)found;
}

// How many letters a window begins with.
__device__ __forceinline__ int letters(u64 v) { return first_bit(~(bytes_between((v & ~HIGHS) | ONES * 0x20, 'a', 'z') & ~v) & HIGHS) / 8; }

// A WKT tag: "Point", "POINTZ", "point zm ", "POINT M EMPTY".
struct Tag {
  const u8 *__restrict__ text;
  i64 n, at;  // at: what has not been read
  Ends ends;
  bool undecided;

  // Skips blanks that end nothing.
  __device__ __forceinline__ void blanks() {
    for (int i = 0; i < MOST_BLANKS; i++, at++) {
      if (at >= n) return;
      const u32 c = text[at];
      if ((c != ' ' && c != '\t' && c != '\r' && c != '\n') || ends.has(c)) return;
    }
    undecided = true;
  }
  // Reads Z, M or ZM; 0 if the next word is none of them.
  __device__ __forceinline__ u32 dims() {
    const u64 v = window(text, n, at) | ONES * 0x20;
    const int length = letters(window(text, n, at));
    const u32 c = v & 255, d = v >> 8 & 255;
    const u32 dims = length == 1 && c == 'z' ? DIMS_Z : length == 1 && c == 'm' ? DIMS_M : length == 2 && c == 'z' && d == 'm' ? DIMS_Z | DIMS_M : 0;
    if (dims) at += length;
    return dims;
  }
  // Reads EMPTY.
  __device__ __forceinline__ bool empty() {
    const u64 v = window(text, n, at);
    if (((v | ONES * 0x20) & low_bytes(5)) != word_of("empty", 5, 0)) return false;
    const u32 c = v >> 40 & 255;
    return at + 5 == n || c == ' ' || c == '\t' || c == '\r' || c == '\n' || ends.has(c);
  }
};

// One thread, one tag. The kind counts if a bracket or EMPTY stands behind it.
KERNEL __launch_bounds__(BLOCK) kind_wkt(const u8 *__restrict__ text, i64 n, const i64 *__restrict__ position, i64 count, u64 end_bytes, u32 end_count, u8 *__restrict__ kind, u8 *__restrict__ dims) {
  const i64 i = thread_index();
  if (i >= count) return;
  const i64 at = position[i];
  u32 found = KIND_UNKNOWN, dim = 0;
  if (at >= 0 && at < n) {
    const u64 w[3] = {window(text, n, at), window(text, n, at + 8), window(text, n, at + 16)};
    Tag tag = {text, n, at, {end_bytes, end_count}, false};
    for (int k = 0; k < WKT_NAMES; k++)
      if (begins(w, names[k], ONES * 0x20)) found = names[k].kind, tag.at = at + names[k].length;
    if (found != KIND_UNKNOWN) {
      dim = tag.dims();
      const bool attached = dim == 0 && letters(window(text, n, tag.at)) > 0;  // "POLYGONX", "POINTEMPTY"
      tag.blanks();
      if (dim == 0) dim = tag.dims(), tag.blanks();
      if (tag.empty()) dim |= DIMS_EMPTY;
      else if (tag.at >= n || text[tag.at] != '(') found = KIND_UNKNOWN;
      if (tag.undecided) found = KIND_UNDECIDED;
      if (attached) found = KIND_UNKNOWN;
    }
    if (found == KIND_UNKNOWN || found == KIND_UNDECIDED) dim = 0;
  }
  kind[i] = (u8)found, dims[i] = (u8)dim;
}
