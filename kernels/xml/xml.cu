// xml.cu: the tags of XML text (XML 1.0, fifth edition) that begins and ends outside of them, and
// whether all of it is made of characters.
//
// buffer     elements     written by      what
// less       n/64         masks, counts   "<"; then those that begin tags
// greater    n/64         masks, counts   ">"; then those that end tags
// amp        n/64         masks           "&"
// open       n/64         masks           the "<" of each "<![CDATA["
// within     n/64         masks, counts   the ">" of each "]]>"; then the bytes of sections, markup included
// state      n/16384      masks, join     STATE_*: does a section reach beyond the tile; then, into it
// count      2 * tiles    counts          tags that begin in each tile, and that end in it
// before     2 * tiles    (scan)          the same of the tiles before
// starts     tags         list            "<" of each tag
// ends       tags         list            its ">"
// sections   tags/64      list            a bit for each tag with a CDATA section in the text after it; 0
//                                         before. Two of them are a fault
// found      1            all             see XMLFound
//
// A tag begins with "<" and ends with the next ">". XML has no "<" between the two, and no ">"
// between tags but as a character of text, which hardly anybody writes. So both
// have to come by turns, and the k-th of one belongs to the k-th of the other:
//
//   text      < a   b = " & l t ; " > 1 < / a > < ! [ C D A T A [ < b > ] ] >
//   less      1 . . . . . . . . . . . . 1 . . . . . . . . . . . . . . . . . .
//   greater   . . . . . . . . . . . 1 . . . . 1 . . . . . . . . . . . . . . .
//   within    . . . . . . . . . . . . . . . . . 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
//
// A ">" in the value of an attribute makes a tag that nobody knows. Comments and processing
// instructions are such tags, too.
#include "text/utf8.cuh"
#include "xml/xml.cuh"

KERNEL __launch_bounds__(32) xml_begin(XMLFound *__restrict__ found) {
  const XMLFound nothing = {~0ull, {}, {}, 0, 0, 0, 0};
  if (threadIdx.x == 0) *found = nothing;
}

// Stands this text at a byte?
template <int N>
__device__ __forceinline__ bool stands_at(
    const u8 *__restrict__ text, i64 n, i64 at, const char (&s)[N]) {
  bool same = at >= 0 && at + N - 1 <= n;
  for (int i = 0; same && i < N - 1; i++) same = text[at + i] == (u8)s[i];
  return same;
}

// The bytes of a word that are no characters: control characters, malformed UTF-8, U+FFFE and
// U+FFFF.
__device__ __forceinline__ u64 no_characters(
    const Planes &p, const u8 *__restrict__ text, i64 n, i64 start, u64 valid) {
  u64 wrong = ~(p.b[7] | p.b[6] | p.b[5]) &
              ~(bytes_equal(p, '\t') | bytes_equal(p, '\n') | bytes_equal(p, '\r'));
  const u32 before = start > 0 ? *(const u32 *)(text + start - 4) : 0;
  if ((p.b[7] & valid) | (before & 0x80808080u)) {
    wrong |= utf8_faults(p, before);
    for (u64 m = bytes_equal(p, 0xef) & valid; m; m &= m - 1) {
      const i64 at = start + first_bit(m);
      if (at + 2 < n && text[at + 1] == 0xbf && text[at + 2] >= 0xbe) wrong |= m & (0 - m);
    }
  }
  return wrong & valid;
}

// One thread, one word.
KERNEL __launch_bounds__(BLOCK) xml_masks(const u8 *__restrict__ text, i64 n,
    u64 *__restrict__ less, u64 *__restrict__ greater, u64 *__restrict__ amp,
    u64 *__restrict__ open, u64 *__restrict__ within, u32 *__restrict__ state,
    XMLFound *__restrict__ found) {
  __shared__ u32 shared[33];
  const i64 word = thread_index(), start = word * WORD;
  const Planes p = load_planes(text, n, word);
  const u64 valid = word_valid(n, word), lesses = bytes_equal(p, '<'),
            greaters = bytes_equal(p, '>'), amps = bytes_equal(p, '&');
  u64 opens = 0, closes = 0, odd = valid ? no_characters(p, text, n, start, valid) : 0;
  if (valid && start + WORD >= n && text[n - 1] >= 0x80) odd |= 1ull << (n - 1 - start);
  const u64 bang = bytes_equal(p, '!') >> 1 | 1ull << 63, bracket = bytes_equal(p, ']') << 1 | 1;
  for (u64 m = lesses & bang; m; m &= m - 1)
    if (stands_at(text, n, start + first_bit(m), "<![CDATA[")) opens |= m & (0 - m);
  for (u64 m = greaters & bracket; m; m &= m - 1)
    if (stands_at(text, n, start + first_bit(m) - 2, "]]>")) closes |= m & (0 - m);
  if (start < n)
    less[word] = lesses, greater[word] = greaters, amp[word] = amps, open[word] = opens,
    within[word] = closes;
  if (odd) xml_fault(found, start + first_bit(odd));
  const u64 marks = opens | closes;
  u32 after;
  block_state(marks ? (opens >> (63 - __clzll((i64)marks)) & 1 ? (u32)STATE_ON : (u32)STATE_OFF)
                    : (u32)STATE_KEPT,
      STATE_KEPT, shared, after);
  const u32 coded = __syncthreads_or((amps | bytes_equal(p, '\r')) != 0),
            sections = __syncthreads_or(opens != 0);
  if (threadIdx.x) return;
  state[blockIdx.x] = after;
  if (coded) found->coded = 1;
  if (sections) found->sections = 1;
}

// One block.
KERNEL __launch_bounds__(SCAN, 1) xml_join(
    u32 *__restrict__ state, i64 tiles, i64 n, XMLFound *__restrict__ found) {
  __shared__ u32 shared[33];
  const Share share = block_share(tiles);
  u32 mine = STATE_KEPT, after;
  for (i64 i = share.from; i < share.to; i++) mine = state[i] == STATE_KEPT ? mine : state[i];
  u32 before = block_state(mine, STATE_OFF, shared, after);
  for (i64 i = share.from; i < share.to; i++) {
    const u32 own = state[i];
    state[i] = before;
    before = own == STATE_KEPT ? before : own;
  }
  if (threadIdx.x == 0 && after == STATE_ON) xml_fault(found, n);
}

// One thread, one word.
KERNEL __launch_bounds__(BLOCK) xml_counts(const u8 *__restrict__ text, i64 n,
    u64 *__restrict__ less, u64 *__restrict__ greater, const u64 *__restrict__ amp,
    const u64 *__restrict__ open, u64 *__restrict__ within, const u32 *__restrict__ state,
    u32 *__restrict__ count, i64 tiles, XMLFound *__restrict__ found) {
  __shared__ u32 shared[33];
  const i64 word = thread_index(), start = word * WORD;
  u64 opens = 0, closes = 0;
  if (start < n) opens = open[word], closes = within[word];
  const u64 marks = opens | closes;
  u32 after;
  const u32 set = marks ? (opens >> (63 - __clzll((i64)marks)) & 1 ? (u32)STATE_ON : (u32)STATE_OFF)
                        : (u32)STATE_KEPT;
  const u32 reaches = block_state(set, state[blockIdx.x], shared, after);
  const u64 inside = prefix_xor(marks) ^ (reaches == STATE_ON ? ~0ull : 0),
            section = inside | closes;
  u64 odd = (opens & ~inside) | (closes & inside), lesses = 0, greaters = 0;
  u32 means;
  if (start < n) {
    less[word] = lesses = less[word] & ~section,
    greater[word] = greaters = greater[word] & ~section;
    within[word] = section & word_valid(n, word);
    for (u64 m = amp[word] & ~section; m; m &= m - 1)
      if (!entity_at(text, n, start + first_bit(m), means)) odd |= m & (0 - m);
  }
  if (odd) xml_fault(found, start + first_bit(odd));
  const u32 sum = block_sum((u32)(__popcll(lesses) | __popcll(greaters) << 16), shared);
  if (threadIdx.x == 0) count[blockIdx.x] = sum & 0xffff, count[tiles + blockIdx.x] = sum >> 16;
}

// One thread, one word: each tag's "<" and ">" by the number of those before. before: of the tiles
// before.
KERNEL __launch_bounds__(BLOCK) xml_list(const u64 *__restrict__ less,
    const u64 *__restrict__ greater, const u64 *__restrict__ open, i64 words,
    const i64 *__restrict__ before, i64 tiles, i64 *__restrict__ starts, i64 *__restrict__ ends,
    u64 *__restrict__ sections, XMLFound *__restrict__ found) {
  __shared__ u32 shared[33];
  const i64 word = thread_index();
  u64 lesses = 0, greaters = 0, opens = 0;
  if (word < words) lesses = less[word], greaters = greater[word], opens = open[word];
  u32 all;
  const u32 mine = block_exclusive((u32)(__popcll(lesses) | __popcll(greaters) << 16), shared, all);
  i64 in = before[blockIdx.x] + (mine & 0xffff), out = before[tiles + blockIdx.x] + (mine >> 16);
  for (u64 m = lesses | greaters | opens; m; m &= m - 1) {
    const i64 at = word * WORD + first_bit(m);
    const u64 bit = m & (0 - m);
    const bool begins = lesses & bit;
    bool odd = greaters & bit ? in != out + 1 : in != out;
    if (opens & bit) {
      const i64 tag = in - 1;
      odd |= tag < 0 || atomicOr(sections + tag / WORD, 1ull << tag % WORD) >> tag % WORD & 1;
    } else if (begins) {
      starts[in++] = at;
    } else {
      ends[out++] = at;
    }
    if (odd) xml_fault(found, at);
  }
}
