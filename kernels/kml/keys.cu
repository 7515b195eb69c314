// kml_keys.cu: the texts by which tags of KML are looked up in a dictionary, and the tags that
// begin Placemarks.
//
// buffer      elements   written by   what
// starts      tags       -            the '<' of each tag
// ends        tags       -            its '>'
// key_start   tags       keys         the text by which a tag is looked up
// key_end     tags       keys         likewise
// field       tags       -            the tag's number in the dictionary
// table       numbers    -            see Tag
// is_row      tags/64    marks        bit per tag: it begins a Placemark
#include "bytes.cuh"
#include "kml/kml.cuh"

constexpr i64 LONGEST_ID = 256;             // bytes
constexpr u64 ID_BEGINS = 0x223d646920ull;  // ' id="'

// An id differs from tag to tag, so it is left out of the key where it is all that a tag has in addition to
// its name.
//
//   tag    < P l a c e m a r k   i d = " p 7 " >
//   key      ^ . . . . . . . . . . . . . ^
KERNEL __launch_bounds__(BLOCK) kml_keys(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 tags,
    i64 *__restrict__ key_start, i64 *__restrict__ key_end) {
  const i64 i = thread_index();
  if (i >= tags) return;
  const i64 from = starts[i] + 1, to = ends[i];
  i64 end = to, at = from;
  while (at < to && at - from < 64 && text[at] != ' ') at++;
  if (to - at > 6 && text[at] == ' ' && (load_window(text, n, at) & low_bytes(5)) == ID_BEGINS &&
      text[to - 1] == '"' && to - at < LONGEST_ID) {
    const i64 open = at + 5;
    for (at = open; at < to - 1 && text[at] >= ' ' && text[at] != '"' && text[at] != '&';) at++;
    if (at == to - 1) end = open;
  }
  key_start[i] = from, key_end[i] = end;
}

KERNEL __launch_bounds__(BLOCK) kml_marks(const i32 *__restrict__ field, i64 tags,
    const u64 *__restrict__ table, i64 known, u64 *__restrict__ is_row) {
  const i64 i = thread_index();
  bool row = false;
  if (i < tags && field[i] >= 0 && field[i] < known) {
    const Tag t = {table[field[i]]};
    row = t.element() == PLACEMARK && t.form() != TAG_END;
  }
  store_bits(is_row, i, tags, row);
}
