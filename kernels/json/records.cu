// records.cu: the records of a JSON text, and two levels of their members.
//
// First a thread takes a word of 64 bytes and checks the grammar of all its tokens at once, as
// masks; then a thread takes a member. A token is right or wrong by the
// one before it, where a string is a token of its own kind if it follows a colon:
//
//   token      follows
//   { level 0  nothing, at byte 0; a comma at level 0 (SEPARATOR_COMMA), } at level 0 and a line feed (_LINE)
//   string     { or a comma: a key; or a colon: a value
//   :          a key
//   { [        a colon
//   ] } opened at level 2 or, if square, at level 1: its opener of the same kind, whatever stands between them
//   , }        a value that is a string; ] or }; a colon, with a scalar between the two
//   }          {
//   , level 0  } at level 0 (SEPARATOR_COMMA)
//
// All else outside of strings is blank. Levels follow each other as brackets say, so that this is
// the whole grammar. What follows some tokens is an addition:
// a carry runs from each to the next token.
//
//   tokens         . : . . " . . , . "           the string is a token where it begins
//   colons << 1    . . 1 . . . . . . .
//   + not tokens   1 . 1 1 . 1 1 . 1 .
//   sum            1 . . . 1 1 1 . 1 .           and tokens: the string
//
// A member's value may begin or end in a later tile than its colon: there it is the first thing to
// be found, and the tile knows from the run before it that it is
// awaited. Words are searched from one token to the next, and gaps and scalars are bounded: the
// time is linear in the bytes.
//
// buffer     elements   written by   what
// planes     3 * n/64   -            see structure.cu
// tile       n/16384    -            see quote.cuh
// levels     3 * n/64   count        one after the other: inside, odd and from2 of each word; whole tiles
// run        n/16384    count        of each tile, at its RunPlace: whole rounds
// before     6 * n/16384  join       what lies before each tile, see RunPlace: whole rounds of JOIN_RUNS *
//                                    JOIN_EACH tiles
// result     1          all          see RecordsFound; the fault all ones before
// told       1          join         likewise, on the host, for what the lists take; without a fault
// open...    records    emit         see records.go
// row...     members    emit         see records.go
// field      members    emit         as fields.cu has it, if the caller has a dictionary
// missed     1          emit         likewise
// key_...    members    emit         where the caller wants them
#include "json/fields.cuh"
#include "json/records.cuh"
#include "json/records_gaps.cuh"

// Also in records.go.
enum { SEPARATOR_COMMA, SEPARATOR_LINE };
struct RecordsFound {
  u64 fault;  // byte offset of the first fault; all ones if there is none
  i64 members, records;
  i64 unsound;  // of the structure
};

__device__ __forceinline__ void note_fault(RecordsFound *__restrict__ result, i64 at) {
  if ((u64)at < *(volatile u64 *)&result->fault) atomicMin(&result->fault, (u64)at);
}
// The word's classes and levels, found, and kept for kept_word. All threads of the block call.
__device__ __forceinline__ RecordWord found_word(const u64 *__restrict__ planes, i64 n,
    const QuoteTile &t, u32 *shared, i32 *warps, u64 *__restrict__ levels,
    RecordsFound *__restrict__ result) {
  const i64 word = thread_index(), room = (i64)gridDim.x * BLOCK;
  const WordClasses x = word_classes(planes, n, word, t, shared);
  i32 all;
  const i32 change = tile_before(__popcll(x.open) - __popcll(x.close), warps, all);
  const RecordLevels at = record_levels(x, max(-1, min(t.depth, 1 << 20)) + change);
  if (at.below) note_fault(result, word * WORD);
  levels[word] = x.inside, levels[room + word] = at.odd, levels[2 * room + word] = at.from2;
  return record_word(x, at.odd, at.from2);
}
__device__ __forceinline__ RecordWord kept_word(
    const u64 *__restrict__ planes, i64 n, const QuoteTile &t, const u64 *__restrict__ levels) {
  const i64 word = thread_index(), room = (i64)gridDim.x * BLOCK;
  const u64 inside = levels[word];
  ClassPlanes p = load_classes(planes, n, word);
  apply_first(t, p);
  return record_word(classes_of(p, inside, ~inside), levels[room + word], levels[2 * room + word]);
}

// ---- what each tile holds ----

// The place in the tile of a word's last set bit, or -1.
__device__ __forceinline__ i32 last_place(u64 mask) {
  return mask ? (i32)threadIdx.x * (i32)WORD + 63 - __clzll((i64)mask) : -1;
}
// What the warps of a block found, for all of its threads after the next barrier.
struct WarpFinds {
  i32 outer[WARPS], token[WARPS], end[WARPS], value[WARPS];  // the last place of each, or -1
  i32 records[WARPS];                                        // how many there are
};
// Each lane has one v: p gets the largest of them.
__device__ __forceinline__ void find_last(i32 *p, i32 v) {
  v = __reduce_max_sync(WARP, v);
  if (lane_index() == 0) p[threadIdx.x / 32] = v;
}
__device__ __forceinline__ i32 last_found(const i32 *p) {
  return __reduce_max_sync(WARP, lane_index() < WARPS ? p[lane_index()] : -1);
}

// The lane with the last item of each kind writes it.
KERNEL __launch_bounds__(BLOCK, 5) records_count(const u64 *__restrict__ planes, i64 n,
    const QuoteTile *__restrict__ tile, u64 *__restrict__ levels, TileRun *__restrict__ run,
    RecordsFound *__restrict__ result) {
  __shared__ u32 shared[33], member_warps[WARPS];
  __shared__ i32 depth_warps[WARPS];
  __shared__ WarpFinds found;
  // the code of each word's last token, of which strings are AT_QUOTE
  __shared__ u8 last_of[BLOCK];
  const RecordWord r = found_word(planes, n, tile[blockIdx.x], shared, depth_warps, levels, result);
  const u64 outers = r.colon & r.level1, values = r.open & r.level1;
  last_of[threadIdx.x] =
      (u8)(r.token ? (r.colon >> (63 - __clzll((i64)r.token)) & 1 ? AT_COLON : AT_QUOTE)
                   : AT_NOTHING);
  find_last(found.outer, last_place(outers)), find_last(found.token, last_place(r.token)),
      find_last(found.end, last_place(r.end)), find_last(found.value, last_place(values));
  const u32 own = __reduce_add_sync(WARP, (u32)__popcll(r.open & r.level0));
  if (lane_index() == 0) found.records[threadIdx.x / 32] = (i32)own;
  u32 members;
  const u32 before = tile_before((u32)__popcll(r.colon), member_warps, members);
  const i32 outer = last_found(found.outer), token = last_found(found.token),
            end = last_found(found.end), value = last_found(found.value);
  TileRun *mine = run + run_place(gridDim.x, blockIdx.x).at;
  if (threadIdx.x == 0) {
    i32 records = 0;
    for (int w = 0; w < WARPS; w++) records += found.records[w];
    mine->members = (u16)members, mine->records = (u16)records;
    mine->at = (i16)token, mine->end = (i16)end;
    if (outer < 0) mine->outer = -1;
    if (token < 0) mine->code = AT_NOTHING;
    if (value < 0) mine->array = STATE_KEPT;
  }
  if (outers && outer / WORD == threadIdx.x)
    mine->outer = (i16)(before + __popcll(r.colon & low_bits(outer % WORD)));
  if (values && value / WORD == threadIdx.x) mine->array = (u16)record_state(r);
  if (r.token && token / WORD == threadIdx.x) {
    int word = (int)threadIdx.x - 1;
    while (word >= 0 && last_of[word] == AT_NOTHING) word--;
    mine->code = (u16)last_code(r, word < 0 ? (u32)AT_NOTHING : (u32)last_of[word]);
  }
}

// Is there a line feed among the blanks that end at a byte? GAP_BLANKS are looked at.
__device__ __forceinline__ bool line_before(const u8 *__restrict__ text, i64 at) {
  const i64 from = max((i64)0, at - GAP_BLANKS);
  while (at > from && gap_blank(text[at - 1]))
    if (text[--at] == '\n') return true;
  return false;
}

// One block. Tells each tile what lies before it, JOIN_EACH tiles a thread at a time.
KERNEL __launch_bounds__(JOIN_RUNS, 1) records_join(const u8 *__restrict__ text, i64 n,
    u32 separator, const uint4 *__restrict__ run, i64 tiles, i64 *__restrict__ run_before,
    const u32 *__restrict__ unsound, RecordsFound *__restrict__ result,
    RecordsFound *__restrict__ told) {
  __shared__ ShortRun shared[33];
  RecordRun start = no_run<i64>();
  start.code = AT_START;
  const u32 odd = threadIdx.x ? 0 : *unsound;
  for (i64 from = 0; from < tiles; from += (i64)blockDim.x * JOIN_EACH) {
    const i64 first = from + (i64)threadIdx.x * JOIN_EACH;
    uint4 own[JOIN_EACH];
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++)
      if (first + k < tiles) own[k] = run[thread_place(tiles, from, threadIdx.x, k).at];
    // of the first one in those that are joined now
    const i32 place = (i32)threadIdx.x * JOIN_EACH * (i32)TILE;
    ShortRun mine = no_run<i32>(), all;
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++)
      if (first + k < tiles) mine = join(mine, tile_run(own[k], place + k * (i32)TILE));
    ShortRun before = block_runs(mine, shared, all);
#pragma unroll
    for (int k = 0; k < JOIN_EACH; k++) {
      if (first + k >= tiles) break;
      store_run(run_before, thread_place(tiles, from, threadIdx.x, k),
          join(start, long_run(before, from * TILE)));
      before = join(before, tile_run(own[k], place + k * (i32)TILE));
    }
    start = join(start, long_run(all, from * TILE));
  }
  if (threadIdx.x > 0) return;
  const RecordsFound found = {~0ull, start.members, start.records, odd};
  result->members = found.members, result->records = found.records, result->unsound = found.unsound,
  *told = found;
  const bool ended = separator == SEPARATOR_COMMA ? start.code == AT_NEXT
                                                  : start.code == AT_RECORD && line_before(text, n);
  if (!ended && n > 0) note_fault(result, start.code == AT_START ? 0 : n);
}

// ---- the grammar ----

// The tokens that follow those of x. carry: whether the word's first token follows one of x.
__device__ __forceinline__ u64 behind(u64 x, bool carry, u64 token) {
  return ((x << 1 | (carry ? 1 : 0)) + ~token) & token;
}

// One word's tokens that are wrong. string: those that begin a value; code: of the last token
// before the word.
__device__ __forceinline__ u64 wrong_tokens(
    const RecordWord &r, u64 arrays, u64 colons, u64 string, u32 code, u32 separator, bool first) {
  const u64 token = r.token, inner = r.level1 | r.level2;
  const u64 object = behind(r.open & ~r.level2, code == AT_OBJECT, token);
  const u64 value =
      colons | behind(string | (r.close & inner), code == AT_STRING || code == AT_CLOSER, token);
  const u64 record = behind(r.close & r.level0, code == AT_RECORD, token),
            next = r.comma & r.level0;
  const u64 opener = r.open & r.level2;
  u64 right = r.begin & (colons | object | behind(r.comma & inner, code == AT_COMMA, token));
  right |= r.colon & behind(r.begin & ~string, code == AT_KEY, token);
  right |= r.open & inner & colons;
  right |= r.comma & inner & value;
  right |= r.close & r.curly & ~r.level2 & ~(r.level1 & arrays) & (value | object);
  right |= r.close & ~r.curly & r.level1 & arrays;
  right |= r.close & r.level2 & r.curly & behind(opener & r.curly, code == AT_OBJECT2, token);
  right |= r.close & r.level2 & ~r.curly & behind(opener & ~r.curly, code == AT_ARRAY2, token);
  right |= r.open & r.curly & r.level0 &
           ((separator == SEPARATOR_COMMA ? behind(next, code == AT_NEXT, token) : record) |
               (first ? 1 : 0));
  if (separator == SEPARATOR_COMMA) right |= next & record;
  return token & ~right;
}
// The first of some bytes of a word that is no blank, or -1. Few are looked at one by one.
__device__ __forceinline__ i64 solid_byte(const u8 *__restrict__ text, i64 n, i64 word, u64 bytes) {
  if (__popcll(bytes) > 8) {
    const Planes p = load_planes(text, n, word);
    bytes &=
        ~(bytes_equal(p, ' ') | bytes_equal(p, '\n') | bytes_equal(p, '\r') | bytes_equal(p, '\t'));
    return bytes ? word * WORD + first_bit(bytes) : -1;
  }
  for (u64 m = bytes; m;) {
    u32 place[4], c[4];  // on their way at a time
#pragma unroll
    for (int k = 0; k < 4; k++) {
      place[k] = (u32)__ffsll((i64)m) - 1;
      c[k] = m ? text[word * WORD + place[k]] : (u32)' ';
      m &= m - 1;
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (!gap_blank(c[k])) return word * WORD + place[k];
  }
  return -1;
}

// ---- the lists ----

// Colons are 4 bytes apart at least, {"":{"":, in what is right.
constexpr int TILE_MEMBERS = (int)TILE / 4;

// A tile in shared memory, and what lies before it. Masks are written in words of 64 bytes and read
// in halves of 32, which take half the steps.
struct RecordTile {
  // quote: begin and end; object, array: openers
  u64 token[BLOCK], quote[BLOCK], object[BLOCK], array[BLOCK];
  // outer: colons at level 1; record: openers at level 0
  u64 colon[BLOCK], outer[BLOCK], record[BLOCK];
  // of both halves: colons, and from bit 16 on records, in the halves before
  uint2 before[BLOCK];
  // of both halves, the first one in the low bits: 1 + the last outer colon before, as a number
  // among the tile's; 0 if there is none
  u32 reach[BLOCK];
  u16 place[TILE_MEMBERS];  // of each colon
  RecordRun run;
};
constexpr int HALVES = 2 * BLOCK;

__device__ __forceinline__ u32 half_of(const u64 *mask, i32 half) {
  return ((const u32 *)mask)[half];
}
// The bits of a half before a place in it.
__device__ __forceinline__ u32 below(i32 place) { return (1u << (place & 31)) - 1; }
// The first set bit at a place or after it, or -1.
__device__ __forceinline__ i32 next_bit(const u64 *mask, i32 from) {
  i32 half = from >> 5;
  if (half >= HALVES) return -1;
  u32 m = half_of(mask, half) & ~below(from);
  while (!m && ++half < HALVES) m = half_of(mask, half);
  return m ? half * 32 + __ffs((int)m) - 1 : -1;
}
// The last set bit before a place, or -1.
__device__ __forceinline__ i32 bit_before(const u64 *mask, i32 to) {
  i32 half = to >> 5;
  u32 m = half_of(mask, half) & below(to);
  while (!m && --half >= 0) m = half_of(mask, half);
  return m ? half * 32 + 31 - __clz((int)m) : -1;
}
__device__ __forceinline__ bool is_set(const u64 *mask, i32 place) {
  return half_of(mask, place >> 5) >> (place & 31) & 1;
}
__device__ __forceinline__ i32 members_before(const RecordTile &s, i32 place) {
  return (i32)(((const u32 *)s.before)[place >> 5] & 0xffff) +
         __popc(half_of(s.colon, place >> 5) & below(place));
}
__device__ __forceinline__ i32 records_before(const RecordTile &s, i32 place) {
  return (i32)(((const u32 *)s.before)[place >> 5] >> 16) +
         __popc(half_of(s.record, place >> 5) & below(place));
}
// The member that a value of reach stands for.
__device__ __forceinline__ i64 outer_member(const RecordTile &s, u32 reach) {
  return reach ? s.run.members + reach - 1 : s.run.outer;
}
// The last member at level 1 before a place; -1 if there is none.
__device__ __forceinline__ i64 outer_before(const RecordTile &s, i32 place) {
  const u32 here = half_of(s.outer, place >> 5) & below(place);
  return outer_member(s, here ? (u32)members_before(s, (place | 31) - __clz((int)here)) + 1
                              : ((const u16 *)s.reach)[place >> 5]);
}

// Lists a member's value, if it begins after a place of the tile. from: where the colon ends,
// perhaps before the tile. Gives the fault or -1.
__device__ __forceinline__ i64 list_value(const RecordTile &s, const u8 *__restrict__ text,
    i64 from, i32 place, i64 member, u32 *__restrict__ value_start, u32 *__restrict__ value_end,
    u8 *__restrict__ kind) {
  const i32 token = next_bit(s.token, place);
  if (token < 0) return -1;
  const i64 base = blockIdx.x * TILE;
  i64 start = base + token, end = -1;
  u32 of = VALUE_NONE;
  if (is_set(s.quote, token)) {
    const i32 last = next_bit(s.quote, token + 1);
    of = VALUE_STRING, end = last < 0 ? -1 : base + last + 1;
  } else if (is_set(s.object, token)) {
    of = VALUE_OBJECT;
  } else if (is_set(s.array, token)) {
    of = VALUE_ARRAY;
  }
  i64 fault = -1;
  if (of == VALUE_NONE) {
    const i64 to = start, length = to - from;
    start = from, end = to;
    if (0 < length && length <= 8) {  // most files have no blank after a colon, or one
      const u64 v = load_window(text, to, from) & low_bytes(length);
      const int blank = (v & 0xff) == ' ';
      start += blank;
      if (length > blank) of = gap_short(v >> 8 * blank, (int)length - blank);
    }
    if (of == VALUE_NONE) {
      bool lines;
      start = gap_skip(text, from, to, lines);
      if (start == to) return to;
      end = gap_scalar(text, start, to, of);
      fault = end < 0 ? -1 - end : gap_fault(text, end, to);
    }
  } else if (from < start) {
    fault = gap_fault(text, from, start);
  }
  value_start[member] = (u32)start, kind[member] = (u8)of;
  if (end >= 0) value_end[member] = (u32)end;
  return fault;
}

// The key that ends before a colon.
__device__ __forceinline__ KeySpan key_before(const RecordTile &s, i32 colon) {
  const i64 base = blockIdx.x * TILE;
  const i32 last = bit_before(s.quote, colon), first = last < 0 ? -1 : bit_before(s.quote, last);
  const KeySpan key = {
      first < 0 ? s.run.at + 1 : base + first + 1, last < 0 ? s.run.end : base + last};
  return key;
}

// The lists of records and members. Keys and fields may be null.
struct RecordLists {
  i64 *open, *close;
  i32 *row, *owner;
  u32 *value_start, *value_end;
  u8 *kind;
  i64 *key_start, *key_end;
  i32 *field;
};
struct RecordsEmitArgs {
  i64 n, separator;
  FieldSearch search;
  RecordLists to;
  u32 *missed;
  RecordsFound *result;
};

KERNEL __launch_bounds__(BLOCK, 4) records_emit(const u8 *__restrict__ text,
    const u64 *__restrict__ planes, const QuoteTile *__restrict__ tile,
    const u64 *__restrict__ kept, const i64 *__restrict__ run_before,
    const FieldSlot *__restrict__ slots, const u64 *__restrict__ names,
    const __grid_constant__ RecordsEmitArgs args) {
  const i64 n = args.n;
  const u32 separator = (u32)args.separator;
  const RecordLists &to = args.to;
  RecordsFound *__restrict__ result = args.result;
  __shared__ u32 array_warps[WARPS], colon_warps[WARPS], code_warps[WARPS], count_warps[WARPS],
      reach_warps[WARPS];
  __shared__ RecordTile s;
  const i64 word = thread_index(), base = blockIdx.x * TILE;
  const i32 place = (i32)threadIdx.x * (i32)WORD;
  if (threadIdx.x == 0) s.run = load_run(run_before, run_place(gridDim.x, blockIdx.x));
  const QuoteTile t = tile[blockIdx.x];
  const bool reached = t.quotes != 0;  // by a string
  RecordWord r = kept_word(planes, n, t, kept);
  const u64 levels = (r.level0 | r.level1 | r.level2) & word_valid(n, word);
  if (!__syncthreads_or(levels != 0)) return;

  // What stands in an array at level 1 is no token of the grammar. A colon there is always wrong.
  const u64 values = r.open & r.level1;
  u64 arrays = 0;
  if (__syncthreads_or((values & ~r.curly) != 0) || s.run.array == STATE_ON) {
    const u32 state = record_state(r);
    const bool reached = nearest_before(state == STATE_KEPT ? 0 : state + 1, s.run.array + 1,
                             array_warps) == STATE_ON + 1;
    arrays = record_arrays(values, values & ~r.curly, reached);
  }
  const u64 hidden = r.level2 & arrays, stray = r.colon & hidden;
  r.token &= ~hidden, r.begin &= ~hidden, r.end &= ~hidden, r.open &= ~hidden, r.close &= ~hidden,
      r.comma &= ~hidden;

  // Four things that depend on what lies before the word, with two barriers: which token is the
  // last one there takes whether that before it is a colon, and which
  // member the last outer one is takes how many there are.
  const u64 records = r.open & r.level0, outers = r.colon & r.level1,
            last = r.token ? 1ull << (63 - __clzll((i64)r.token)) : 0;
  const u32 one = last ? (r.colon & last ? (u32)AT_COLON : (u32)AT_START) : 0,
            ones = warp_nearest(one, colon_warps);
  u32 all, before = warp_before((u32)__popcll(r.colon) | (u32)__popcll(records) << 16, count_warps);
  __syncthreads();
  before = tile_sum(before, count_warps, all);
  const u32 number = (before & 0xffff) + 1;  // of the word's first colon, as reach has it
  const u32 own_code = last_code(r, tile_nearest(one, ones, s.run.code, colon_warps)),
            codes = warp_nearest(own_code, code_warps);
  const u32 own_reach =
                outers ? number + __popcll(r.colon & low_bits(63 - __clzll((i64)outers))) : 0,
            reaches = warp_nearest(own_reach, reach_warps);
  __syncthreads();
  const u32 code = tile_nearest(own_code, codes, s.run.code, code_warps),
            reach = tile_nearest(own_reach, reaches, 0, reach_warps);

  // as behind(), which keeps what is no token out
  const u64 sum = (r.colon << 1 | (code == AT_COLON ? 1 : 0)) + ~r.token, colons = sum & r.token;
  const u64 wrong =
      stray | wrong_tokens(r, arrays, colons, r.begin & colons, code, separator, word == 0);
  i64 fault = wrong ? word * WORD + first_bit(wrong) : -1;
  // Between a colon and the next token, where the sum has no bit, list_value looks.
  const u64 blank = levels & ~hidden & ~r.token & ~r.end & ~r.inside & sum;
  // most words have one, or none: it is on its way meanwhile
  const u32 first_blank = blank ? text[word * WORD + first_bit(blank)] : (u32)' ';

  const i32 members = (i32)(all & 0xffff);
  i32 at = (i32)(before & 0xffff);
  const u32 first_half = (u32)r.colon, second_half = (u32)(r.colon >> 32);
  for (u32 m = first_half; m && at < TILE_MEMBERS; m &= m - 1)
    s.place[at++] = (u16)(place + __ffs((int)m) - 1);
  for (u32 m = second_half; m && at < TILE_MEMBERS; m &= m - 1)
    s.place[at++] = (u16)(place + 31 + __ffs((int)m));
  const u32 outers_first = (u32)outers;
  s.token[threadIdx.x] = r.token, s.quote[threadIdx.x] = r.begin | r.end,
  s.object[threadIdx.x] = r.open & r.curly, s.array[threadIdx.x] = r.open & ~r.curly;
  s.colon[threadIdx.x] = r.colon, s.outer[threadIdx.x] = outers, s.record[threadIdx.x] = records;
  s.before[threadIdx.x] =
      make_uint2(before, before + __popc(first_half) + (__popc((u32)records) << 16));
  s.reach[threadIdx.x] =
      reach |
      (outers_first ? number + __popc(first_half & below(31 - __clz((int)outers_first))) : reach)
          << 16;
  if (members > TILE_MEMBERS) fault = word * WORD;
  if (fault >= 0) note_fault(result, fault);
  // the lists are of no use any more, and what is right is sure of what follows
  if (__syncthreads_or(fault >= 0)) return;

  // A fault in another tile may be why there is no record or member.
  const i64 record = s.run.records + (before >> 16),
            member_before = s.run.members + (before & 0xffff) - 1;
  for (u64 m = records; m; m &= m - 1) {
    const int bit = first_bit(m);
    const i64 opener = base + place + bit;
    to.open[record + __popcll(records & low_bits(bit))] = opener;
    if (separator == SEPARATOR_LINE && opener > 0 && !line_before(text, opener))
      note_fault(result, opener);
  }
  for (u64 m = r.close; m; m &= m - 1) {
    const u64 bit = m & (0 - m), here = bit - 1;
    const i64 closer = base + place + __ffsll((i64)m) - 1;
    if (r.level0 & bit) {
      const i64 of = record + __popcll(records & here) - 1;
      if (of >= 0) to.close[of] = closer;
      continue;
    }
    const u64 outer = outers & here;
    i64 of = member_before;
    if (!(r.level1 & bit)) of += __popcll(r.colon & here);
    else if (outer) of += __popcll(r.colon & ~0ull >> __clzll((i64)outer));
    else of = outer_member(s, reach);
    if (of >= 0) to.value_end[of] = (u32)closer + 1;
  }
  const i64 solid = gap_blank(first_blank) ? solid_byte(text, n, word, blank & (blank - 1))
                                           : word * WORD + first_bit(blank);
  if (solid >= 0) note_fault(result, solid);
  const FieldNames dictionary = field_names(slots, names, args.search);
  // The member before the tile's first one may have its value here, or the end of it.
  for (i32 i = (i32)threadIdx.x - 1; i < members; i += BLOCK) {
    const i64 member = s.run.members + i;
    i64 from = s.run.at + 1;
    i32 behind_colon = 0;
    Key own = {0, 0, false, {0, 0}};
    SixteenAsked asked = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0};
    if (i < 0) {
      const i32 end = s.run.code == AT_STRING && reached ? next_bit(s.quote, 0) : -1;
      if (end >= 0 && member >= 0) to.value_end[member] = (u32)(base + end + 1);
      if (s.run.code != AT_COLON || member < 0) continue;
    } else {
      const i32 colon = s.place[i];
      const KeySpan key = key_before(s, colon);
      own = key_of(n, key, args.search.longest);
      asked = ask_key(text, own);
      to.row[member] = (i32)(s.run.records + records_before(s, colon) - 1),
      to.owner[member] = is_set(s.outer, colon) ? -1 : (i32)outer_before(s, colon);
      if (key.end - key.start >= GAP_LONGEST && fault < 0) fault = key.start;
      if (to.key_start) to.key_start[member] = key.start, to.key_end[member] = key.end;
      from = base + colon + 1, behind_colon = colon + 1;
    }
    const i64 value =
        list_value(s, text, from, behind_colon, member, to.value_start, to.value_end, to.kind);
    if (fault < 0) fault = value;  // of a thread's members the first one's is the lowest
    if (to.field && i >= 0) {
      take_key(asked, own);
      const i32 found = find_field(text, n, own, dictionary);
      to.field[member] = found;
      if (found < 0) note_missed(args.missed, (u32)member);
    }
  }
  if (fault >= 0) note_fault(result, fault);
}
