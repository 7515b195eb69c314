// records.cu: the records of a JSON text, and two levels of their members.
//
// A thread takes a word to find tokens, and then a token to check it against the three before it. Between two tokens nothing stands but blanks, or a scalar between
// a colon and what ends its value:
//
//   token      stands behind                                                    the text between them
//   { level 0  nothing, at byte 0; a comma (SEPARATOR_COMMA), } (_LINE)           blanks; with a line feed among them (_LINE)
//   " opening  { or a comma or a colon, at level 1 or 2                          blanks
//   " closing  the opening one                                                   is a string
//   :          a string that does not stand behind a colon                       blanks
//   { [        a colon                                                           blanks
//   ] } opened at level 2 or, if square, at level 1: its opener of the same kind, whatever stands between them
//   , }        a colon                                                           blanks, a scalar, blanks
//              a string behind a colon; a ] or }                                 blanks
//   }          {                                                                 blanks
//   , level 0  } (SEPARATOR_COMMA)                                                blanks
//
// Levels follow each other as brackets say, so that this is the whole grammar. Each token is checked by one thread, whatever the lengths of records, strings and
// arrays, and gaps are bounded: the time is linear in the bytes.
//
// buffer     elements   written by   what
// planes     3 * n/64   -            see structure.cu
// tile       n/16384    -            see quote.cuh
// run        n/16384    count, join  of each tile; joined: what lies before it
// result     1          join, emit   see RecordResult
// open...    records    emit         see records.go
// row...     members    emit         see records.go
#include "records.cuh"
#include "records_gaps.cuh"

// Also in records.go.
enum { SEPARATOR_COMMA, SEPARATOR_LINE };
struct RecordResult {
  u64 fault;             // byte offset of the first fault; all ones if there is none
  i64 members, records;
};
struct RecordLists {
  i64 *__restrict__ open, *__restrict__ close;
  i32 *__restrict__ row, *__restrict__ owner;
  i64 *__restrict__ key_start, *__restrict__ key_end, *__restrict__ value_start, *__restrict__ value_end;
  u8 *__restrict__ kind;
};

__device__ __forceinline__ void note_fault(RecordResult *__restrict__ result, i64 at) {
  if ((u64)at < result->fault) atomicMin(&result->fault, (u64)at);
}
// The word's tokens. shared holds 33 elements each. All threads of the block call.
__device__ __forceinline__ RecordWord tile_word(const u64 *__restrict__ planes, i64 n, const QuoteTile &t, u32 *shared, i32 *shared_depth) {
  const i64 word = thread_index();
  const WordClasses x = word_classes(planes, n, word, t, shared);
  i32 all, change = __popcll(x.open) - __popcll(x.close);
  const i64 depth = t.depth + block_exclusive(change, shared_depth, all);
  return record_word(x, depth);
}
// A word's tokens, members and records in one number.
__device__ __forceinline__ u64 word_counts(const RecordWord &r) { return (u64)__popcll(r.token) | (u64)__popcll(r.colon) << 21 | (u64)__popcll(r.record) << 42; }
__device__ __forceinline__ u32 count_of(u64 counts, int which) { return (u32)(counts >> 21 * which) & 0x1fffff; }

KERNEL __launch_bounds__(BLOCK) records_count(const u64 *__restrict__ planes, i64 n, const QuoteTile *__restrict__ tile, RecordRun *__restrict__ run) {
  __shared__ u32 shared[33];
  __shared__ i32 shared_depth[33];
  __shared__ u64 shared_counts[33];
  __shared__ u64 last[3];
  __shared__ i32 outer;
  const i64 word = thread_index();
  const RecordWord r = tile_word(planes, n, tile[blockIdx.x], shared, shared_depth);
  u64 all, before = block_exclusive(word_counts(r), shared_counts, all);
  u32 array;
  block_state(record_state(r), STATE_KEPT, shared, array);
  if (threadIdx.x < 3) last[threadIdx.x] = TOKEN_NONE;
  if (threadIdx.x == 0) outer = -1;
  __syncthreads();
  const u64 outers = r.colon & r.level1;
  if (outers) atomicMax(&outer, (i32)count_of(before, 1) + __popcll(r.colon & low_bits(63 - __clzll((i64)outers))));
  i64 behind = (i64)count_of(all, 0) - count_of(before, 0) - __popcll(r.token);  // tokens behind the one that is looked at
  for (u64 m = r.token; m && behind < 3; behind++) {
    const int at = 63 - __clzll((i64)m);
    last[2 - behind] = record_token(r, word, at);
    m ^= 1ull << at;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const RecordRun mine = {{last[0], last[1], last[2]}, count_of(all, 1), count_of(all, 2), outer, array, 0};
    run[blockIdx.x] = mine;
  }
}

// The end of the text: behind its last token. Gives the fault or -1.
__device__ __forceinline__ i64 end_fault(const u8 *__restrict__ text, i64 n, u32 separator, u64 token) {
  if (token == TOKEN_NONE) return 0;
  const i64 at = (i64)(token >> 2);
  if ((token & 3) != 0 || text[at] != (separator == SEPARATOR_COMMA ? ',' : '}')) return n;
  bool lines;
  const i64 end = gap_skip(text, at + 1, n, lines);
  return end < n || (separator == SEPARATOR_LINE && !lines) ? end : -1;
}

// One block.
KERNEL __launch_bounds__(JOIN_RUNS, 1) records_join(const u8 *__restrict__ text, i64 n, u32 separator, RecordRun *__restrict__ run, i64 tiles, RecordResult *__restrict__ result) {
  __shared__ RecordRun shared[33];
  const Share share = block_share(tiles);
  RecordRun mine = no_run(), all;
  for (i64 i = share.from; i < share.to; i++) mine = join(mine, run[i]);
  RecordRun before = block_runs(mine, shared, all);
  for (i64 i = share.from; i < share.to; i++) {
    const RecordRun own = run[i];
    run[i] = before;
    before = join(before, own);
  }
  if (threadIdx.x > 0) return;
  result->members = all.members, result->records = all.records;
  const i64 fault = end_fault(text, n, separator, all.last[2]);
  if (fault >= 0) note_fault(result, fault);
}

// ---- one token ----

struct Token {
  i64 at;     // -1: there is none
  u32 level;  // or TOKEN_END
  u32 byte;
};
// A tile in shared memory, and what lies before it.
struct RecordTile {
  u64 colon[BLOCK], outer[BLOCK], record[BLOCK];
  u32 before[BLOCK];      // colons, and from bit 16 on records, in the words before
  u32 has[BLOCK / 32];    // is there a colon at level 1 in a word, a bit each
  u16 token[TILE];        // place in the tile, and from bit 14 on the level
  RecordRun run;
};

// The i-th token of the tile, or, if i is negative, of those before it.
__device__ __forceinline__ Token token_at(const RecordTile &s, const u8 *__restrict__ text, i32 i) {
  const u64 v = i >= 0 ? (u64)(blockIdx.x * TILE + (s.token[i] & 0x3fff)) << 2 | s.token[i] >> 14 : s.run.last[3 + i];
  const Token none = {-1, 0, 0};
  if (v == TOKEN_NONE) return none;
  const i64 at = (i64)(v >> 2);
  const Token t = {at, (u32)v & 3, text[at]};
  return t;
}
__device__ __forceinline__ i64 members_before(const RecordTile &s, u32 word, i64 bit) { return s.run.members + (s.before[word] & 0xffff) + __popcll(s.colon[word] & low_bits(bit)); }
__device__ __forceinline__ i64 records_before(const RecordTile &s, u32 word, i64 bit) { return s.run.records + (s.before[word] >> 16) + __popcll(s.record[word] & low_bits(bit)); }
// The last member at level 1 before a place; -1 if there is none.
__device__ __forceinline__ i64 outer_before(const RecordTile &s, u32 word, i64 bit) {
  u64 here = s.outer[word] & low_bits(bit);
  if (!here) {
    int group = (int)(word / 32);
    u32 has = s.has[group] & ((1u << word % 32) - 1);
    while (!has && group > 0) has = s.has[--group];
    if (!has) return s.run.outer;
    word = (u32)(group * 32 + 31 - __clz((int)has));
    here = s.outer[word];
  }
  return members_before(s, word, 63 - __clzll((i64)here));
}

// What stands before t, which ends a value, or an object if its opener stands there. Lists a scalar or string of the member. Gives the fault or -1.
__device__ __forceinline__ i64 value_fault(const u8 *__restrict__ text, const RecordLists &lists, i64 member, const Token &t, const Token &p1, const Token &p2, const Token &p3) {
  i64 start = p2.at, end = p1.at + 1;
  u32 kind = VALUE_STRING;
  if (p1.byte == '"') {
    if (p1.level != TOKEN_END || p3.byte != ':') return t.at;
  } else if (p1.byte == ':') {
    bool lines;
    start = gap_skip(text, p1.at + 1, t.at, lines);
    if (start == t.at) return t.at;
    end = gap_scalar(text, start, t.at, kind);
    if (end < 0) return -1 - end;
  } else {
    const bool ended = p1.byte == '}' || p1.byte == ']' || (p1.byte == '{' && t.byte == '}');
    return ended ? gap_fault(text, end, t.at) : t.at;
  }
  if (member >= 0) lists.value_start[member] = start, lists.value_end[member] = end, lists.kind[member] = (u8)kind;
  return gap_fault(text, end, t.at);
}
// What stands before the opener of a record.
__device__ __forceinline__ i64 record_fault(const u8 *__restrict__ text, u32 separator, const Token &t, const Token &p1) {
  if (t.byte != '{') return t.at;
  if (p1.at < 0) return t.at == 0 ? -1 : 0;
  if (p1.byte != (separator == SEPARATOR_COMMA ? ',' : '}')) return t.at;
  bool lines;
  const i64 end = gap_skip(text, p1.at + 1, t.at, lines);
  return end < t.at || (separator == SEPARATOR_LINE && !lines) ? end : -1;
}
// Checks a token against those before it and lists what it says. Gives the fault or -1.
__device__ __forceinline__ i64 token_fault(const RecordTile &s, const u8 *__restrict__ text, u32 separator, const RecordLists &lists, i32 i) {
  const Token t = token_at(s, text, i), p1 = token_at(s, text, i - 1), p2 = token_at(s, text, i - 2), p3 = token_at(s, text, i - 3);
  const u32 word = (u32)(t.at / WORD % BLOCK), bit = (u32)(t.at % WORD);
  const i64 colons = members_before(s, word, bit), record = records_before(s, word, bit) - 1;
  const bool end = t.level == TOKEN_END;
  switch (t.byte) {
    case '"':
      if (end) return -1;
      if (t.level == 0 || (p1.byte != '{' && p1.byte != ',' && p1.byte != ':')) return t.at;
      return gap_fault(text, p1.at + 1, t.at);
    case ':':
      if (t.level == 0 || p1.byte != '"' || p1.level != TOKEN_END || p3.byte == ':') return t.at;
      if (p1.at - p2.at > GAP_LONGEST) return p2.at;
      lists.row[colons] = (i32)record, lists.owner[colons] = t.level == 1 ? -1 : (i32)outer_before(s, word, bit);
      lists.key_start[colons] = p2.at + 1, lists.key_end[colons] = p1.at;
      return gap_fault(text, p1.at + 1, t.at);
    case '{':
    case '[':
      if (t.level == 0) lists.open[record + 1] = t.at;
      if (t.level == 0) return record_fault(text, separator, t, p1);
      if (p1.byte != ':') return t.at;
      if (colons > 0) lists.value_start[colons - 1] = t.at, lists.kind[colons - 1] = t.byte == '{' ? VALUE_OBJECT : VALUE_ARRAY;
      return gap_fault(text, p1.at + 1, t.at);
    case ',':
      if (t.level > 0) return value_fault(text, lists, colons - 1, t, p1, p2, p3);
      return separator == SEPARATOR_COMMA && p1.byte == '}' ? gap_fault(text, p1.at + 1, t.at) : t.at;
    default: {  // ] }
      const i64 member = t.level == 2 ? colons - 1 : outer_before(s, word, bit);
      if (t.level == 0 && record >= 0) lists.close[record] = t.at;
      if (t.level != 0 && member >= 0) lists.value_end[member] = t.at + 1;
      if (end) return t.byte == ']' ? -1 : t.at;
      if (t.level == 2) return p1.byte + 2 == t.byte ? -1 : t.at;
      return t.byte == '}' ? value_fault(text, lists, colons - 1, t, p1, p2, p3) : t.at;
    }
  }
}

KERNEL __launch_bounds__(BLOCK, 4) records_emit(const u8 *__restrict__ text, const u64 *__restrict__ planes, i64 n, u32 separator, const QuoteTile *__restrict__ tile, const RecordRun *__restrict__ run, RecordResult *__restrict__ result, i64 *__restrict__ open, i64 *__restrict__ close, i32 *__restrict__ row, i32 *__restrict__ owner, i64 *__restrict__ key_start, i64 *__restrict__ key_end, i64 *__restrict__ value_start, i64 *__restrict__ value_end, u8 *__restrict__ kind) {
  __shared__ u32 shared[33];
  __shared__ i32 shared_depth[33];
  __shared__ u64 shared_counts[33];
  __shared__ RecordTile s;
  const i64 word = thread_index();
  RecordWord r = tile_word(planes, n, tile[blockIdx.x], shared, shared_depth);
  if (!__syncthreads_or(r.token != 0)) return;
  if (threadIdx.x == 0) s.run = run[blockIdx.x];
  __syncthreads();
  // What stands in an array at level 1 is no token of the grammar. A colon there is always wrong.
  u32 after;
  const u64 inside = record_arrays(r.value, r.array, block_state(record_state(r), s.run.array, shared, after) == STATE_ON), stray = r.colon & r.level2 & inside;
  if (stray) note_fault(result, word * WORD + first_bit(stray));
  r.token &= ~(r.level2 & inside);
  s.colon[threadIdx.x] = r.colon, s.outer[threadIdx.x] = r.colon & r.level1, s.record[threadIdx.x] = r.record;
  const u32 has = __ballot_sync(WARP, (r.colon & r.level1) != 0);
  if (lane_index() == 0) s.has[threadIdx.x / 32] = has;
  u64 all, before = block_exclusive(word_counts(r), shared_counts, all);
  s.before[threadIdx.x] = count_of(before, 1) | count_of(before, 2) << 16;
  const u64 closed = inside & r.level1;  // closers at level 1 among them are those of arrays
  u32 at = count_of(before, 0);
  for (u64 m = r.token; m; m &= m - 1) {
    const int bit = first_bit(m);
    const u64 v = record_token(r, word, bit);
    s.token[at++] = (u16)((v >> 2) % TILE | (closed >> bit & 1 && r.close >> bit & 1 ? TOKEN_END : v & 3) << 14);
  }
  __syncthreads();
  const RecordLists lists = {open, close, row, owner, key_start, key_end, value_start, value_end, kind};
  for (i32 i = (i32)threadIdx.x; i < (i32)count_of(all, 0); i += BLOCK) {
    const i64 fault = token_fault(s, text, separator, lists, i);
    if (fault >= 0) note_fault(result, fault);
  }
}
