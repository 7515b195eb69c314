// kind.cu: geometry types by the tags of WKT: see kind.cuh.
//
// buffer     elements   what
// position   count      first bytes of tags
// kind       count      KIND_*; also in kind.go
// dims       count      DIMS_* of a WKT tag; also in kind.go
#include "geom/kind.cuh"

enum { DIMS_Z = 1, DIMS_M = 2, DIMS_EMPTY = 4 };
constexpr int MAX_BLANKS = 64;  // between the words of a tag; what has more is undecided

// How many letters a window begins with.
__device__ __forceinline__ int letters(u64 v) {
  return first_bit(~(bytes_between((v & ~HIGHS) | ONES * 0x20, 'a', 'z') & ~v) & HIGHS) / 8;
}

// A WKT tag: "Point", "POINTZ", "point zm ", "POINT M EMPTY".
struct Tag {
  const u8 *__restrict__ text;
  i64 n, at;  // at: what has not been read
  Ends ends;
  bool undecided;

  // Skips blanks that end nothing.
  __device__ __forceinline__ void blanks() {
    for (int i = 0; i < MAX_BLANKS; i++, at++) {
      if (at >= n) return;
      const u32 c = text[at];
      if ((c != ' ' && c != '\t' && c != '\r' && c != '\n') || ends.has(c)) return;
    }
    undecided = true;
  }
  // Reads Z, M or ZM; 0 if the next word is not one of them.
  __device__ __forceinline__ u32 dims() {
    const u64 v = window(text, n, at) | ONES * 0x20;
    const int length = letters(window(text, n, at));
    const u32 c = v & 255, d = v >> 8 & 255;
    const u32 dims = length == 1 && c == 'z'               ? DIMS_Z
                     : length == 1 && c == 'm'             ? DIMS_M
                     : length == 2 && c == 'z' && d == 'm' ? DIMS_Z | DIMS_M
                                                           : 0;
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

// One thread, one tag. The kind counts if a bracket or EMPTY follows it.
KERNEL __launch_bounds__(BLOCK) kind_wkt(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ position, i64 count, u64 end_bytes, u32 end_count,
    u8 *__restrict__ kind, u8 *__restrict__ dims) {
  const i64 i = thread_index();
  if (i >= count) return;
  const i64 at = position[i];
  u32 found = TYPE_UNKNOWN, dim = 0;
  if (at >= 0 && at < n) {
    const u64 w[3] = {window(text, n, at), window(text, n, at + 8), window(text, n, at + 16)};
    Tag tag = {text, n, at, {end_bytes, end_count}, false};
    for (int k = 0; k < WKT_NAMES; k++)
      if (begins(w, names[k], ONES * 0x20)) found = names[k].kind, tag.at = at + names[k].length;
    if (found != TYPE_UNKNOWN) {
      dim = tag.dims();
      // "POLYGONX", "POINTEMPTY"
      const bool attached = dim == 0 && letters(window(text, n, tag.at)) > 0;
      tag.blanks();
      if (dim == 0) dim = tag.dims(), tag.blanks();
      if (tag.empty()) dim |= DIMS_EMPTY;
      else if (tag.at >= n || text[tag.at] != '(') found = TYPE_UNKNOWN;
      if (tag.undecided) found = TYPE_UNDECIDED;
      if (attached) found = TYPE_UNKNOWN;
    }
    if (found == TYPE_UNKNOWN || found == TYPE_UNDECIDED) dim = 0;
  }
  kind[i] = (u8)found, dims[i] = (u8)dim;
}
