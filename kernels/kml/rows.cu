// kml_rows.cu: Placemarks, from tags to cells of a table and pieces of coordinates. A thread reads
// a Placemark, tag by tag, twice: first it counts, and checks that everything in
// it is something that it knows where it stands; then it writes.
//
// buffer      elements          written by   what
// starts      tags              -            the '<' of each tag
// ends        tags              -            its '>'
// sections    tags/64           -            see xml.cu: a bit for each tag with a CDATA section in the text
//                                            after it, and no second one
// key_end     tags              -            end of the text by which a tag is looked up
// field       tags              -            the tag's number in the dictionary
// table       numbers           -            see Tag
// row         rows              -            the tag that begins each
// pieces      rows              count        how many each has
// mixed       rows/64           count        bit per row: a MultiGeometry of several kinds
// first       64                count        the first tag that has something of a column; all ones before
// foreign     local names       count        elements that no column holds; 0 before
// odd         1                 count        ODD_*; 0 before
// from, to    rows, each        write        the texts of cells; empty without
// valid       rows/64, each     write        bit per row: there is a cell. 0 before
// piece       pieces            write        see KMLPiece
// size        pieces            write        bytes that it takes
#include "kml/walk.cuh"

__device__ __forceinline__ void add_odd(u32 *odd, u32 mine) {
  mine = __reduce_or_sync(WARP, mine);
  if (mine && lane_index() == 0) atomicOr(odd, mine);
}

struct KMLCountArgs {
  i64 tags, rows;
  u64 numbers;  // columns that are numbers, a bit each
  i64 *pieces;
  u64 *mixed;
  u32 *first, *foreign, *odd;
};

KERNEL __launch_bounds__(BLOCK) kml_count(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u64 *__restrict__ sections,
    const i64 *__restrict__ key_end, const i32 *__restrict__ field, const u64 *__restrict__ table,
    const i64 *__restrict__ row, const __grid_constant__ KMLCountArgs args) {
  __shared__ u32 stacks[DEEPEST * BLOCK];
  const i64 r = thread_index(), tags = args.tags, rows = args.rows;
  u32 mine = 0;
  bool several = false;
  if (r < rows) {
    const Source x = {text, starts, ends, sections, key_end, field, tags, table};
    const KMLCountOutput counted = {args.first, args.foreign};
    const KMLWriteOutput none = {};
    Walk<false> w(x, counted, none, r, 0, args.numbers, false, stacks + threadIdx.x);
    const i64 after = w.read(row[r]);
    mine = w.odd, several = w.mixed, args.pieces[r] = w.pieces;
    // Nothing but text stands between Placemarks.
    if (!mine && (after != (r + 1 < rows ? row[r + 1] : tags) || (r == 0 && row[0] != 0)))
      mine = ODD_BETWEEN;
  }
  store_bits(args.mixed, r, rows, several);
  add_odd(args.odd, mine);
}

struct KMLWriteArgs {
  i64 tags;
  KMLWriteOutput to;
};

KERNEL __launch_bounds__(BLOCK) kml_write(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u64 *__restrict__ sections,
    const i64 *__restrict__ key_end, const i32 *__restrict__ field, const u64 *__restrict__ table,
    const i64 *__restrict__ row, const i64 *__restrict__ before, const u64 *__restrict__ mixed,
    const __grid_constant__ KMLWriteArgs args) {
  __shared__ u32 stacks[DEEPEST * BLOCK];
  const i64 r = thread_index();
  if (r >= args.to.rows) return;
  const Source x = {text, starts, ends, sections, key_end, field, args.tags, table};
  const KMLCountOutput none = {};
  Walk<true> w(x, none, args.to, r, before[r], args.to.numbers, mixed[r / WORD] >> r % WORD & 1,
      stacks + threadIdx.x);
  w.read(row[r]);
}
