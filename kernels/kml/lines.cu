// kml_lines.cu: coordinates as a text of WKT, a line a Placemark, for those who read geometries by
// lines.
//
//   coordinates   1,2,0 3,4,0\n 5,6,0
//   line          LINESTRING(1 2 0,3 4 0 ,5 6 0)\n
//
// Tuples keep their bytes, so that a number is what it was; the reader of the lines refuses tuples
// of one number and of more than three.
//
// buffer    elements      written by   what
// piece     pieces        -            see KMLPiece
// offsets   pieces + 1    -            bytes of the pieces before each
// lines     all bytes     lines
// odd       1             lines        ODD_COORDINATES; what was there stays
#include "search.cuh"
#include "kml/kml.cuh"

constexpr i64 EACH = 8;  // bytes of a thread, which it writes at once

__device__ __forceinline__ bool is_space(u32 c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
__device__ __forceinline__ bool in_number(u32 c) {
  return c - '0' <= 9 || c == '.' || c == '-' || c == '+' || (c | 0x20) == 'e';
}

// Byte k of what stands before the coordinates.
__device__ __forceinline__ u32 head_byte(u32 code, u32 k) {
  if (code & PIECE_COMMA) {
    if (k == 0) return ',';
    k--;
  }
  const u32 word = piece_word(code), inner = piece_inner(code);
  if (k < WORD_SIZES[word]) return (u8)WORDS[word][k];
  k -= WORD_SIZES[word];
  if (k < piece_open(code)) return '(';
  k -= piece_open(code);
  return k < INNER_SIZES[inner] ? (u8)INNER_WORDS[inner][k] : '(';
}
// Byte k of coordinates; both ends are no blanks. A comma stands between two numbers without a
// blank, as nearly all do.
__device__ __forceinline__ u32 body_byte(
    const u8 *__restrict__ text, const KMLPiece &p, u32 k, u32 &odd) {
  const u8 *at = text + p.from + k;
  const u32 c = *at;
  if (in_number(c)) return c;
  if (k == 0 || k + 1 == p.size) {
    odd = ODD_COORDINATES;
    return ' ';
  }
  if (is_space(c)) {
    if (p.code & PIECE_POINT) odd = ODD_COORDINATES;
    return is_space(at[1]) ? ' ' : ',';
  }
  if (c != ',' || !in_number(at[-1]) || !in_number(at[1])) odd = ODD_COORDINATES;
  return ' ';
}

KERNEL __launch_bounds__(BLOCK) kml_lines(const u8 *__restrict__ text,
    const KMLPiece *__restrict__ piece, const i64 *__restrict__ offsets, i64 pieces,
    u8 *__restrict__ lines, i64 room, u32 *odd) {
  __shared__ i64 range[2];
  const i64 block_from = (i64)blockIdx.x * BLOCK * EACH, from = block_from + threadIdx.x * EACH;
  block_owners(offsets, 0, pieces, block_from, min(block_from + BLOCK * EACH, room) - 1, range);
  u32 mine = 0;
  if (from < room) {
    i64 i = owner_of(offsets, range[0], range[1] + 1, from);
    KMLPiece p = piece[i];
    i64 begin = offsets[i], end = offsets[i + 1];
    u32 head = piece_head(p.code);
    u64 word = 0;
    for (i64 at = from; at < from + EACH && at < room; at++) {
      if (at == end) {
        p = piece[++i], begin = end, end = offsets[i + 1], head = piece_head(p.code);
      }
      const u32 k = (u32)(at - begin);
      u32 c;
      if (k < head) c = head_byte(p.code, k);
      else if (k - head < p.size) c = body_byte(text, p, k - head, mine);
      else c = k - head - p.size < piece_close(p.code) ? ')' : '\n';
      word |= (u64)c << 8 * (at - from);
    }
    if (from + EACH <= room) *(u64 *)(lines + from) = word;
    else
      for (i64 at = from; at < room; at++) lines[at] = (u8)(word >> 8 * (at - from));
  }
  mine = __reduce_or_sync(WARP, mine);
  if (mine && lane_index() == 0) atomicOr(odd, mine);
}
