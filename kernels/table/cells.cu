// cells.cu: one column of a Table as a text of its own, a line a row, for those who read geometries
// by lines.
//
//   table    1,"POINT (1 2)"\n 2,\n 3,SRID=5;POINT(3 4)\n
//   text     POINT (1 2)    \n NULL\n SRID=5;POINT(3 4)    \n
//   moved    0                 16     21                     44
//
// buffer   elements   written by   what
// from, to rows       spans        the text of each field, without the quotes around it; empty for one that
//                                  says that it has no value
// valid    rows/64    spans        bit per row: there is a value
// offsets  rows + 1   -            bytes of the fields before each
// moved    rows + 1   lines        where each line begins, and where the last one ends
// text     moved[rows]  lines      the end of each line; the fields are written by who writes strings
// report   3          rows, marks  0 not 0 if a line holds no row or several, or a quote, 1 rows that begin
//                                  with an s, 2 semicolons; 0 before
#include "table/table.cuh"

constexpr i64 LINE_END = 5;  // bytes of NULL and the line feed
enum { CELLS_ODD, CELLS_SRIDS, CELLS_SEMICOLONS };

KERNEL __launch_bounds__(BLOCK) cells_spans(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const u32 *__restrict__ stops, i64 rows, u32 quote, u32 column,
    i64 *__restrict__ from, i64 *__restrict__ to, u64 *__restrict__ valid) {
  const i64 row = thread_index();
  bool has = false;
  if (row < rows) {
    const TableText t = {text, n, starts, stops, rows, quote};
    const Cell c = table_cell(t, column, row);
    bool unsure;
    const Cell trimmed = trimmed_cell(t, c, unsure);
    has = unsure || !says_null(folded(t, trimmed));
    from[row] = c.from, to[row] = has ? c.to : c.from;
  }
  store_bits(valid, row, rows, has);
}

KERNEL __launch_bounds__(BLOCK) cells_lines(const i64 *__restrict__ offsets,
    const u64 *__restrict__ valid, i64 rows, i64 *__restrict__ moved, u8 *__restrict__ text) {
  const i64 row = thread_index();
  if (row > rows) return;
  moved[row] = offsets[row] + LINE_END * row;
  if (row == rows) return;
  u8 *end = text + offsets[row + 1] + LINE_END * row;
  const bool has = valid[row / WORD] >> row % WORD & 1;
  end[0] = has ? ' ' : 'N', end[1] = has ? ' ' : 'U', end[2] = end[3] = has ? ' ' : 'L',
  end[4] = '\n';
}

// Does each line hold the first byte of one row? first: of each row.
KERNEL __launch_bounds__(BLOCK) cells_rows(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ moved, const i64 *__restrict__ first, i64 rows,
    u64 *__restrict__ report) {
  __shared__ u32 shared[33];
  const i64 row = thread_index();
  u32 srid = 0;
  bool odd = false;
  if (row < rows) {
    const i64 at = first[row];
    odd = at < moved[row] || at >= moved[row + 1];
    srid = !odd && at < n && (text[at] | 0x20) == 's';
  }
  const u32 all = block_sum(srid, shared);
  odd = __syncthreads_or(odd);
  if (threadIdx.x) return;
  if (all) atomicAdd(report + CELLS_SRIDS, (u64)all);
  if (odd) atomicOr(report + CELLS_ODD, 1ull);
}

KERNEL __launch_bounds__(BLOCK) cells_marks(
    const u8 *__restrict__ text, i64 n, u64 *__restrict__ report) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  u64 semicolons = 0, quotes = 0;
  if (word * WORD < n) {
    const Planes p = load_planes(text, n, word);
    semicolons = bytes_equal(p, ';'), quotes = bytes_equal(p, '"');
  }
  const u32 all = block_sum((u32)__popcll(semicolons), shared);
  const bool odd = __syncthreads_or(quotes != 0);
  if (threadIdx.x) return;
  if (all) atomicAdd(report + CELLS_SEMICOLONS, (u64)all);
  if (odd) atomicOr(report + CELLS_ODD, 1ull);
}
