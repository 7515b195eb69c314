// strings.cu: the bytes of a column of strings, with escapes read, and what is wrong with each
// string.
//
// A string of up to PIECE bytes is read by one thread. A longer one is cut into pieces of PIECE
// bytes, which belong to the threads in order, so that
// one string of 200 MB costs what 200 MB of strings of PIECE bytes cost:
//
//   string   | piece 0   | piece 1   | piece 2   | 3  |
//   block    | ---- 256 pieces, of one string or of many ---- |
//
// A piece reads the escapes that start in it, to their ends. Where its first one starts depends on
// the escape that reaches into it, which is at most 12
// bytes long (a surrogate pair), and on whether the byte 12 before the piece is escaped, which the
// backslashes before that say, in runs of any length:
//
//   text      . \ \ \ u D 8 3 D \ u D E 0 0 . .
//               ^ 12 before               ^ edge of two pieces, in the last of these escapes
//
// So each piece first says what it makes of that state, one block joins the pieces, and then all is
// known that counting takes. Quotes that are doubled
// go the same way: the first of two is the escape.
//
// buffer    elements        written by             what
// offsets   strings + 1     measure, offsets       bytes of the short strings before each in its block; then
//                                                  before it in all. Without long strings bytes does with the
//                                                  first
// sums      strings/256     measure                bytes of each block's short strings
// sizes     strings         long_sizes             bytes of each long string; a scan makes sums of them,
//                                                  which are added to the offsets
// flags     5 * strings/64  measure, pieces        a mask for each flag, one after the other
// before    strings         measure                pieces of the strings before in its block; only in blocks
//                                                  that have pieces
// first     strings/256+1   measure                pieces of each block's strings; a scan makes first pieces
//                                                  of them, and their number at the end
// piece     pieces          tails, pieces          see StringPiece
// group     pieces/256      tails, states          escape state: what the group's pieces make of it, then
//                                                  before the group
// bytes     pieces/256      pieces                 bytes of each group's pieces; a scan makes sums before them
// summary   1               measure, pieces        see StringSummary
// narrow    strings + 1     bytes                  the offsets in 32 bits
#include "search.cuh"
#include "text/strings_measure.cuh"

constexpr i64 ESCAPE_REACH = 12;  // bytes of the longest escape

struct StringPiece {
  i64 string;
  u32 before;  // bytes of the pieces before it in its group
  // STATE_*: is the byte ESCAPE_REACH before it escaped; STATE_KEPT: what the group's state says
  u32 escaped;
};
KERNEL __launch_bounds__(BLOCK) strings_measure(const u8 *__restrict__ text, i64 n, u32 mode,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 strings,
    const __grid_constant__ StringColumn to) {
  const i64 i = thread_index();
  bool bad = false;
  Span s = {0, 0};
  if (i < strings) s = read_span(starts, ends, i, n, bad);
  measure_string({text, n, mode}, i, strings, s, bad, to);
}

// What lies before a block's strings is added up by the block itself, unless block_sums were
// scanned, with the sum of all after them.
KERNEL __launch_bounds__(BLOCK) strings_offsets(
    const i64 *__restrict__ block_sums, u32 scanned, i64 strings, i64 *__restrict__ offsets) {
  __shared__ i64 shared[33];
  const i64 i = thread_index();
  i64 sum = 0;
  for (i64 b = threadIdx.x; b < blockIdx.x && !scanned; b += BLOCK) sum += block_sums[b];
  sum = scanned ? block_sums[blockIdx.x] : block_sum(sum, shared);
  if (i < strings) offsets[i] += sum;
  if (i != strings) return;
  const i64 last = (strings + BLOCK - 1) / BLOCK;  // the block of this thread, or the one before
  offsets[i] = blockIdx.x == last ? sum : scanned ? block_sums[last] : sum + block_sums[blockIdx.x];
}

// The pieces of all strings, which are 0 where there is no room for them: then spans overlap.
__device__ __forceinline__ i64 all_pieces(const i64 *first, i64 strings, i64 room) {
  if (!room) return 0;  // the long strings were not measured
  i64 all = first[(strings + BLOCK - 1) / BLOCK];
  return all <= room ? all : 0;
}
// The string that a piece belongs to.
__device__ __forceinline__ i64 string_of(
    const i64 *first, const i64 *before, i64 strings, i64 piece) {
  i64 b = owner_of(first, 0, (strings + BLOCK - 1) / BLOCK, piece), base = b * BLOCK;
  return base + owner_of(before + base, 0, strings - base < BLOCK ? strings - base : BLOCK,
                    piece - first[b]);
}
// The first piece of a long string.
__device__ __forceinline__ i64 first_piece(const i64 *first, const i64 *before, i64 string) {
  return first[string / BLOCK] + before[string];
}

// Whether the byte ESCAPE_REACH before the end of the piece from `at` on is escaped, as far as the
// piece itself says.
__device__ __forceinline__ u32 piece_tail(const Text &t, Span s, i64 at) {
  // nothing follows a string's last piece
  if (t.mode == STRINGS_RAW || at + PIECE >= s.end) return STATE_OFF;
  const u32 escape = t.escape();
  i64 from = at == s.start ? at : at - ESCAPE_REACH, to = at + PIECE - ESCAPE_REACH, run = to;
  while (run > from && t.bytes[run - 1] == escape) run--;
  // an even number of escapes, and nothing else
  if (run == from) return at == s.start ? STATE_OFF : STATE_KEPT;
  return (to - run) % 2 ? STATE_ON : STATE_OFF;
}
// Where the first byte or escape starts that belongs to the piece from `at` on.
__device__ __forceinline__ i64 piece_start(const Text &t, Span s, i64 at, u32 escaped) {
  if (t.mode == STRINGS_RAW || at == s.start) return at;
  const u32 escape = t.escape();
  i64 from = at - ESCAPE_REACH;
  if (escaped == STATE_ON && (t.mode == STRINGS_JSON || t.bytes[from] == escape)) from++;
  while (from < at) from += t.bytes[from] == escape ? read_escape(t, from, s.end).taken : 1;
  return from;
}

KERNEL __launch_bounds__(BLOCK) strings_tails(const u8 *__restrict__ text, i64 n, u32 mode,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 strings,
    const i64 *__restrict__ before, const i64 *__restrict__ first, i64 room,
    StringPiece *__restrict__ piece, u32 *__restrict__ group) {
  __shared__ u32 shared[33];
  const i64 p = thread_index(), all = all_pieces(first, strings, room);
  if (blockIdx.x * (i64)BLOCK >= all) return;
  const Text t = {text, n, mode};
  u32 set = STATE_KEPT, after;
  i64 string = 0, k = 0;
  if (p < all) {
    bool bad;
    string = string_of(first, before, strings, p), k = p - first_piece(first, before, string);
    Span s = read_span(starts, ends, string, n, bad);
    set = piece_tail(t, s, s.start + k * PIECE);
  }
  u32 state = block_state(set, STATE_KEPT, shared, after);
  if (p < all) {
    StringPiece x = {string, 0, k ? state : (u32)STATE_OFF};
    piece[p] = x;
  }
  if (threadIdx.x == 0) group[blockIdx.x] = after;
}

KERNEL __launch_bounds__(SCAN) strings_states(
    u32 *__restrict__ group, const i64 *__restrict__ first, i64 strings, i64 room) {
  __shared__ u32 shared[33];
  Share mine = block_share((all_pieces(first, strings, room) + BLOCK - 1) / BLOCK);
  u32 last = STATE_KEPT, end;
  for (i64 g = mine.from; g < mine.to; g++)
    if (group[g] != STATE_KEPT) last = group[g];
  u32 state = block_state(last, STATE_OFF, shared, end);
  for (i64 g = mine.from; g < mine.to; g++) {
    u32 set = group[g];
    group[g] = state;
    if (set != STATE_KEPT) state = set;
  }
}

struct StringsPiecesArgs {
  i64 n, mode, strings;
  i64 room;  // for pieces
  StringPiece *piece;
  i64 *bytes;
  u32 *flags;
  StringSummary *summary;
};

KERNEL __launch_bounds__(BLOCK, 5) strings_pieces(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const i64 *__restrict__ before,
    const i64 *__restrict__ first, const u32 *__restrict__ group,
    const __grid_constant__ StringsPiecesArgs args) {
  __shared__ u32 shared[33];
  const i64 n = args.n, strings = args.strings;
  const i64 p = thread_index(), all = all_pieces(first, strings, args.room);
  if (blockIdx.x * (i64)BLOCK >= all) {
    if (threadIdx.x == 0) args.bytes[blockIdx.x] = 0;
    return;
  }
  const Text t = {text, n, (u32)args.mode};
  StringPart part = {0, 0, 0};
  StringPiece x = {0, 0, STATE_OFF};
  if (p < all) {
    bool bad;
    x = args.piece[p];
    Span s = read_span(starts, ends, x.string, n, bad);
    i64 at = s.start + (p - first_piece(first, before, x.string)) * PIECE,
        to = at + PIECE < s.end ? at + PIECE : s.end;
    if (x.escaped == STATE_KEPT) x.escaped = group[blockIdx.x];
    part = walk_string<false>(t, s.start, piece_start(t, s, at, x.escaped), to, s.end, nullptr);
    const i64 half = x.string >> 5, halves = (strings + WORD - 1) / WORD * 2;
    const u32 bit = 1u << (x.string & 31);
    for (int f = 0; f < STRING_FLAGS; f++) {
      u32 *word = args.flags + f * halves + half;
      // the other pieces of the string do the same
      if (part.flags >> f & 1 && !(*(volatile u32 *)word & bit)) atomicOr(word, bit);
    }
  }
  add_sums(args.summary, part.flags, part.replaced);
  u32 total;
  x.before = block_exclusive((u32)part.bytes, shared, total);
  if (p < all) args.piece[p] = x;
  if (threadIdx.x == 0) args.bytes[blockIdx.x] = total;
}

// The bytes of the pieces before p, of all strings. bytes: the sums before each group.
__device__ __forceinline__ i64 bytes_before(
    const StringPiece *piece, const i64 *bytes, i64 all, i64 p) {
  return p < all ? bytes[p / BLOCK] + piece[p].before : bytes[(p + BLOCK - 1) / BLOCK];
}

KERNEL __launch_bounds__(BLOCK) strings_long_sizes(i64 n, const i64 *__restrict__ starts,
    const i64 *__restrict__ ends, i64 strings, const i64 *__restrict__ before,
    const i64 *__restrict__ first, i64 room, const StringPiece *__restrict__ piece,
    const i64 *__restrict__ bytes, i64 *__restrict__ sizes, u32 *__restrict__ flags,
    StringSummary *__restrict__ sums) {
  const i64 i = thread_index(), all = all_pieces(first, strings, room);
  if (first[blockIdx.x] == first[blockIdx.x + 1]) {
    if (i < strings) sizes[i] = 0;
    return;
  }
  u32 lost = 0;
  if (i < strings) {
    bool bad;
    i64 pieces = pieces_of(read_span(starts, ends, i, n, bad)), p = first_piece(first, before, i);
    lost = pieces && !all;
    sizes[i] = pieces && all ? bytes_before(piece, bytes, all, p + pieces) -
                                   bytes_before(piece, bytes, all, p)
                             : 0;
  }
  add_sums(sums, lost ? STRING_MALFORMED : 0, 0);
  const i64 halves = (strings + WORD - 1) / WORD * 2;
  if (lost) atomicOr(flags + 3 * halves + (i >> 5), 1u << (i & 31));
}

// Where a string's bytes lie in the output.
struct StringRoom {
  i64 at, end;
};
// The room of string i, or where that of all ends if i is their number. sums: offsets count from
// the first string of each block on, and there are no more blocks than each
// adds up by itself; null: they count from the first of all. All threads of the block call.
__device__ __forceinline__ StringRoom string_room(
    const i64 *__restrict__ offsets, const i64 *__restrict__ sums, i64 i, i64 strings) {
  __shared__ i64 shared[33];
  StringRoom r = {0, 0};
  if (!sums) {
    if (i <= strings) r.at = offsets[i], r.end = i < strings ? offsets[i + 1] : r.at;
    return r;
  }
  i64 before = 0;
  for (i64 b = threadIdx.x; b < blockIdx.x; b += BLOCK) before += sums[b];
  before = block_sum(before, shared);
  if (i > strings) return r;
  // strings from the block's first one on, and bytes of those in the block
  const i64 own = strings - (i64)blockIdx.x * BLOCK, all = own ? sums[blockIdx.x] : 0;
  r.at = before + (threadIdx.x < own ? offsets[i] : all);
  r.end = before + (threadIdx.x + 1 < min(own, (i64)BLOCK) ? offsets[i + 1] : all);
  return r;
}

struct StringsBytesArgs {
  i64 n, mode, strings;
  i64 room;  // for pieces
  u8 *out;
  i64 out_room;
  i32 *narrow;  // may be null
};

// One thread a short string and a piece, and one for the last offset. Nothing is written after the
// room for the bytes.
KERNEL __launch_bounds__(BLOCK) strings_bytes(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const i64 *__restrict__ offsets,
    const i64 *__restrict__ sums, const i64 *__restrict__ before, const i64 *__restrict__ first,
    const StringPiece *__restrict__ piece, const i64 *__restrict__ bytes,
    const __grid_constant__ StringsBytesArgs args) {
  const i64 n = args.n, strings = args.strings, out_room = args.out_room;
  u8 *__restrict__ out = args.out;
  const i64 i = thread_index(), all = all_pieces(first, strings, args.room);
  const Text t = {text, n, (u32)args.mode};
  const StringRoom own = string_room(offsets, sums, i, strings);
  bool bad;
  if (args.narrow && i <= strings) args.narrow[i] = (i32)min(own.at, 0x7fffffffll);
  if (i < strings && own.at < own.end && own.end <= out_room) {
    Span s = read_span(starts, ends, i, n, bad);
    if (!pieces_of(s)) {
      Writer to(out + own.at);
      walk_string<true>(t, s.start, s.start, s.end, s.end, &to);
      to.flush();
    }
  }
  if (i < all) {
    StringPiece x = piece[i];
    i64 p = first_piece(first, before, x.string);
    Span s = read_span(starts, ends, x.string, n, bad);
    i64 at = s.start + (i - p) * PIECE, end = at + PIECE < s.end ? at + PIECE : s.end;
    if (offsets[x.string + 1] <= out_room) {
      Writer to(out + offsets[x.string] +
                (bytes_before(piece, bytes, all, i) - bytes_before(piece, bytes, all, p)));
      walk_string<true>(t, s.start, piece_start(t, s, at, x.escaped), end, s.end, &to);
      to.flush();
    }
  }
}
