// positions.cu: positions of geometries, from text to columns: finds, reads and stores two to four
// ordinates, one thread a position.
//
// buffer      elements   written by         what
// at          count                         where each position begins
// x, y        count      positions, resolve the ordinates; NaN where there are none
// z, m        count      positions, resolve the third and the fourth, NaN where there is none; each may be null
// undecided   count/64   positions          bit per position: the host must read it
// found       1          begin, positions   see PositionsFound; begun by begin, or by who lists positions
//
// Neighbours in a warp read neighbouring text and store side by side. Positions without blanks
// whose ordinates are as ordinate.cuh has them are read by it. Of others a
// thread reads four ordinates at most, each of 1 KiB at most, and gets over blanks by blanks.cuh;
// what is longer is the host's.
#include "geom/blanks.cuh"
#include "number/ordinate.cuh"
#include "geom/positions_found.cuh"

enum { STYLE_JSON, STYLE_WKT };
// the NaN for an ordinate that there is not; also in positions.go
constexpr u64 NO_ORDINATE = 0x7ff8000000000000ull;

enum { POSITION_READ, POSITION_MALFORMED, POSITION_UNDECIDED };
struct Position {
  u32 ordinates, state;
  i64 end;  // where it is malformed
};
// The four columns of ordinates; z and m may be null.
struct OrdinateColumns {
  u64 *x, *y, *z, *m;
};
__device__ __forceinline__ void store_ordinate(const OrdinateColumns &to, u32 k, i64 i, u64 bits) {
  u64 *column = k == 0 ? to.x : k == 1 ? to.y : k == 2 ? to.z : to.m;
  if (column) column[i] = bits;
}

// Does EMPTY stand at a byte, and no letter after it?
__device__ __forceinline__ bool is_empty(const u8 *__restrict__ text, i64 n, i64 at) {
  return (text[at] | 0x20) == 'e' && n - at >= 5 && (text[at + 1] | 0x20) == 'm' &&
         (text[at + 2] | 0x20) == 'p' && (text[at + 3] | 0x20) == 't' &&
         (text[at + 4] | 0x20) == 'y' && (n - at == 5 || (text[at + 5] | 0x20u) - 'a' >= 26);
}

// Reads the position that begins at at, and stores its ordinates as those of position i.
//
//   json  "[" ordinate *( "," ordinate ) "]" | "[" "]"    at is the bracket; blanks around each ordinate
//   wkt   ordinate *( blanks ordinate ) | "EMPTY"         at is its first byte, or a blank before it; up to a
//                                                         comma or ")", EMPTY up to any byte but a letter
__device__ __forceinline__ Position read_position(const u8 *__restrict__ text, i64 n, i64 at,
    const Blanks &blanks, u32 style, const OrdinateColumns &to, i64 i) {
  Position r = {0, POSITION_MALFORMED, at < 0 ? 0 : at};
  if (at < 0 || at >= n) return r;
  const bool json = style == STYLE_JSON;
  u32 c = text[at];
  if (json && c != '[') return r;
  if (json) at++;
  at = skip_blanks(text, n, at, blanks);
  if (at >= 0 && at < n && (json ? text[at] == ']' : is_empty(text, n, at))) {
    r.state = POSITION_READ;
    return r;
  }
  for (;;) {
    Number v = {0, 0, NUMBER_UNDECIDED};
    if (r.ordinates < 4 && at >= 0)
      v = read_number(text, n, at, n, json ? GRAMMAR_JSON : GRAMMAR_LENIENT);
    if (v.state == NUMBER_UNDECIDED) {
      r.state = POSITION_UNDECIDED;
      return r;
    }
    r.end = v.state == NUMBER_RANGE ? at : at + v.length;
    if (v.state != NUMBER_VALID) return r;
    store_ordinate(to, r.ordinates++, i, v.bits);
    i64 behind = at + v.length;
    r.end = at = skip_blanks(text, n, behind, blanks);
    if (at < 0) continue;  // undecided
    c = at < n ? text[at] : 0;
    if (at == n || (json ? c != ',' : at == behind || c == ',' || c == ')')) break;
    if (json) at = skip_blanks(text, n, at + 1, blanks);
  }
  if (r.ordinates >= 2 && (json ? c == ']' : c == ',' || c == ')')) r.state = POSITION_READ;
  return r;
}

// Reads a position as most are written, and gives the number of its ordinates, or 0 if it is
// another one: read_position then stores all of them again.
//
//   json  "[" ordinate 1*3( "," ordinate ) "]"
//   wkt   ordinate 1*3( " " ordinate ) ( "," | ")" )    at is its first byte
template <bool JSON>
__device__ __forceinline__ u32 short_position(
    const u8 *__restrict__ text, i64 n, i64 at, const Ten *tens, const OrdinateColumns &to, i64 i) {
  if (at < 0 || at >= n) return 0;
  // looked at when the ordinate's text is there, too
  const u32 opener = JSON ? text[at++] : (u32)'[';
  for (u32 k = 0; k < 4; k++) {
    if (n - at <= ORDINATE_ROOM) return 0;
    const Ordinate v = short_ordinate(text + at, tens);
    if (opener != '[' || !v.length) return 0;
    store_ordinate(to, k, i, v.bits);
    if ((JSON ? v.behind == ']' : v.behind == ',' || v.behind == ')') && k > 0) return k + 1;
    if (v.behind != (JSON ? ',' : ' ')) return 0;
    at += v.length + 1;
  }
  return 0;
}

KERNEL __launch_bounds__(32) positions_begin(PositionsFound *__restrict__ found) {
  if (threadIdx.x == 0) begin_positions(found);
}

struct PositionsArgs {
  i64 n, words, count, style;
  OrdinateColumns to;
  u64 *undecided;
  PositionsFound *found;
};

KERNEL __launch_bounds__(BLOCK) positions(const u8 *__restrict__ text,
    const u64 *__restrict__ level, const i64 *__restrict__ at,
    const __grid_constant__ PositionsArgs args) {
  PositionsFound *__restrict__ found = args.found;
  const i64 n = args.n, count = args.count;
  const u32 style = (u32)args.style;
  __shared__ Ten tens[MAX_FRACTION + 1];
  __shared__ u32 block_dims;
  if (threadIdx.x == 0) block_dims = 0;
  if (threadIdx.x <= MAX_FRACTION) tens[threadIdx.x] = TENS_OF_FRACTION[threadIdx.x];
  __syncthreads();
  const i64 i = thread_index();
  u32 dims = 0, more = 0, state = POSITION_READ;
  if (i < count) {
    const Blanks blanks = {level, args.words};
    const OrdinateColumns &to = args.to;
    const i64 begin = at[i];
    Position p = {style == STYLE_JSON ? short_position<true>(text, n, begin, tens, to, i)
                                      : short_position<false>(text, n, begin, tens, to, i),
        POSITION_READ, 0};
    if (!p.ordinates) p = read_position(text, n, begin, blanks, style, to, i);
    state = p.state;
    if (state == POSITION_READ) dims = 1u << p.ordinates, more = p.ordinates == 4;
    for (u32 k = state == POSITION_READ ? p.ordinates : 0; k < 4; k++)
      store_ordinate(to, k, i, NO_ORDINATE);
    if (state == POSITION_MALFORMED) atomicMin((u64 *)&found->malformed, (u64)p.end);
  }
  store_bits(args.undecided, i, count, state == POSITION_UNDECIDED);
  u32 warp_dims = __reduce_or_sync(WARP, dims);
  if (lane_index() == 0 && warp_dims) atomicOr(&block_dims, warp_dims);
  u32 empty = __syncthreads_count(dims == 1);
  more = __syncthreads_count(more);
  const u32 unread = __syncthreads_count(state == POSITION_UNDECIDED);
  if (threadIdx.x == 0 && block_dims & ~found->dims) atomicOr(&found->dims, block_dims);
  if (threadIdx.x == 0 && empty) atomicAdd((u64 *)&found->empty, (u64)empty);
  if (threadIdx.x == 0 && more) atomicAdd((u64 *)&found->more, (u64)more);
  if (threadIdx.x == 0 && unread) atomicAdd(&found->undecided, unread);
}

// Stores what the host has read: the four ordinates of position index[i], one after the other.
KERNEL __launch_bounds__(BLOCK) positions_resolve(const i64 *__restrict__ index,
    const u64 *__restrict__ value, i64 count, u64 *__restrict__ x, u64 *__restrict__ y,
    u64 *__restrict__ z, u64 *__restrict__ m) {
  const i64 i = thread_index();
  if (i >= count) return;
  i64 p = index[i];
  x[p] = value[4 * i], y[p] = value[4 * i + 1];
  if (z) z[p] = value[4 * i + 2];
  if (m) m[p] = value[4 * i + 3];
}
