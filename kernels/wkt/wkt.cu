// wkt.cu: the rows of well-known text (OGC 06-103r4 section 7), and whether all that stands between
// them, and between brackets, is as it has it.
//
// buffer     elements    written by    what
// open       n/64        masks         "(", and the first letter of each EMPTY
// close      n/64        masks         ")", and the last letter of each EMPTY
// comma      n/64        masks         ","
// blank      n/64        masks         white space
// stop       n/64        masks         what ends a row outside of brackets: \n, \r and ";", or "," among
//                                      members of collections
// tile       n/16384     masks         what each tile changes the depth by; a scan makes it the depth before it
// base       n/64        rows          the depth before a word
// begin      n/64        rows          the first byte of each row
// enter      n/64        rows          brackets that are opened outside of all others
// leave      n/64        rows          what closes these
// count      3 * tiles   rows, join    begin, enter and leave of each tile; joined: of those before it
// starts     rows        emit          the first byte of each row
// first      rows + 1    emit          brackets entered before each row, and all
// from, to   rows        emit, heads   the outermost bracket of each row, and after what closes it
// tag        rows        heads         the first letter of a geometry's name
// valid      rows/64     heads         it is no NULL
// body       rows/64     heads         it has a bracket or EMPTY
// result     1           all           see WKTFound
//
// EMPTY is a pair of brackets with nothing between, so that nobody has to know it who knows
// brackets:
//
//   text     S R I D = 5 ; P O I N T ( 1   2 ) \n L I N E S T R I N G   E M P T Y ; ;
//   open     . . . . . . . . . . . . 1 . . . . .  . . . . . . . . . . . 1 . . . . . .
//   close    . . . . . . . . . . . . . . . . 1 .  . . . . . . . . . . . . . . . 1 . .
//   stop     . . . . . . 1 . . . . . . . . . . 1  . . . . . . . . . . . . . . . . 1 1
//   begin    1 . . . . . . . . . . . . . . . . .  1 . . . . . . . . . . . . . . . . .      the ";" of an
//                                                                                          SRID, behind a
//                                                                                          digit, ends no row
//
// Nothing walks a row. What a byte means that blanks part from it is found in its word, or by a
// walk of FAR_BLANKS bytes; where more blanks are, that is a fault,
// which says only that a reader that goes byte by byte is to say.
#include "text/depth.cuh"

struct WKTFound {
  u64 fault;  // the lowest byte of one; all ones if there is none
  // of SRIDs that are not 0 the lowest, and the inverse of the highest; all ones if there is none
  u64 least, not_max;
  i64 rows, open, close, depth;  // and the depth after the text
};

constexpr i64 FAR_BLANKS = 256, NEAR_BLANKS = 64;
constexpr i64 MAX_SRID = 0x7fffffff;
enum { NO, YES, FAR };

__device__ __forceinline__ u32 lower(u32 c) { return c | 0x20; }
__device__ __forceinline__ bool is_letter(u32 c) { return lower(c) - 'a' < 26; }
__device__ __forceinline__ bool is_digit(u32 c) { return c - '0' < 10; }
__device__ __forceinline__ bool is_white(u32 c) { return c == ' ' || c - '\t' < 2 || c == '\r'; }

// The bytes that are a letter, in any case.
__device__ __forceinline__ u64 letters_equal(const Planes &p, u32 c) {
  u64 r = ~0ull;
#pragma unroll
  for (int k = 0; k < 8; k++)
    if (k != 5) r &= c >> k & 1 ? p.b[k] : ~p.b[k];
  return r;
}
// Do these letters, given in lower case with the first one lowest, stand at a byte, and none before
// or after?
__device__ __forceinline__ bool word_at(
    const u8 *__restrict__ text, i64 n, i64 at, u64 word, int count) {
  if (at < 0 || at + count > n || (at > 0 && is_letter(text[at - 1])) ||
      (at + count < n && is_letter(text[at + count])))
    return false;
  bool same = true;
  for (int k = 0; k < count; k++) same &= lower(text[at + k]) == (word >> 8 * k & 0xff);
  return same;
}
constexpr u64 WORD_EMPTY = 0x7974706d65ull, WORD_NULL = 0x6c6c756eull, WORD_SRID = 0x64697273ull;

// One thread, one word.
KERNEL __launch_bounds__(BLOCK) wkt_masks(const u8 *__restrict__ text, i64 n, u32 members,
    u64 *__restrict__ open, u64 *__restrict__ close, u64 *__restrict__ comma,
    u64 *__restrict__ blank, u64 *__restrict__ stop, i64 *__restrict__ tile,
    WKTFound *__restrict__ result) {
  __shared__ i32 shared[BLOCK / 32];
  const i64 word = thread_index(), start = word * WORD;
  const Planes p = load_planes(text, n, word);
  const u64 line = bytes_equal(p, '\n') | bytes_equal(p, '\r'),
            white = line | bytes_equal(p, ' ') | bytes_equal(p, '\t'), commas = bytes_equal(p, ',');
  u64 opens = bytes_equal(p, '('), closes = bytes_equal(p, ')');
  for (u64 m = letters_equal(p, 'e') & (letters_equal(p, 'm') >> 1 | 1ull << 63); m; m &= m - 1)
    if (word_at(text, n, start + first_bit(m), WORD_EMPTY, 5)) opens |= m & (0 - m);
  for (u64 m = letters_equal(p, 'y') & (letters_equal(p, 't') << 1 | 1); m; m &= m - 1)
    if (word_at(text, n, start + first_bit(m) - 4, WORD_EMPTY, 5)) closes |= m & (0 - m);
  // beyond ASCII, and control characters
  const u64 odd = (p.b[7] | ~(p.b[6] | p.b[5] | white)) & word_valid(n, word);
  if (odd) atomicMin(&result->fault, (u64)(start + first_bit(odd)));
  if (start < n)
    open[word] = opens, close[word] = closes, comma[word] = commas, blank[word] = white,
    stop[word] = members ? commas : line | bytes_equal(p, ';');
  i32 all;
  tile_before(__popcll(opens) - __popcll(closes), shared, all);
  if (threadIdx.x == 0) tile[blockIdx.x] = all;
}

// The bits after runs of blanks that begin at these bits, or the bits themselves where none does.
//
//   from     1 . . 1 . . .
//   blank    1 1 . . . . .
//   result   . . 1 1 . . .
__device__ __forceinline__ u64 past_run(u64 from, u64 blank) {
  return (from & ~blank) | (((from & blank) + blank) & ~blank);
}

// Is the byte before this one that is no blank a digit?
__device__ __forceinline__ u32 behind_digit(const u8 *__restrict__ text, i64 at) {
  for (i64 end = at - FAR_BLANKS; at-- > 0;) {
    if (at < end) return FAR;
    if (!is_white(text[at])) return is_digit(text[at]) ? YES : NO;
  }
  return NO;
}
// Outside of brackets: does only what stands between rows stand between the end of the row before,
// or the start of the text, and this byte?
__device__ __forceinline__ u32 between_rows(const u8 *__restrict__ text, i64 at, bool members) {
  for (i64 end = at - FAR_BLANKS; at-- > 0;) {
    if (at < end) return FAR;
    const u32 c = text[at];
    if (c == ' ' || c == '\t' || (members && is_white(c))) continue;
    if (members) return c == ',' ? YES : NO;
    if (c != ';') return is_white(c) ? YES : NO;
    const u32 digit = behind_digit(text, at);
    return digit == FAR ? FAR : digit == NO ? YES : NO;
  }
  return YES;
}
// Stands at this byte, or after blanks, what may follow on a closing bracket: the end of the row
// on one that leaves all, else a comma or another one.
__device__ __forceinline__ bool goes_on(
    const u8 *__restrict__ text, i64 n, i64 at, bool leaves, bool members) {
  for (const i64 end = min(n, at + FAR_BLANKS); at < end; at++) {
    const u32 c = text[at];
    if (leaves && !members && (c == ';' || c == '\n' || c == '\r')) return true;
    if (!is_white(c)) return c == ',' ? !leaves || members : c == ')' && !leaves;
  }
  return at == n && leaves;
}

// Reports whether a closing bracket is at this byte, or follows blanks. More blanks than are searched
// count as one.
__device__ __forceinline__ bool closes(const u8 *__restrict__ text, i64 n, i64 at) {
  for (const i64 end = at + FAR_BLANKS; at < n; at++)
    if (at == end || !is_white(text[at])) return at == end || text[at] == ')';
  return false;
}

// What a thread of wkt_rows is given of its word.
struct WktWord {
  u64 open, close, comma, blank, stop, valid;
  i64 depth;  // before it
};
struct WktMarks {
  u64 begin, enter, leave, odd;
};
__device__ __forceinline__ WktMarks wkt_found(
    const u8 *__restrict__ text, i64 n, i64 start, const WktWord &w, bool members) {
  WktMarks r = {0, 0, 0, 0};
  if (w.depth <= __popcll(w.close)) {  // else all of it is inside of brackets
    i64 depth = w.depth;
    for (u64 m = w.open | w.close; m; m &= m - 1) {
      const u64 bit = m & (0 - m);
      if (w.open & bit) r.enter |= depth++ == 0 ? bit : 0;
      else r.leave |= --depth == 0 ? bit : 0, r.odd |= depth < 0 ? bit : 0;
    }
  }
  const u64 inside = prefix_xor(r.enter | r.leave) ^ (w.depth > 0 ? ~0ull : 0);
  u64 ends = w.stop & ~inside;
  for (u64 m = members ? 0 : ends & ~w.blank; m; m &= m - 1) {  // ";"
    const u32 srid = behind_digit(text, start + first_bit(m));
    if (srid != NO) ends &= ~(m & (0 - m));
    if (srid == FAR) r.odd |= m & (0 - m);
  }
  const u64 blank = w.blank & ~ends, other = w.valid & ~w.blank & ~ends;
  u64 waits = ends << 1;
  if (w.depth == 0 && w.valid) {
    const u32 before = between_rows(text, start, members);
    waits |= before == YES;
    r.odd |= before == FAR;
  }
  r.begin = past_run(waits, blank) & other;
  if (members) r.odd |= past_run(waits, blank) & ends;  // a comma with nothing before it
  const u64 inner = w.close & ~r.leave;
  r.odd |= past_run(r.leave << 1, blank) & ~ends & w.valid;
  r.odd |= past_run(inner << 1, blank) & ~(w.comma | w.close) & w.valid;
  r.odd |= past_run(w.open << 1, blank) & w.close;
  if (w.open) {  // what follows on the last one may be in the next word
    const u64 last = 1ull << (63 - __clzll((i64)w.open));
    if (!(~(last | (last - 1)) & w.valid & ~blank) && closes(text, n, min(n, start + WORD)))
      r.odd |= last;
  }
  if (w.close) {
    const u64 last = 1ull << (63 - __clzll((i64)w.close));
    if (!(~(last | (last - 1)) & w.valid & ~blank) &&
        !goes_on(text, n, min(n, start + WORD), r.leave & last, members))
      r.odd |= last;
  }
  return r;
}

// One thread, one word.
struct WKTRowsArgs {
  i64 n;
  i64 members;  // not 0: the text is members of collections
  i32 *base;
  u64 *begin, *enter, *leave;
  i64 *count;
  WKTFound *result;
};

KERNEL __launch_bounds__(BLOCK) wkt_rows(const u8 *__restrict__ text, const u64 *__restrict__ open,
    const u64 *__restrict__ close, const u64 *__restrict__ comma, const u64 *__restrict__ blank,
    const u64 *__restrict__ stop, const i64 *__restrict__ tile,
    const __grid_constant__ WKTRowsArgs args) {
  const i64 n = args.n;
  __shared__ i32 shared[BLOCK / 32];
  __shared__ u64 sums[BLOCK / 32];
  const i64 word = thread_index(), start = word * WORD;
  WktWord w = {0, 0, 0, 0, 0, word_valid(n, word), 0};
  if (start < n)
    w.open = open[word], w.close = close[word], w.comma = comma[word], w.blank = blank[word],
    w.stop = stop[word];
  i32 change;
  w.depth = tile[blockIdx.x] + tile_before(__popcll(w.open) - __popcll(w.close), shared, change);
  const WktMarks f = wkt_found(text, n, start, w, args.members != 0);
  if (start < n)
    args.base[word] = depth_saturated(w.depth), args.begin[word] = f.begin,
    args.enter[word] = f.enter, args.leave[word] = f.leave;
  if (f.odd) atomicMin(&args.result->fault, (u64)(start + first_bit(f.odd)));
  u64 all;
  tile_before((u64)__popcll(f.begin) | (u64)__popcll(f.enter) << 21 | (u64)__popcll(f.leave) << 42,
      sums, all);
  i64 *mine = args.count + 3ll * blockIdx.x;
  if (threadIdx.x == 0)
    mine[0] = (i64)(all & 0x1fffff), mine[1] = (i64)(all >> 21 & 0x1fffff),
    mine[2] = (i64)(all >> 42);
}

// One block.
KERNEL __launch_bounds__(SCAN, 1) wkt_join(i64 *__restrict__ count, i64 tiles,
    const i64 *__restrict__ tile, WKTFound *__restrict__ result) {
  __shared__ i64 shared[33];
  const Share share = block_share(tiles);
  i64 sum[3] = {0, 0, 0}, all[3];
  for (i64 i = share.from; i < share.to; i++)
#pragma unroll
    for (int k = 0; k < 3; k++) sum[k] += count[3 * i + k];
#pragma unroll
  for (int k = 0; k < 3; k++) sum[k] = block_exclusive(sum[k], shared, all[k]);
  for (i64 i = share.from; i < share.to; i++)
#pragma unroll
    for (int k = 0; k < 3; k++) {
      const i64 own = count[3 * i + k];
      count[3 * i + k] = sum[k];
      sum[k] += own;
    }
  if (threadIdx.x == 0)
    result->rows = all[0], result->open = all[1], result->close = all[2],
    result->depth = tile[tiles];
}

// One thread, one word: writes what each row and each outermost bracket is, by the number of those
// before.
KERNEL __launch_bounds__(BLOCK) wkt_emit(const u64 *__restrict__ begin,
    const u64 *__restrict__ enter, const u64 *__restrict__ leave, i64 words,
    const i64 *__restrict__ count, const WKTFound *__restrict__ result, i64 *__restrict__ starts,
    i64 *__restrict__ first, i64 *__restrict__ entered, i64 *__restrict__ left) {
  __shared__ u64 sums[BLOCK / 32];
  const i64 word = thread_index();
  u64 begins = 0, enters = 0, leaves = 0, all;
  if (word < words) begins = begin[word], enters = enter[word], leaves = leave[word];
  const u64 before = tile_before(
      (u64)__popcll(begins) | (u64)__popcll(enters) << 21 | (u64)__popcll(leaves) << 42, sums, all);
  const i64 *joined = count + 3ll * blockIdx.x;
  i64 row = joined[0] + (i64)(before & 0x1fffff), in = joined[1] + (i64)(before >> 21 & 0x1fffff),
      out = joined[2] + (i64)(before >> 42);
  for (u64 m = begins; m; m &= m - 1) {
    const u64 bit = m & (0 - m);
    starts[row] = word * WORD + first_bit(m), first[row] = in + __popcll(enters & (bit - 1));
    row++;
  }
  for (u64 m = enters; m; m &= m - 1) entered[in++] = word * WORD + first_bit(m);
  for (u64 m = leaves; m; m &= m - 1) left[out++] = word * WORD + first_bit(m);
  if (word == 0) first[result->rows] = result->open;
}

// The first byte at or after at that is not blank. The search ends at n, or NEAR_BLANKS bytes after
// at.
__device__ __forceinline__ i64 past_blanks(const u8 *__restrict__ text, i64 n, i64 at) {
  for (const i64 end = min(n, at + NEAR_BLANKS); at < end && is_white(text[at]);) at++;
  return at;
}
// Reads "SRID = n ;" and blanks; gives what is after, or -1.
__device__ __forceinline__ i64 read_srid(const u8 *__restrict__ text, i64 n, i64 at, i64 &srid) {
  if (!word_at(text, n, at, WORD_SRID, 4)) return -1;
  at = past_blanks(text, n, at + 4);
  if (at == n || text[at] != '=') return -1;
  const i64 from = at = past_blanks(text, n, at + 1);
  for (const i64 end = min(n, at + NEAR_BLANKS); at < end && is_digit(text[at]); at++)
    srid = min(10 * srid + text[at] - '0', MAX_SRID + 1);
  if (at == from || srid > MAX_SRID) return -1;
  at = past_blanks(text, n, at);
  return at < n && text[at] == ';' ? past_blanks(text, n, at + 1) : -1;
}
// Reads NULL and what ends its row.
__device__ __forceinline__ bool read_null(const u8 *__restrict__ text, i64 n, i64 at) {
  if (!word_at(text, n, at, WORD_NULL, 4)) return false;
  at += 4;
  for (const i64 end = min(n, at + NEAR_BLANKS); at < end && (text[at] == ' ' || text[at] == '\t');)
    at++;
  return at == n || text[at] == ';' || text[at] == '\n' || text[at] == '\r';
}

struct WKTHeadsArgs {
  i64 n;
  i64 members;  // as in WKTRowsArgs
  i64 rows;
  i64 *tag, *from, *to;
  u64 *valid, *body;
  WKTFound *result;
};

// One thread, one row.
KERNEL __launch_bounds__(BLOCK) wkt_heads(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ first, const i64 *__restrict__ entered,
    const i64 *__restrict__ left, const __grid_constant__ WKTHeadsArgs args) {
  const i64 i = thread_index(), n = args.n, rows = args.rows;
  const bool members = args.members != 0;
  WKTFound *__restrict__ result = args.result;
  bool null = true, has = false;
  if (i < rows) {
    const i64 start = starts[i], bracket = first[i], brackets = first[i + 1] - bracket;
    i64 at = start, srid = 0;
    null = !members && lower(text[at]) == 'n';
    bool odd = null ? !read_null(text, n, at) : false;
    if (!members && lower(text[at]) == 's') at = read_srid(text, n, at, srid), odd = at < 0;
    has = brackets > 0;
    odd |= brackets != (null ? 0 : 1);
    if (odd) atomicMin(&result->fault, (u64)start);
    if (srid > 0 && (u64)srid < result->least) atomicMin(&result->least, (u64)srid);
    if (srid > 0 && ~(u64)srid < result->not_max) atomicMin(&result->not_max, ~(u64)srid);
    args.tag[i] = odd ? start : at, args.from[i] = has ? entered[bracket] : start,
    args.to[i] = has ? left[bracket] + 1 : start;
  }
  store_bits(args.valid, i, rows, !null), store_bits(args.body, i, rows, has);
}
