// xml_tags.cu: which tag of a dictionary each tag of a text is, byte by byte.
//
// buffer     elements      written by   what
// starts     tags          -            the "<" of each tag
// ends       tags          -            its ">"
// entry      entries       -            XMLEntry, see xml.cuh
// texts      bytes         -            of the tags of the dictionary
// kind       tags          match        which one each tag is; NO_ENTRY: none
// rows       tags/64       match        a bit for each that begins a row
// found      1             match        see XMLFound
//
// XML_ANY in the dictionary stands for the value of an attribute, up to the quote after it:
//
//   dictionary   p a r c e l   g m l : i d = " * "
//   text       < p a r c e l   g m l : i d = " p . 7 " >
#include "xml/tags.cuh"

KERNEL __launch_bounds__(BLOCK) xml_match(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 tags,
    const XMLEntry *__restrict__ entry, u32 entries, const u8 *__restrict__ texts,
    u8 *__restrict__ kind, u64 *__restrict__ rows, XMLFound *__restrict__ found) {
  __shared__ u32 hashes[MAX_ENTRIES];
  for (u32 i = threadIdx.x; i < entries; i += BLOCK) hashes[i] = entry[i].hash;
  __syncthreads();
  const i64 i = thread_index();
  u32 is = NO_ENTRY;
  bool row = false;
  if (i < tags) {
    const i64 from = starts[i] + 1, to = ends[i];
    const u32 hash = tag_hash(text, from, to);
    for (u32 k = 0; k < entries && is == NO_ENTRY; k++) {
      if (hashes[k] != hash) continue;
      i64 any, behind;
      if (same_tag(text, from, to, texts + entry[k].at, entry[k].length, any, behind)) is = k;
    }
    kind[i] = (u8)is;
    if (is == NO_ENTRY) xml_fault(found, starts[i]);
    else row = entry[is].role == XML_ROW;
  }
  store_bits(rows, i, tags, row);
}
