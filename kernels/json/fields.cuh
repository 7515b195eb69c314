// fields.cuh: one key, looked up in a dictionary: see fields.cu.
#pragma once
#include "bytes.cuh"

// A step of the hash: the product's halves folded, so that every bit of word reaches all bits. Also
// in fields.go.
__device__ __forceinline__ u64 field_hash(u64 hash, u64 word) {
  const u64 v = hash ^ word, odd = 0x9e3779b97f4a7c15ull;
  return v * odd ^ __umul64hi(v, odd);
}
// The hash of text[start, end), which lies in the text.
__device__ __forceinline__ u64 key_hash(
    const u8 *__restrict__ text, i64 n, i64 start, i64 end, u64 seed) {
  u64 hash = field_hash(seed, (u32)(end - start));
  for (i64 at = start; at < end; at += 8)
    hash = field_hash(hash, load_window(text, n, at) & low_bytes(end - at));
  return hash;
}

// Also in fields.go.
struct FieldSlot {
  u32 hash;      // upper half
  i32 field;     // -1: empty
  u32 at;        // of the name, in words
  u32 length;    // bytes
  u64 first[2];  // words of the name
};
// How a dictionary is searched; see fields.cu.
struct FieldSearch {
  u64 last;  // slot
  i64 reach;
  u64 seed;
  i64 longest;  // name, in bytes
};
// A dictionary.
struct FieldNames {
  const FieldSlot *__restrict__ slots;
  u64 last;
  u32 reach;
  u64 seed;
  const u64 *__restrict__ words;
  i64 longest;
};
__device__ __forceinline__ FieldNames field_names(
    const FieldSlot *__restrict__ slots, const u64 *__restrict__ words, const FieldSearch &search) {
  return {slots, search.last, (u32)search.reach, search.seed, words, search.longest};
}
// One slot, in two accesses.
__device__ __forceinline__ FieldSlot load_slot(const FieldSlot *__restrict__ slot) {
  const ulonglong2 *p = (const ulonglong2 *)slot;
  const ulonglong2 a = p[0], b = p[1];
  const FieldSlot s = {(u32)a.x, (i32)(a.x >> 32), (u32)a.y, (u32)(a.y >> 32), {b.x, b.y}};
  return s;
}

// Where a key's text is. Also in members.go.
struct KeySpan {
  i64 start, end;
};
struct Key {
  i64 start;
  u32 length;
  bool known;    // it lies in the text and is not too long
  u64 first[2];  // words, 0 after the key
};
__device__ __forceinline__ u64 key_word(
    const u8 *__restrict__ text, i64 n, const Key &key, u32 at) {
  return load_window(text, n, key.start + at) & low_bytes(key.length - at);
}
// A key without its text, which is asked for and taken later: of several keys at a time, or with
// something to do between.
__device__ __forceinline__ Key key_of(i64 n, const KeySpan &s, i64 longest) {
  const bool known = 0 <= s.start && s.start <= s.end && s.end <= n && s.end - s.start <= longest;
  const Key key = {s.start, known ? (u32)(s.end - s.start) : 0, known, {0, 0}};
  return key;
}
__device__ __forceinline__ SixteenAsked ask_key(const u8 *__restrict__ text, const Key &key) {
  SixteenAsked none = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0};
  return key.length ? ask_sixteen(text, key.start, min(key.length, 16u)) : none;
}
__device__ __forceinline__ void take_key(const SixteenAsked &asked, Key &key) {
  const Sixteen v = take_sixteen(asked);
  key.first[0] = v.low & low_bytes(key.length),
  key.first[1] = key.length > 8 ? v.high & low_bytes(key.length - 8) : 0;
}
__device__ __forceinline__ void load_key(const u8 *__restrict__ text, Key &key) {
  take_key(ask_key(text, key), key);
}
// Is the key the name from its third word on? Both are read in words, the last of which is cut.
__device__ __forceinline__ bool is_name(
    const u8 *__restrict__ text, i64 n, const Key &key, const u64 *__restrict__ name) {
  for (u32 i = 16; i < key.length; i += 8)
    if (key_word(text, n, key, i) != name[i / 8]) return false;
  return true;
}
// The number of the key's name, or -1.
__device__ __forceinline__ i32 find_field(
    const u8 *__restrict__ text, i64 n, const Key &key, const FieldNames &names) {
  if (!key.known) return -1;
  u64 hash = field_hash(names.seed, key.length);  // as key_hash has it
  if (key.length > 0) hash = field_hash(hash, key.first[0]);
  if (key.length > 8) hash = field_hash(hash, key.first[1]);
  for (u32 at = 16; at < key.length; at += 8) hash = field_hash(hash, key_word(text, n, key, at));
  for (u32 probe = 0; probe < names.reach; probe++) {
    const FieldSlot s = load_slot(names.slots + ((hash + probe) & names.last));
    if (s.field < 0) break;
    if (s.hash == (u32)(hash >> 32) && s.length == key.length && s.first[0] == key.first[0] &&
        s.first[1] == key.first[1] && is_name(text, n, key, names.words + s.at))
      return s.field;
  }
  return -1;
}

// Notes a key that is not one of the names. Few are lower than those that were noted before.
__device__ __forceinline__ void note_missed(u32 *missed, u32 key) {
  if (key < *(volatile u32 *)missed) atomicMin(missed, key);
}
