// kml_walk.cuh: one Placemark, read tag by tag: what its texts and coordinates are, and whether
// everything in it is something that is known where it stands.
//
// The same walk counts and writes, so that what is written is what was counted. The last elements
// that are open are a stack, of which each entry says what may stand in the element.
#pragma once
#include "kml/kml.cuh"

constexpr u32 DEEPEST = 16;                          // elements of a Placemark in each other
constexpr i64 MAX_TAGS = 1 << 16;                    // of a Placemark
constexpr i64 MAX_BLANKS = 256;                      // before and after coordinates
constexpr i64 SECTION_BEGINS = 9, SECTION_ENDS = 3;  // bytes of <![CDATA[ and ]]>

__device__ __forceinline__ bool is_space(u32 c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// An element that belongs to a geometry. Where it may not stand the CPU engine counts it, or reads
// it in another way.
__device__ __forceinline__ bool geometric(u32 e) {
  return e == POINT || e == LINE || e == LINEAR_RING || e == POLYGON || e == MULTI ||
         e == COORDINATES || e == OUTER || e == INNER || e == REFUSED;
}

// What all threads read.
struct Source {
  const u8 *text;
  const i64 *starts, *ends;
  const u64 *sections;
  const i64 *key_end;
  const i32 *field;
  i64 tags;
  const u64 *table;

  __device__ __forceinline__ Tag tag(i64 i) const {
    const Tag t = {table[field[i]]};
    return t;
  }
  __device__ __forceinline__ bool section(i64 i) const {
    return sections[i / WORD] >> i % WORD & 1;
  }
};
// Where a thread writes to.
struct KMLCountOutput {
  u32 *first, *foreign;
};
struct KMLWriteOutput {
  i64 *from, *to;
  u64 *valid;
  KMLPiece *piece;
  i64 *size;
  u64 used, numbers;  // columns, a bit each; texts stand before numbers
  i64 rows;

  __device__ __forceinline__ i64 place(u32 column) const {
    const u64 below = used & low_bits(column);
    return numbers >> column & 1 ? __popcll(used & ~numbers) + __popcll(below & numbers)
                                 : __popcll(below & ~numbers);
  }
};

// Reads a Placemark.
template <bool WRITE>
struct Walk {
  const Source &x;
  const KMLCountOutput &counted;
  const KMLWriteOutput &to;
  i64 row, pieces;
  u64 numbers;  // columns
  u32 odd = 0;
  u64 seen = 0;  // columns that have a cell
  u32 depth = 0;
  // of the elements that are open: the state in each, its column, and from bit 16 on its name.
  // Those of a block's threads lie next to each other
  u32 *stack;
  // Of the geometry at hand.
  bool geometry = false, multi = false, mixed, shell = false, filled = false;
  u32 members = 0, kind = WORD_NONE, rings = 0, lead = 0;
  KMLPiece last = {0, 0, 0};
  bool pending = false;

  __device__ __forceinline__ Walk(const Source &x, const KMLCountOutput &counted,
      const KMLWriteOutput &to, i64 row, i64 pieces, u64 numbers, bool mixed, u32 *stack)
      : x(x),
        counted(counted),
        to(to),
        row(row),
        pieces(pieces),
        numbers(numbers),
        stack(stack),
        mixed(mixed) {}

  __device__ __forceinline__ void push(u32 state, Tag t) {
    stack[depth * BLOCK] = state | t.column() << 8 | t.name() << 16;
  }
  __device__ __forceinline__ u32 top() const { return stack[depth * BLOCK]; }

  __device__ __forceinline__ void note(u32 column, i64 i) {
    if (!WRITE && (u32)i < *(volatile u32 *)(counted.first + column))
      atomicMin(counted.first + column, (u32)i);
  }
  __device__ __forceinline__ void cell(u32 column, i64 i, i64 from, i64 end) {
    seen |= 1ull << column;
    note(column, i);
    if (!WRITE || !(to.used >> column & 1)) return;
    const i64 place = to.place(column), words = (to.rows + WORD - 1) / WORD;
    to.from[place * to.rows + row] = from, to.to[place * to.rows + row] = end;
    atomicOr(to.valid + place * words + row / WORD, 1ull << row % WORD);
  }
  __device__ __forceinline__ void emit() {
    if (WRITE && pending) {
      to.piece[pieces] = last;
      to.size[pieces] = piece_head(last.code) + last.size + piece_tail(last.code);
    }
    if (pending) pieces++;
    pending = false;
  }
  __device__ __forceinline__ void close() { last.code += PIECE_CLOSE; }

  // The text of the element that tag i opens, up to its end tag.
  struct Span {
    i64 from, to;
    bool section;  // it is that of a CDATA section
  };
  __device__ __forceinline__ bool value(i64 &i, Tag t, Span &s) {
    s.from = s.to = x.ends[i] + 1, s.section = false;
    if (t.form() == TAG_EMPTY) return true;
    const Tag end = x.tag(i + 1 < x.tags ? i + 1 : i);
    if (end.form() != TAG_END || end.name() != t.name()) {
      odd |= ODD_TEXT;
      return false;
    }
    s.section = x.section(i), s.to = x.starts[++i];
    if (!s.section) return true;
    // it begins after other text, or ends before some
    if (x.text[s.from] != '<' || x.text[s.to - 1] != '>') {
      odd |= ODD_TEXT;
      return false;
    }
    s.from += SECTION_BEGINS, s.to -= SECTION_ENDS;
    return true;
  }

  __device__ __forceinline__ void text(u32 column, i64 &i, Tag t) {
    const i64 at = i;
    Span s;
    if (value(i, t, s)) cell(column, at, s.from, s.to);
  }
  // An extended value. One of a number is null where it is empty.
  __device__ __forceinline__ void datum(u32 column, i64 &i, Tag t) {
    const i64 at = i;
    Span s;
    if (!value(i, t, s)) return;
    if (seen >> column & 1) odd |= ODD_TWICE;
    if (numbers >> column & 1) {
      if (s.section) odd |= ODD_TEXT;
      if (s.from == s.to) return;
    }
    cell(column, at, s.from, s.to);
  }
  __device__ __forceinline__ void flag(u32 column, bool first, i64 &i, Tag t) {
    const i64 at = i;
    Span s;
    if (!value(i, t, s)) return;
    if (s.section || s.to - s.from != 1 || (x.text[s.from] & 0xfe) != '0') {
      odd |= ODD_TEXT;
    } else if (!first || !(seen >> column & 1)) {
      cell(column, at, s.from, s.to);
    }
  }
  __device__ __forceinline__ void when(i64 &i, Tag t) {
    const i64 at = i;
    Span s;
    if (!value(i, t, s)) return;
    const i64 size = s.to - s.from;
    // A year or a month goes to another column; what may be a blank is trimmed.
    if (s.section || size == 0 || size == 4 || size == 7 || x.text[s.from] - '0' > 9u ||
        x.text[s.to - 1] <= ' ' || x.text[s.to - 1] >= 0x80 || x.text[s.to - 1] == ';') {
      odd |= ODD_TEXT;
      return;
    }
    cell(COLUMN_TIMESTAMP, at, s.from, s.to);
  }
  __device__ __forceinline__ void coordinates(i64 &i, Tag t, bool point) {
    Span s;
    if (!value(i, t, s)) return;
    i64 from = s.from, end = s.to;
    while (from < end && from - s.from < MAX_BLANKS && is_space(x.text[from])) from++;
    while (from < end && s.to - end < MAX_BLANKS && is_space(x.text[end - 1])) end--;
    if (s.section || filled || from == end || end - from > 0x7fffffff || is_space(x.text[from]) ||
        is_space(x.text[end - 1])) {
      odd |= ODD_COORDINATES;
      return;
    }
    emit();
    last.from = from, last.size = (u32)(end - from),
    last.code = lead | (point ? (u32)PIECE_POINT : 0u);
    lead = 0, pending = true, filled = true;
  }

  // A geometry begins, of which the row has one.
  __device__ __forceinline__ void begin_row(u32 word) {
    if (geometry) odd |= ODD_ELEMENT;
    geometry = true;
    if (word) lead = word * PIECE_WORD + PIECE_OPEN;
  }
  __device__ __forceinline__ void begin_member(u32 word) {
    if (members == 0) {
      lead = (mixed ? (u32)WORD_COLLECTION : word + WORD_MULTI) * PIECE_WORD + PIECE_OPEN;
      kind = word;
    } else {
      lead = PIECE_COMMA;
    }
    if (!WRITE && word != kind) mixed = true;
    if (mixed) lead += word * PIECE_INNER_WORD + PIECE_INNER_OPEN;
    else if (word != WORD_POINT) lead += PIECE_OPEN;
    members++;
  }

  // Tag i, which begins an element in one of state in: gives the state in it, or OTHER where all of
  // it was read.
  __device__ __forceinline__ u32 enter(u32 in, i64 &i, Tag t) {
    const u32 e = t.element();
    switch (in) {
    case PLACEMARK:
      switch (e) {
      case NAME: text(COLUMN_NAME, i, t); return OTHER;
      case DESCRIPTION: text(COLUMN_DESCRIPTION, i, t); return OTHER;
      case SNIPPET: text(COLUMN_SNIPPET, i, t); return OTHER;
      case VISIBILITY: flag(COLUMN_VISIBILITY, false, i, t); return OTHER;
      case TIMESTAMP:
      case EXTENDED: return e;
      case POINT:
        begin_row(WORD_POINT);
        filled = false;
        return e;
      case LINE:
      case LINEAR_RING:
        begin_row(WORD_LINE);
        filled = false;
        return LINE;
      case POLYGON:
        begin_row(WORD_POLYGON);
        shell = false;
        rings = 0;
        return e;
      case MULTI:
        begin_row(WORD_NONE);
        multi = true;
        return e;
      }
      break;
    case TIMESTAMP:
      if (e != WHEN) break;
      when(i, t);
      return OTHER;
    case EXTENDED:
      if (e == SCHEMA_DATA || e == DATA) {
        note(t.column(), i);
        return e;
      }
      break;
    case DATA:  // what it is called stands in the tag around it
      if (e == REFUSED) odd |= ODD_ELEMENT;
      if (e != VALUE) return IN_SKIPPED;
      datum(top() >> 8 & 0xff, i, t);
      return OTHER;
    case SCHEMA_DATA:
      if (e != SIMPLE_DATA) break;
      note(t.column(), i);
      datum(t.column(), i, t);
      return OTHER;
    case POINT:
    case LINE:
    case POLYGON:
      switch (e) {
      case COORDINATES:
        if (in == POLYGON) break;
        coordinates(i, t, in == POINT);
        return OTHER;
      case OUTER:
      case INNER:
        if (in != POLYGON) break;
        if (shell == (e == OUTER)) odd |= ODD_ELEMENT;  // a second shell, or a hole before it
        shell = true;
        return OUTER;
      case ALTITUDE_MODE:
        if (seen >> COLUMN_ALTITUDE_MODE & 1) break;
        text(COLUMN_ALTITUDE_MODE, i, t);
        return OTHER;
      case EXTRUDE: flag(COLUMN_EXTRUDE, true, i, t); return OTHER;
      case TESSELLATE: flag(COLUMN_TESSELLATE, true, i, t); return OTHER;
      }
      if (geometric(e)) odd |= ODD_ELEMENT;
      return IN_SKIPPED;
    case OUTER:
      if (e != LINEAR_RING) break;
      lead = rings++ == 0 ? lead : (u32)PIECE_COMMA;
      lead += piece_inner(lead) ? (u32)PIECE_INNER_OPEN : (u32)PIECE_OPEN;
      filled = false;
      return e;
    case LINEAR_RING:
      if (e != COORDINATES && geometric(e)) odd |= ODD_ELEMENT;
      if (e != COORDINATES) return IN_SKIPPED;
      coordinates(i, t, false);
      return OTHER;
    case MULTI:
      switch (e) {
      case POINT:
        begin_member(WORD_POINT);
        filled = false;
        return e;
      case LINE:
      case LINEAR_RING:
        begin_member(WORD_LINE);
        filled = false;
        return LINE;
      case POLYGON:
        begin_member(WORD_POLYGON);
        shell = false;
        rings = 0;
        return e;
      case MULTI: odd |= ODD_ELEMENT;
      }
      break;
    default: return IN_SKIPPED;
    }
    if (geometric(e) || e == PLACEMARK) odd |= ODD_ELEMENT;
    if (!WRITE) atomicAdd(counted.foreign + t.local(), 1u);
    return IN_SKIPPED;
  }
  // The end of an element of that state.
  __device__ __forceinline__ void leave(u32 state) {
    switch (state) {
    case POINT:
      if (!filled) odd |= ODD_COORDINATES;
      if (!multi || mixed) close();
      break;
    case LINE:
    case LINEAR_RING:
      if (!filled) odd |= ODD_COORDINATES;
      close();
      break;
    case POLYGON:
      if (rings == 0) odd |= ODD_COORDINATES;
      close();
      break;
    case MULTI:
      if (members == 0) odd |= ODD_COORDINATES;
      close();
      break;
    }
  }

  // Reads the Placemark that tag i begins, and gives the tag after it.
  __device__ __forceinline__ i64 read(i64 i) {
    const i64 end = x.tags - i > MAX_TAGS ? i + MAX_TAGS : x.tags;
    Tag t = x.tag(i);
    if (t.open_id()) cell(COLUMN_ID, i, x.key_end[i], x.ends[i] - 1);
    push(PLACEMARK, t);
    bool open = t.form() == TAG_START;
    for (i++; open && i < end && !odd; i++) {
      t = x.tag(i);
      if (t.form() == TAG_END) {
        if (t.name() != top() >> 16) odd |= ODD_NESTING;
        leave(top() & 0xff);
        if (depth-- == 0) open = false;
        continue;
      }
      u32 state = enter(top() & 0xff, i, t);
      if (state == OTHER) continue;
      if (t.form() == TAG_EMPTY) {
        leave(state);
        continue;
      }
      if (++depth == DEEPEST) {
        odd |= ODD_LONG;
        break;
      }
      push(state, t);
    }
    if (open && !odd) odd |= i == x.tags ? ODD_NESTING : ODD_LONG;
    if (!geometry) last.code = PIECE_NULL * PIECE_INNER_WORD, pending = true;
    last.code |= PIECE_LINE_END;
    emit();
    return i;
  }
};
