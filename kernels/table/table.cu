// table.cu: the fields of text in rows that all have as many of them (RFC 4180), told by bytes
// outside quotes.
//
// buffer       elements        written by      what
// quotes       n/64            tiles           bytes that are the quote; none where the quote is 0
// delimiters   n/64            tiles           bytes that are the delimiter, inside quotes too
// lines        n/64            tiles           \n and \r, likewise
// tile         n/16384         tiles, join     see quote.cuh: does a quoted field reach into the tile
// tile_stops   n/16384 + 1     counts          fields that end in each tile; a scan makes those before it of them
// tile_rows    n/16384 + 1     counts          rows that begin in it, likewise
// report       TABLE_REPORT    counts, spans   0 fields that end, 1 rows, 2 what is odd, 3 whether the last
//                                              byte is a line end. The scans write the first two
// starts       rows            spans           first byte of each row
// stops        columns * rows  spans           after the last byte of each field, those of a column one
//                                              after the other
//
// Whatever stands between two rows, a CRLF or blank lines, is no part of either:
//
//   text     a , b \r \n \n c , d
//   stops    . 1 .  1  .  . . 1 .      a delimiter, or the first line end after a row; the end of the text
//                                      ends the last one
//   starts   1 . .  .  .  . 1 . .
//
// So field k of all is field k % columns of row k / columns, and nobody walks along a row. If some
// row has more and another fewer, a line end stands where
// none should.
#include "text/quote.cuh"

// Also in table.go.
enum { TABLE_OPEN = 1, TABLE_STRAY = 2, TABLE_RAGGED = 4 };
enum { TABLE_STOPS, TABLE_ROWS, TABLE_ODD, TABLE_CLOSED };

KERNEL __launch_bounds__(BLOCK) table_tiles(const u8 *__restrict__ text, i64 n, u32 delimiter,
    u32 quote, u64 *__restrict__ quotes, u64 *__restrict__ delimiters, u64 *__restrict__ lines,
    QuoteTile *__restrict__ tile) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  const Planes p = load_planes(text, n, word);
  const u64 mine = quote ? bytes_equal(p, quote) : 0;
  if (word * WORD < n)
    quotes[word] = mine, delimiters[word] = bytes_equal(p, delimiter),
    lines[word] = bytes_equal(p, '\n') | bytes_equal(p, '\r');
  u32 all;
  block_parity(__popcll(mine), shared, all);
  if (threadIdx.x) return;
  QuoteTile t = {all, 0, STATE_OFF, 0, {{0, 0}}};
  tile[blockIdx.x] = t;
}

struct Masks {
  const u64 *__restrict__ quotes, *__restrict__ delimiters, *__restrict__ lines;
};
// What a word of text holds.
struct TableWord {
  u64 stops, starts;  // after a field; first bytes of rows
  u64 lines;          // line ends
  u32 odd;            // TABLE_*
};

// One word's fields; before: whether the byte before it lies inside quotes. In front of the text is
// a line end, and after it too.
//
//   text    " a " " b " , " c , " x \n 5 " ,
//   inside  1 1 . 1 1 . . 1 1 1 . . .  . 1 1
//   open    1 . . 1 . . . 1 . . . . .  . 1 .     stray after what is no end of a field and no closing quote:
//                                                that of 5"
//   close   . . 1 . . 1 . . . . 1 . .  . . .     stray before what is no end of a field and no quote: that before x
__device__ __forceinline__ TableWord table_word(const Masks &m, i64 n, i64 word, u32 before) {
  TableWord r = {0, 0, 0, 0};
  if (word * WORD >= n) return r;
  const u64 valid = word_valid(n, word), quotes = m.quotes[word],
            in = prefix_xor(quotes) ^ (before ? ~0ull : 0);
  const u64 line = m.lines[word] & ~in, edge = line | (m.delimiters[word] & ~in),
            open = quotes & in, close = quotes & ~in;
  u64 line_before = 1, edge_before = 1, close_before = 0, behind = 1;
  if (word) {
    const u64 outside = !before;
    line_before = outside & m.lines[word - 1] >> 63,
    close_before = outside & m.quotes[word - 1] >> 63;
    edge_before = line_before | (outside & m.delimiters[word - 1] >> 63);
  }
  // it is outside if this word's last byte closes
  if ((word + 1) * WORD < n)
    behind = (m.lines[word + 1] | m.delimiters[word + 1] | m.quotes[word + 1]) & 1;
  else if (in & (valid ^ valid >> 1)) r.odd |= TABLE_OPEN;
  const u64 after_line = line << 1 | line_before;
  r.lines = line;
  r.starts = ~line & after_line & valid;
  r.stops = (edge & ~line) | (line & ~after_line);
  const u64 ends = (edge | open | ~valid) >> 1 | behind << 63;
  if ((open & ~(edge << 1 | edge_before) & ~(close << 1 | close_before)) | (close & ~ends))
    r.odd |= TABLE_STRAY;
  return r;
}
// The word of a thread in a block that reads one tile.
__device__ __forceinline__ TableWord tile_word(
    const Masks &m, i64 n, const QuoteTile *tile, u32 *shared) {
  const i64 word = thread_index();
  u32 all;
  const u32 before = tile[blockIdx.x].quotes ^
                     block_parity(word * WORD < n ? __popcll(m.quotes[word]) : 0, shared, all);
  return table_word(m, n, word, before);
}
// Both counts of a word in one: a tile has at most 2^14 of each.
__device__ __forceinline__ u32 both_counts(const TableWord &w) {
  return __popcll(w.stops) | __popcll(w.starts) << 16;
}

KERNEL __launch_bounds__(BLOCK) table_counts(const u64 *__restrict__ quotes,
    const u64 *__restrict__ delimiters, const u64 *__restrict__ lines, i64 n,
    const QuoteTile *__restrict__ tile, u32 *__restrict__ tile_stops, u32 *__restrict__ tile_rows,
    u64 *__restrict__ report) {
  __shared__ u32 shared[33];
  const Masks m = {quotes, delimiters, lines};
  const TableWord w = tile_word(m, n, tile, shared);
  const u32 sum = block_sum(both_counts(w), shared), odd = __reduce_or_sync(WARP, w.odd);
  if (odd && lane_index() == 0) atomicOr(report + TABLE_ODD, (u64)odd);
  if (thread_index() == (n - 1) / WORD) report[TABLE_CLOSED] = w.lines >> (n - 1) % WORD & 1;
  if (threadIdx.x == 0) tile_stops[blockIdx.x] = sum & 0xffff, tile_rows[blockIdx.x] = sum >> 16;
}

// There are rows * columns fields, of which the end of the text ends the last one unless closed.
struct TableSpansArgs {
  i64 n, rows, columns, closed;
  i64 *starts;
  u32 *stops;
  u64 *report;
};

// stops_before and rows_before are those before each tile.
KERNEL __launch_bounds__(BLOCK) table_spans(const u64 *__restrict__ quotes,
    const u64 *__restrict__ delimiters, const u64 *__restrict__ lines,
    const QuoteTile *__restrict__ tile, const i64 *__restrict__ stops_before,
    const i64 *__restrict__ rows_before, const __grid_constant__ TableSpansArgs args) {
  __shared__ u32 shared[33];
  const i64 n = args.n, rows = args.rows;
  const u32 columns = (u32)args.columns;
  const Masks m = {quotes, delimiters, lines};
  const i64 at = thread_index() * WORD;
  const TableWord w = tile_word(m, n, tile, shared);
  u32 total;
  const u32 before = block_exclusive(both_counts(w), shared, total);
  i64 row = rows_before[blockIdx.x] + (before >> 16);
  for (u64 bits = w.starts; bits; bits &= bits - 1) args.starts[row++] = at + first_bit(bits);

  const u32 k = (u32)stops_before[blockIdx.x] + (before & 0xffff);
  u32 column = k % columns, odd = 0;
  row = k / columns;
  for (u64 bits = w.stops; bits; bits &= bits - 1) {
    const int bit = first_bit(bits);
    args.stops[column * rows + row] = (u32)(at + bit);
    const u32 last = column == columns - 1;
    odd |= last ^ (u32)(w.lines >> bit & 1);
    column = last ? 0 : column + 1, row += last;
  }
  if (odd) atomicOr(args.report + TABLE_ODD, (u64)TABLE_RAGGED);
  if (!args.closed && at / WORD == (n - 1) / WORD) args.stops[columns * rows - 1] = (u32)n;
}
