// strings.cuh: what the raw text of a string means, and what is wrong with it, for one string or
// for a piece of a long one.
//
// The same walk counts and writes, so that what is written is what was counted, whatever the text
// is.
#pragma once
#include "bytes.cuh"

enum { STRINGS_RAW, STRINGS_JSON, STRINGS_DOUBLED };
// Bits of a string's flags; the masks of Strings are in this order.
enum {
  STRING_ESCAPED = 1,
  STRING_CONTROL = 2,
  STRING_NOT_UTF8 = 4,
  STRING_MALFORMED = 8,
  STRING_REPLACED = 16,
  STRING_FLAGS = 5
};

struct Text {
  const u8 *__restrict__ bytes;
  i64 n;
  u32 mode;

  __device__ __forceinline__ u64 window(i64 at) const { return load_window(bytes, n, at); }
  // The byte that starts an escape; none is 256.
  __device__ __forceinline__ u32 escape() const {
    return mode == STRINGS_JSON ? '\\' : mode == STRINGS_DOUBLED ? '"' : 256;
  }
};

// What was learned of a run of text.
struct StringPart {
  i64 bytes;  // that it means
  u32 flags;
  u32 replaced;  // halves of surrogate pairs that became U+FFFD
};

// An escape sequence.
struct Escape {
  u32 taken;  // bytes of text
  u32 size;   // bytes that it means, the first the lowest of utf8
  u32 utf8;
  u32 flags;
};

// The UTF-8 of a code point.
__device__ __forceinline__ void encode_utf8(u32 point, Escape &e) {
  if (point < 0x80) {
    e.size = 1, e.utf8 = point;
  } else if (point < 0x800) {
    e.size = 2, e.utf8 = 0x80c0 | point >> 6 | (point & 63) << 8;
  } else if (point < 0x10000) {
    e.size = 3, e.utf8 = 0x8080e0 | point >> 12 | (point >> 6 & 63) << 8 | (point & 63) << 16;
  } else {
    e.size = 4, e.utf8 = 0x808080f0u | point >> 18 | (point >> 12 & 63) << 8 |
                         (point >> 6 & 63) << 16 | (point & 63) << 24;
  }
}
// The UTF-16 unit that the four digits in v write; bad if they are none.
__device__ __forceinline__ u32 utf16_unit(u32 v, bool &bad) {
  u64 wrong;
  u32 b = hex_bytes(v | 0x3030303000000000ull, wrong);
  bad = wrong != 0;
  return (b & 255) << 8 | (b >> 8 & 255);
}

// JSON's escape at byte `at` of a string that ends at end (RFC 8259 section 7). Half a surrogate
// pair becomes U+FFFD. A backslash that starts no escape
// means nothing, and what follows it means itself.
__device__ __forceinline__ Escape json_escape(const Text &text, i64 at, i64 end) {
  u64 v = text.window(at);
  u32 c = at + 1 < end ? (u32)(v >> 8) & 255 : 0;
  Escape e = {2, 1, c, STRING_ESCAPED};
  switch (c) {
  case '"':
  case '\\':
  case '/': return e;
  case 'b': e.utf8 = '\b'; return e;
  case 'f': e.utf8 = '\f'; return e;
  case 'n': e.utf8 = '\n'; return e;
  case 'r': e.utf8 = '\r'; return e;
  case 't': e.utf8 = '\t'; return e;
  }
  bool bad = c != 'u' || at + 6 > end;
  u32 unit = 0;
  if (!bad) unit = utf16_unit((u32)(v >> 16), bad);
  if (bad) {
    e.taken = 1, e.size = 0, e.flags |= STRING_MALFORMED;
    return e;
  }
  e.taken = 6;
  if (unit >> 10 == 0xd800 >> 10 && at + 12 <= end) {
    u64 next = text.window(at + 6);
    u32 low = utf16_unit((u32)(next >> 16), bad);
    if ((next & 0xffff) == ('\\' | 'u' << 8) && !bad && low >> 10 == 0xdc00 >> 10) {
      e.taken = 12;
      unit = 0x10000 + ((unit & 1023) << 10) + (low & 1023);
    }
  }
  if (unit >> 11 == 0xd800 >> 11) unit = 0xfffd, e.flags |= STRING_REPLACED;
  encode_utf8(unit, e);
  return e;
}
// A quote inside quotes: two of them mean one (RFC 4180). One alone means itself.
__device__ __forceinline__ Escape doubled_quote(const Text &text, i64 at, i64 end) {
  Escape e = {2, 1, '"', STRING_ESCAPED};
  if (at + 1 >= end || text.bytes[at + 1] != '"') e.taken = 1, e.flags = STRING_MALFORMED;
  return e;
}
__device__ __forceinline__ Escape read_escape(const Text &text, i64 at, i64 end) {
  return text.mode == STRINGS_JSON ? json_escape(text, at, end) : doubled_quote(text, at, end);
}

// How many bytes the UTF-8 character in the low bytes of v takes, or 0 for an invalid one (RFC 3629
// section 4). v is 0 after the string's end.
__device__ __forceinline__ u32 utf8_length(u32 v) {
  u32 lead = v & 255, second = v >> 8 & 255;
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return (v & 0xc000) == 0x8000 ? 2 : 0;
  u32 lo = lead == 0xe0   ? 0xa0
           : lead == 0xf0 ? 0x90
                          : 0x80,
      hi = lead == 0xed   ? 0x9f
           : lead == 0xf4 ? 0x8f
                          : 0xbf;
  if (second < lo || second > hi) return 0;
  if (lead < 0xf0) return (v & 0xc00000) == 0x800000 ? 3 : 0;
  return lead < 0xf5 && (v & 0xc0c00000u) == 0x80800000u ? 4 : 0;
}
// Are the characters that start in [from, to) sound, and is every other byte part of one? The
// string is [start, end).
__device__ __forceinline__ bool sound_utf8(const Text &text, i64 start, i64 from, i64 to, i64 end) {
  i64 at = from;
  // What a character before from takes was looked at where it starts.
  for (int back = 1; back <= 3 && from - back >= start; back++) {
    u32 c = text.bytes[from - back];
    if ((c & 0xc0) == 0x80) continue;
    int length = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (length > back) at += length - back;
    break;
  }
  while (at < to) {
    u64 v = text.window(at) & low_bytes(end - at);
    if (!(v & HIGHS)) {
      at += 8;
      continue;
    }
    int ascii = first_bit(v & HIGHS) >> 3;
    at += ascii;
    if (at >= to) break;
    v = ascii <= 4 ? v >> 8 * ascii : text.window(at) & low_bytes(end - at);
    u32 length = utf8_length((u32)v);
    if (!length) return false;
    at += length;
  }
  return true;
}

// Walks the bytes and escapes that start in [from, to) of the string [start, end), and counts what
// they mean, or writes it.
template <bool WRITE>
__device__ __forceinline__ StringPart walk_string(
    const Text &text, i64 start, i64 from, i64 to, i64 end, Writer *out) {
  StringPart part = {0, 0, 0};
  const u32 escape = text.escape();
  u64 seen = 0, control = 0;
  for (i64 at = from; at < to;) {
    u64 v = text.window(at), stop = escape > 255 ? 0 : zero_bytes(v ^ ONES * escape);
    i64 left = to - at;
    int plain = first_bit(stop & low_bytes(left)) >> 3;
    if (plain > left) plain = (int)left;
    if constexpr (WRITE) {
      out->put(v & low_bytes(plain), plain);
    } else {
      seen |= v & low_bytes(plain);
      control |= zero_bytes(v & ONES * 0xe0) & low_bytes(plain);
      part.bytes += plain;
    }
    at += plain;
    if (plain == 8 || at >= to) continue;
    Escape e = read_escape(text, at, end);
    if constexpr (WRITE) {
      out->put(e.size ? e.utf8 : 0, (int)e.size);
    } else {
      part.bytes += e.size;
      part.flags |= e.flags;
      part.replaced += e.flags & STRING_REPLACED ? 1 : 0;
    }
    at += e.taken;
  }
  if constexpr (!WRITE) {
    if (control) part.flags |= STRING_CONTROL;
    if (seen & HIGHS && !sound_utf8(text, start, from, to, end)) part.flags |= STRING_NOT_UTF8;
  }
  return part;
}
