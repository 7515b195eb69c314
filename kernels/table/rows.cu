// rows.cu: rows and fields of text like CSV (RFC 4180), told by bytes outside quotes.
//
// buffer       elements     written by     what
// ends         n/64         masks          the last byte of each line end: \n, or an \r that no \n follows
// delimiters   n/64         masks          bytes between fields
// stray        n/64         masks          quotes that open where no field starts, or close where none ends
// carry        1            carry          ROWS_* of the first byte of the next text
// tile_rows    n/16384 + 1  counts         row ends in each tile; a scan makes those before it of them
// tile_fields  n/16384 + 1  counts         delimiters, likewise
// starts       rows         spans          first byte of each row
// stops        rows         spans          after its last byte, the line end left out
// first        rows + 1     spans          delimiters before each row
// fields       rows         fields         of each row
//
// A row's fields are the difference of two ranks, so that nobody walks along a row:
//
//   text         a , b \n , \n \n c
//   delimiters   . 1 . .  1 .  .  .      before the row ends: 1 2 2
//   fields       2        2    0  1      a blank line has none
#include "core.cuh"

// What the byte before says of this one. All 0 is the start of the file.
enum { ROWS_IN_FIELD = 1, ROWS_CLOSED = 2 };  // no field starts here; a quote was closed there

// The mask shifted by one byte towards the end, with what comes in from the word before.
__device__ __forceinline__ u64 from_before(u64 v, bool before) { return v << 1 | (before ? 1 : 0); }

// inside may be null: then no byte is. delimiter and quote are neither \r nor \n nor each other.
// next: the byte after the text, or -1 at the end of the file.
KERNEL __launch_bounds__(BLOCK) rows_masks(const u8 *__restrict__ text, i64 n,
    const u64 *__restrict__ inside, u32 delimiter, u32 quote, i32 next,
    const u32 *__restrict__ carry, u64 *__restrict__ ends, u64 *__restrict__ delimiters,
    u64 *__restrict__ stray) {
  const i64 word = thread_index();
  if (word * WORD >= n) return;
  Planes p = load_planes(text, n, word);
  const u64 valid = word_valid(n, word), in = inside ? inside[word] : 0;
  const u64 feed = bytes_equal(p, '\n'), ret = bytes_equal(p, '\r'),
            comma = bytes_equal(p, delimiter);
  // One byte of the next word, and one of the word before, decide over the edge.
  const i64 behind = word * WORD + WORD;
  const i32 after = behind < n ? text[behind] : next;
  const u64 last = valid ^ valid >> 1;  // the word's last byte of text
  const u64 line = feed | (ret & ~(feed >> 1) & ~(after == '\n' ? last : 0));
  ends[word] = line & ~in;
  delimiters[word] = comma & ~in;
  if (!stray) return;

  const u64 quotes = bytes_equal(p, quote), open = quotes & in, close = quotes & ~in & valid,
            edge = feed | ret | comma;
  u32 before;
  if (word) {
    const u8 c = text[word * WORD - 1];
    const bool outside = !(inside[word - 1] >> 63);
    before = (outside && (c == '\n' || c == '\r' || c == delimiter) ? 0 : ROWS_IN_FIELD) |
             (outside && c == quote ? ROWS_CLOSED : 0);
  } else {
    before = carry ? *carry : 0;
  }
  const u64 starts = from_before(edge & ~in, !(before & ROWS_IN_FIELD)),
            closed = from_before(close, before & ROWS_CLOSED);
  // A quote that opens right after one that closed is the second of two, and belongs to the field.
  const bool ended =
      after < 0 || after == '\n' || after == '\r' || after == (i32)delimiter || after == (i32)quote;
  const u64 stops = (edge | quotes) >> 1 | (ended ? last : 0);
  stray[word] = (open & ~starts & ~closed) | (close & ~stops);
}

// The carry after the text, of at least one byte.
KERNEL rows_carry(const u8 *__restrict__ text, i64 n, const u64 *__restrict__ inside, u32 delimiter,
    u32 quote, u32 *__restrict__ carry) {
  const i64 at = n - 1;
  const u8 c = text[at];
  const bool outside = !(inside && inside[at / WORD] >> at % WORD & 1);
  *carry = (outside && (c == '\n' || c == '\r' || c == delimiter) ? 0 : ROWS_IN_FIELD) |
           (outside && c == quote ? ROWS_CLOSED : 0);
}

// One thread a word, one block a tile of both masks.
KERNEL __launch_bounds__(BLOCK) rows_counts(const u64 *__restrict__ ends,
    const u64 *__restrict__ delimiters, i64 words, u32 *__restrict__ tile_rows,
    u32 *__restrict__ tile_fields) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  // at most 16384 of each in a tile
  u32 both = word < words ? __popcll(ends[word]) | __popcll(delimiters[word]) << 16 : 0;
  both = block_sum(both, shared);
  if (threadIdx.x == 0) tile_rows[blockIdx.x] = both & 0xffff, tile_fields[blockIdx.x] = both >> 16;
}

// Writes what the end of a row says of it and of the next. rows_before, fields_before: before each
// tile, and after the last all. final: what stands
// after the last line end is a row.
KERNEL __launch_bounds__(BLOCK) rows_spans(const u8 *__restrict__ text, i64 n,
    const u64 *__restrict__ ends, const u64 *__restrict__ delimiters,
    const i64 *__restrict__ rows_before, const i64 *__restrict__ fields_before, u32 final, i64 rows,
    i64 *__restrict__ starts, i64 *__restrict__ stops, i64 *__restrict__ first) {
  __shared__ u32 shared[33];
  const i64 word = thread_index(), words = (n + WORD - 1) / WORD;
  const u64 line = word < words ? ends[word] : 0, comma = word < words ? delimiters[word] : 0;
  u32 all, before = block_exclusive((u32)__popcll(line) | (u32)__popcll(comma) << 16, shared, all);
  i64 row = rows_before[blockIdx.x] + (before & 0xffff);
  const i64 fields = fields_before[blockIdx.x] + (before >> 16);
  for (u64 left = line; left && row < rows; left &= left - 1, row++) {
    const int bit = first_bit(left);
    const i64 at = word * WORD + bit;
    stops[row] = text[at] == '\n' && at > 0 && text[at - 1] == '\r' ? at - 1 : at;
    first[row + 1] = fields + __popcll(comma & low_bits(bit));
    if (row + 1 < rows) starts[row + 1] = at + 1;
  }
  if (word == 0) first[0] = 0;
  if (word == 0 && rows > 0) starts[0] = 0;
  if (word == words - 1 && final && row < rows)
    stops[row] = n, first[row + 1] = fields_before[gridDim.x];
}

KERNEL __launch_bounds__(BLOCK) rows_fields(const i64 *__restrict__ starts,
    const i64 *__restrict__ stops, const i64 *__restrict__ first, i64 rows,
    i32 *__restrict__ fields) {
  const i64 row = thread_index();
  if (row >= rows) return;
  const i64 count = starts[row] == stops[row] ? 0 : first[row + 1] - first[row] + 1;
  fields[row] = count > 0x7fffffff ? 0x7fffffff : (i32)count;
}

struct RowsColumnArgs {
  i64 rows;
  i64 count;  // of all delimiters
  i64 column;
  i64 quote;  // 256: none
  i64 *from, *to;
  u32 *present, *quoted;
};

// One column of all rows. A field that is all in quotes is without them.
KERNEL __launch_bounds__(BLOCK) rows_column(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ stops, const i64 *__restrict__ first,
    const i32 *__restrict__ fields, const i64 *__restrict__ delimiters,
    const __grid_constant__ RowsColumnArgs args) {
  const i64 row = thread_index(), rows = args.rows;
  const i32 column = (i32)args.column;
  const u32 quote = (u32)args.quote;
  i64 start = 0, stop = 0;
  bool here = row < rows && column < fields[row] && first[row + 1] <= args.count, in_quotes = false;
  if (here) {
    const i64 before = first[row] + column;
    start = column ? delimiters[before - 1] + 1 : starts[row];
    stop = column + 1 < fields[row] ? delimiters[before] : stops[row];
    in_quotes = quote < 256 && stop - start >= 2 && text[start] == quote && text[stop - 1] == quote;
    if (in_quotes) start++, stop--;
  }
  if (row < rows) args.from[row] = start, args.to[row] = stop;
  const u32 heres = __ballot_sync(WARP, here), quotes = __ballot_sync(WARP, in_quotes);
  if (lane_index() == 0 && row >> 5 < (rows + WORD - 1) / WORD * 2)
    args.present[row >> 5] = heres, args.quoted[row >> 5] = quotes;
}
