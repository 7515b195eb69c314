// xml_rows.cu: the rows of a text of XML: whether their elements end where they should, the text of
// their values, and what their geometries look like.
//
// buffer     elements         written by   what
// starts     tags             -            the "<" of each tag
// ends       tags             -            its ">"
// kind       tags             -            which tag of the dictionary each one is
// entry      entries          -            XMLEntry
// texts      bytes            -            of the tags of the dictionary
// sections   tags/64          -            a bit for each tag with a CDATA section after it
// row        rows             -            the tag that begins each row
// row_start  rows             rows         its "<"
// from, to   columns * rows   rows         the text of each value, one column after the other; -1 where a row has none
// first      columns          rows         the tag in which the first value of a column stands, of all rows;
//                                          all ones before
// gap        tags             rows         GAP_*, see xml_lines.cuh: what a tag and the text after it mean
//                                          for the geometry
// patch      tags             rows         PATCH_*, likewise
// found      1                rows         see XMLFound
//
// One thread, one row: it walks from tag to tag, MAX_ROW_TAGS of them at most, and never through a
// text. Which elements are open
// stands in the bytes of two words, the innermost one lowest.
#include "xml/lines.cuh"
#include "xml/tags.cuh"

constexpr i64 MAX_ROW_TAGS = 1024, FAR_WHITE = 256;
constexpr u32 MAX_OPEN = 15;

// The results of the walk.
struct XMLRowOutput {
  i64 *from, *to;
  u32 *first;
  u8 *gap, *patch;
  i64 rows;
};
// What it knows.
struct XMLWalk {
  const u8 *text;
  i64 n;
  const i64 *starts, *ends;
  const u8 *kind;
  const XMLEntry *entry;  // in shared memory
  const u64 *sections;
};

// The text of a value after a tag: that of a CDATA section if it is all of it, blanks around it
// aside. False: a section is only part of it.
__device__ __forceinline__ bool value_text(const XMLWalk &x, i64 tag, i64 &from, i64 &to) {
  if (!(x.sections[tag / WORD] >> tag % WORD & 1)) return true;
  i64 first = from, last = to;
  while (first < last && first - from < FAR_WHITE && is_white(x.text[first])) first++;
  while (last > first && to - last < FAR_WHITE && is_white(x.text[last - 1])) last--;
  if (last - first < 12 || x.text[first] != '<' || x.text[last - 1] != '>' ||
      x.text[last - 2] != ']' || x.text[last - 3] != ']')
    return false;
  from = first + 9, to = last - 3;  // "<![CDATA[" and "]]>"
  return true;
}

// Is the next that follows a tag, blanks aside, a tag or a section?
__device__ __forceinline__ bool holds_first(const XMLWalk &x, i64 tag) {
  for (i64 at = x.ends[tag] + 1; at < x.n && at <= x.ends[tag] + FAR_WHITE; at++)
    if (!is_white(x.text[at])) return x.text[at] == '<';
  return false;
}

// Of a row while it is walked.
struct XMLRowState {
  u64 low, high;  // elements that are open, a byte each
  u32 open, deepest;
  u64 seen;         // columns that have a value
  u32 shapes;       // that are open
  u32 begun;        // a bit for each: something stands in it
  u32 collections;  // a bit for each: it is one
  bool geometry;    // a shape was met
  bool closed;      // the row has ended
  bool leaf;        // the tag before begins the innermost element
};

// The walk over tag i, a start tag or an empty one. False: it may not stand there.
__device__ __forceinline__ bool begin_element(const XMLWalk &x, const XMLRowOutput &to,
    XMLRowState &s, const XMLEntry &e, u32 is, i64 i, i64 row, u32 *outer) {
  if (s.open == MAX_OPEN || (s.open > 0 && !(e.parents >> x.entry[s.low & 0xff].klass & 1)))
    return false;
  if (e.empty && e.role != XML_VALUE && e.role != XML_PASSED) return false;
  u32 gap = s.shapes ? GAP_GEOMETRY | GAP_TAG : GAP_OUTSIDE, patch = PATCH_NONE;
  const u32 level = 1u << s.shapes, comma = s.begun & level ? (u32)PATCH_COMMA : 0;
  switch (e.role) {
  case XML_ROW:
    if (s.open > 0) return false;
    break;
  case XML_SHAPE:
    if (s.shapes == 0) {
      if (s.geometry || !holds_first(x, i)) return false;
      s.geometry = true;
      if (!(outer[is / 32] >> is % 32 & 1)) atomicOr(outer + is / 32, 1u << is % 32);
    }
    if (s.shapes == 8) return false;
    patch = (s.shapes == 0 || s.collections & level ? e.word : 0) | PATCH_OPEN | comma;
    if (x.ends[i] + 1 - x.starts[i] < word_length(patch & PATCH_WORD) + 2) return false;
    s.begun |= level;
    s.shapes++;
    s.begun &= ~(level << 1), s.collections &= ~(level << 1);
    if (e.word == WORD_COLLECTION) s.collections |= level << 1;
    gap = GAP_GEOMETRY | GAP_TAG;
    break;
  case XML_FIRST:
  case XML_MORE:
    if (s.shapes == 0 || !(s.begun & level) != (e.role == XML_FIRST)) return false;
    break;
  case XML_POSITIONS:
  case XML_POSITION:
  case XML_TUPLES:
    if (s.shapes == 0) return false;
    s.begun |= level;
    patch = comma;
    gap = GAP_TAG | (e.role == XML_POSITIONS     ? GAP_POSITIONS
                        : e.role == XML_POSITION ? GAP_POSITION
                                                 : GAP_TUPLES);
    break;
  case XML_VALUE:
    if (s.seen >> e.column & 1) return false;  // a list
    s.seen |= 1ull << e.column;
    if (e.empty) to.from[e.column * to.rows + row] = to.to[e.column * to.rows + row] = 0;
    if ((u32)i < *(volatile u32 *)(to.first + e.column)) atomicMin(to.first + e.column, (u32)i);
    break;
  case XML_HOLDER:
  case XML_PASSED: break;
  default: return false;
  }
  to.gap[i] = (u8)gap, to.patch[i] = (u8)patch;
  if (e.empty) {
    s.leaf = false;
    return true;
  }
  s.high = s.high << 8 | s.low >> 56, s.low = s.low << 8 | is;
  s.open++, s.leaf = true;
  s.deepest = s.open > s.deepest ? s.open : s.deepest;
  return true;
}

// The walk over tag i, an end tag.
__device__ __forceinline__ bool end_element(
    const XMLWalk &x, const XMLRowOutput &to, XMLRowState &s, const XMLEntry &e, i64 i, i64 row) {
  if (s.open == 0) return false;
  const XMLEntry &o = x.entry[s.low & 0xff];
  if (o.name != e.name) return false;
  u32 gap = s.shapes ? GAP_GEOMETRY | GAP_TAG : GAP_OUTSIDE, patch = PATCH_NONE;
  switch (o.role) {
  case XML_HOLDER:
    if (s.leaf) return false;  // it is a value
    break;
  case XML_SHAPE:
    s.shapes--;
    patch = s.shapes ? PATCH_CLOSE : PATCH_END;
    if (s.shapes == 0) gap = GAP_OUTSIDE;
    break;
  case XML_POSITIONS:
  case XML_POSITION:
  case XML_TUPLES:
    if (!s.leaf) return false;
    break;
  case XML_VALUE: {
    i64 from = x.ends[i - 1] + 1, end = x.starts[i];
    if (!s.leaf || !value_text(x, i - 1, from, end)) return false;
    to.from[o.column * to.rows + row] = from, to.to[o.column * to.rows + row] = end;
    break;
  }
  default: break;
  }
  to.gap[i] = (u8)gap, to.patch[i] = (u8)patch;
  s.low = s.low >> 8 | s.high << 56, s.high >>= 8;
  s.open--, s.leaf = false;
  s.closed = s.open == 0;
  return true;
}

// Stand tags i and those after, up to last, between two rows: none, or the end of an element
// around rows and its beginning?
__device__ __forceinline__ bool between_rows(
    const XMLWalk &x, const XMLRowOutput &to, i64 i, i64 last) {
  if (i == last) return true;
  if (last - i != 2) return false;
  const u32 end = x.kind[i], start = x.kind[i + 1];
  if (end == NO_ENTRY || start == NO_ENTRY) return false;
  to.gap[i] = to.gap[i + 1] = GAP_OUTSIDE, to.patch[i] = to.patch[i + 1] = PATCH_NONE;
  const XMLEntry &e = x.entry[end], &o = x.entry[start];
  return e.role == XML_END && o.role == XML_AROUND && !o.empty && e.name == o.name;
}

struct XMLRowsArgs {
  i64 n, tags, entries, columns;
  i64 *row_start;
  XMLRowOutput to;
  XMLFound *found;
};

KERNEL __launch_bounds__(BLOCK) xml_rows(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u8 *__restrict__ kind,
    const XMLEntry *__restrict__ entry, const u8 *__restrict__ texts,
    const u64 *__restrict__ sections, const i64 *__restrict__ rows_at,
    const __grid_constant__ XMLRowsArgs args) {
  const XMLRowOutput &out = args.to;
  XMLFound *__restrict__ found = args.found;
  const i64 n = args.n, tags = args.tags, rows = out.rows;
  const u32 entries = (u32)args.entries, columns = (u32)args.columns;
  __shared__ XMLEntry shared[MAX_ENTRIES];
  __shared__ u32 used[8], outer[8];
  for (u32 i = threadIdx.x; i < entries; i += BLOCK) shared[i] = entry[i];
  if (threadIdx.x < 8) used[threadIdx.x] = outer[threadIdx.x] = 0;
  __syncthreads();
  const i64 row = thread_index();
  XMLRowState s = {0, 0, 0, 0, 0, 0, 0, 0, false, false, false};
  if (row < rows) {
    const XMLWalk x = {text, n, starts, ends, kind, shared, sections};
    const i64 begin = rows_at[row], last = row + 1 < rows ? rows_at[row + 1] : tags;
    args.row_start[row] = starts[begin];
    i64 i = begin;
    bool ok = last - begin <= MAX_ROW_TAGS && (row > 0 || begin == 0);
    for (; ok && i < last && !s.closed; i++) {
      const u32 is = kind[i];
      if (ok = is != NO_ENTRY) {
        const XMLEntry &e = shared[is];
        ok = e.role == XML_END ? end_element(x, out, s, e, i, row)
                               : begin_element(x, out, s, e, is, i, row, outer);
        if (!(used[is / 32] >> is % 32 & 1)) atomicOr(used + is / 32, 1u << is % 32);
      }
    }
    if (!ok || !s.closed) xml_fault(found, starts[max(begin, i - 1)]);
    else if (!between_rows(x, out, i, last)) xml_fault(found, starts[i]);
    if (!s.geometry) out.patch[begin] = PATCH_NULL;
    const XMLEntry &e = shared[kind[begin]];
    if (e.column < columns) {  // an attribute of the row
      i64 any, behind;
      same_tag(text, starts[begin] + 1, ends[begin], texts + e.at, e.length, any, behind);
      s.seen |= 1ull << e.column;
      out.from[e.column * rows + row] = any, out.to[e.column * rows + row] = behind;
      if (any >= behind || is_white(text[any]) || is_white(text[behind - 1]))
        xml_fault(found, starts[begin]);
      if ((u32)begin < *(volatile u32 *)(out.first + e.column))
        atomicMin(out.first + e.column, (u32)begin);
    }
    for (u32 c = 0; c < columns; c++)
      if (!(s.seen >> c & 1)) out.from[c * rows + row] = out.to[c * rows + row] = -1;
  }
  const u32 deepest = __reduce_max_sync(WARP, s.deepest);
  if (lane_index() == 0 && deepest > *(volatile u32 *)&found->deepest)
    atomicMax(&found->deepest, deepest);
  __syncthreads();
  if (threadIdx.x < 8) {
    if (used[threadIdx.x] & ~*(volatile u32 *)(found->used + threadIdx.x))
      atomicOr(found->used + threadIdx.x, used[threadIdx.x]);
    if (outer[threadIdx.x] & ~*(volatile u32 *)(found->outer + threadIdx.x))
      atomicOr(found->outer + threadIdx.x, outer[threadIdx.x]);
  }
}
