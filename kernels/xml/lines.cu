// xml_lines.cu: the geometries of rows of XML as well-known text, a line each, in as many bytes as
// the XML has.
//
//   text   < f > < P o i n t > < p o s > 1   2 < / p o s > < / P o i n t > < n > x < / n > < / f >
//   lines  n n n   P O I N T (           1   2             ) n n n n n n n n n n n n n n n n n n n     n is a line feed
//
// So brackets stand where tags stood, and nothing has to be moved. Where there is none, NULL stands
// in place of the row's tag.
//
// buffer     elements     written by       what
// less       n/64         -                where tags begin
// greater    n/64         -                where they end
// tags_at    2 * tiles    -                tags that begin before each tile, and that end there
// gap        tags         -                GAP_*
// patch      tags         -                PATCH_*
// count      tiles        counts           ordinates of GAP_POSITIONS that begin in each tile; a scan makes
//                                          those before it of them
// lines      n            write, patches   the text
// found      1            write, patches   see XMLFound
//
// Ordinates are separated by blanks alone in a GAP_POSITIONS, with a comma after every n of them,
// as their number says. All of the text is counted, and each list has to
// end with a whole position, so that nobody counts from where it began.
#include "xml/lines.cuh"
#include "xml/xml.cuh"
#include "bytes.cuh"

constexpr i64 FAR_BLANKS = 256;

// The bytes of a word by what they mean.
struct LineWord {
  u64 positions, position, tuples;  // text of ordinates
  u64 inside;                       // of geometries, but no such text
  u64 closed;                       // after GAP_POSITIONS: the "<" there
};
// before and ended: tags that begin, and that end, before the word.
__device__ __forceinline__ LineWord line_word(
    u64 less, u64 greater, i64 before, i64 ended, i64 tags, const u8 *__restrict__ gap) {
  LineWord r = {0, 0, 0, 0, 0};
  i64 tag = before - 1;
  bool in_tag = before > ended;
  u64 marks = less | greater;
  for (int from = 0; from < 64;) {
    const u32 mode = tag >= 0 && tag < tags ? gap[tag] : (u32)GAP_OUTSIDE;
    // a tag's ">" is its own
    const int mark = first_bit(marks), end = in_tag ? min(mark + 1, 64) : mark;
    const u64 run = low_bits(end) & ~low_bits(from);
    if (in_tag) {
      if (mode & GAP_TAG) r.inside |= run;
    } else {
      switch (mode & GAP_TEXT) {
      case GAP_GEOMETRY: r.inside |= run; break;
      case GAP_POSITIONS: r.positions |= run; break;
      case GAP_POSITION: r.position |= run; break;
      case GAP_TUPLES: r.tuples |= run; break;
      }
      if (mark < 64 && (mode & GAP_TEXT) == GAP_POSITIONS) r.closed |= 1ull << mark;
      if (mark < 64) tag++;
    }
    from = end;
    if (mark < 64) marks &= marks - 1, in_tag = !in_tag;
  }
  return r;
}
// That of a thread's word; all threads of the block call.
__device__ __forceinline__ LineWord own_line_word(const u64 *less, const u64 *greater, i64 words,
    const i64 *tags_at, i64 tiles, i64 tags, const u8 *gap, u32 *shared) {
  const i64 word = thread_index();
  u64 lesses = 0, greaters = 0;
  if (word < words) lesses = less[word], greaters = greater[word];
  u32 all;
  const u32 mine = block_exclusive((u32)(__popcll(lesses) | __popcll(greaters) << 16), shared, all);
  return line_word(lesses, greaters, tags_at[blockIdx.x] + (mine & 0xffff),
      tags_at[tiles + blockIdx.x] + (mine >> 16), tags, gap);
}
__device__ __forceinline__ u64 white_bytes(const Planes &p) {
  return bytes_equal(p, ' ') | bytes_equal(p, '\t') | bytes_equal(p, '\n') | bytes_equal(p, '\r');
}

// The first bytes of ordinates in a GAP_POSITIONS.
__device__ __forceinline__ u64 ordinate_starts(
    const u8 *__restrict__ text, i64 start, u64 positions, u64 white) {
  const u64 other = positions & ~white;
  u64 before = other << 1;
  if (start > 0 && other & 1 && !is_white(text[start - 1]) && text[start - 1] != '>') before |= 1;
  return other & ~before;
}

KERNEL __launch_bounds__(BLOCK) xml_line_counts(const u8 *__restrict__ text, i64 n,
    const u64 *__restrict__ less, const u64 *__restrict__ greater, i64 words,
    const i64 *__restrict__ tags_at, i64 tiles, i64 tags, const u8 *__restrict__ gap,
    u32 *__restrict__ count) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  LineWord w = own_line_word(less, greater, words, tags_at, tiles, tags, gap, shared);
  u32 mine = 0;
  if (word < words && w.positions)
    mine = __popcll(
        ordinate_starts(text, word * WORD, w.positions, white_bytes(load_planes(text, n, word))));
  mine = block_sum(mine, shared);
  if (threadIdx.x == 0) count[blockIdx.x] = mine;
}

// Do only blanks stand between the tag before and this byte? FAR_BLANKS of them are too many to
// say.
enum { NO, YES, FAR };
__device__ __forceinline__ u32 behind_tag(const u8 *__restrict__ text, i64 at) {
  for (const i64 end = at - FAR_BLANKS; at >= 0 && at > end; at--)
    if (!is_white(text[at])) return text[at] == '>' ? YES : NO;
  return FAR;
}

// Bits to bytes of all ones.
__device__ __forceinline__ u64 spread(u32 bits) {
  return (~zero_bytes(bits * ONES & 0x8040201008040201ull) & HIGHS) / 128 * 255;
}

struct XMLLineWriteArgs {
  i64 n, words, tiles, tags;
  i64 size;  // ordinates of a position
  u8 *lines;
  XMLFound *found;
};

KERNEL __launch_bounds__(BLOCK) xml_line_write(const u8 *__restrict__ text,
    const u64 *__restrict__ less, const u64 *__restrict__ greater, const i64 *__restrict__ tags_at,
    const u8 *__restrict__ gap, const i64 *__restrict__ before,
    const __grid_constant__ XMLLineWriteArgs args) {
  const i64 n = args.n, words = args.words;
  const u32 size = (u32)args.size;
  u8 *__restrict__ lines = args.lines;
  __shared__ u32 shared[33];
  const i64 word = thread_index(), start = word * WORD;
  const LineWord w =
      own_line_word(less, greater, words, tags_at, args.tiles, args.tags, gap, shared);
  const u64 text_bytes = w.positions | w.position | w.tuples;
  u64 starts = 0, white = 0, commas = 0, tuple_commas = 0, odd = 0;
  Planes p;
  if (word < words && (text_bytes | w.closed)) {
    p = load_planes(text, n, word);
    white = white_bytes(p);
    starts = ordinate_starts(text, start, w.positions, white);
    const u64 *b = p.b, comma = bytes_equal(p, ','),
              letter = bytes_equal(p, 'e') | bytes_equal(p, 'E');
    const u64 digit = ~b[7] & ~b[6] & b[5] & b[4] & ~(b[3] & (b[2] | b[1])),
              sign = bytes_equal(p, '-') | bytes_equal(p, '+') | bytes_equal(p, '.');
    tuple_commas = comma & w.tuples;
    odd = text_bytes & ~(digit | sign | letter | white | tuple_commas);
    // Both neighbours of a comma have to be part of a number.
    const u64 number = w.tuples & ~white & ~comma;
    u64 left = number << 1, right = number >> 1;
    if (tuple_commas & 1 && start > 0 && !is_white(text[start - 1]) && text[start - 1] != ',' &&
        text[start - 1] != '>')
      left |= 1;
    if (tuple_commas >> 63 && start + WORD < n && !is_white(text[start + WORD]) &&
        text[start + WORD] != ',' && text[start + WORD] != '<')
      right |= 1ull << 63;
    odd |= tuple_commas & ~(left & right);
  }
  u32 all;
  const u32 mine = block_exclusive((u32)__popcll(starts), shared, all);
  if (word >= words) return;
  if (text_bytes | w.closed) {
    const i64 ordinate = before[blockIdx.x] + mine;
    for (u64 m = w.closed; m; m &= m - 1)
      if ((ordinate + __popcll(starts & low_bits(first_bit(m)))) % size) odd |= m & (0 - m);
    // Blanks before a number: between two positions the last of them becomes a comma.
    const u64 blanks = white & (w.positions | w.tuples), other = (w.positions | w.tuples) & ~white;
    u64 last = blanks & other >> 1;
    if (blanks >> 63 && start + WORD < n && !is_white(text[start + WORD]) &&
        text[start + WORD] != '<')
      last |= 1ull << 63;
    for (u64 m = last; m; m &= m - 1) {
      const u64 bit = m & (0 - m);
      if (w.positions & bit && (ordinate + __popcll(starts & (bit - 1))) % size) continue;
      const u32 behind = behind_tag(text, start + first_bit(m));
      if (behind == NO) commas |= bit;
      else if (behind == FAR) odd |= bit;
    }
    if (odd) xml_fault(args.found, start + first_bit(odd));
  }
  const u64 keep = text_bytes & ~white & ~tuple_commas,
            space = (w.inside | text_bytes) & ~keep & ~commas;
  for (int i = 0; i < 8 && start + 8 * i < n; i++) {
    const u64 kept = spread(keep >> 8 * i & 0xff), blank = spread(space >> 8 * i & 0xff),
              comma = spread(commas >> 8 * i & 0xff);
    const u64 v = (kept ? *(const u64 *)(text + start + 8 * i) & kept : 0) | (blank & ONES * ' ') |
                  (comma & ONES * ',') | (~(kept | blank | comma) & ONES * '\n');
    if (start + 8 * i + 8 <= n) {
      *(u64 *)(lines + start + 8 * i) = v;
    } else {
      for (int k = 0; start + 8 * i + k < n; k++) lines[start + 8 * i + k] = (u8)(v >> 8 * k);
    }
  }
}

// One thread, one tag: what stands in its place.
KERNEL __launch_bounds__(BLOCK) xml_line_patches(i64 n, const i64 *__restrict__ starts,
    const i64 *__restrict__ ends, i64 tags, const u8 *__restrict__ patch, u8 *__restrict__ lines) {
  const i64 i = thread_index();
  if (i >= tags || !patch[i]) return;
  const u32 what = patch[i];
  const i64 room = ends[i] + 1 - starts[i];
  u8 *at = lines + starts[i];
  if (what & PATCH_NULL) {
    if (n - starts[i] >= 5) at[0] = 'N', at[1] = 'U', at[2] = at[3] = 'L', at[4] = '\n';
    return;
  }
  if (room < 2) return;  // a fault
  if (what & PATCH_COMMA) at[0] = ',';
  if (what & (PATCH_CLOSE | PATCH_END)) at[0] = ')';
  if (what & PATCH_END) at[1] = '\n';
  if (!(what & PATCH_OPEN)) return;
  const char *word = word_text(what & PATCH_WORD);
  i64 k = 1;
  for (; k < room - 1 && *word; k++) at[k] = (u8)*word++;
  at[k] = '(';
}
