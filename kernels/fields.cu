// fields.cu: which name of a dictionary each key is.
//
// The dictionary is a hash table with linear probing, built on the host, at most a quarter full. A key is hashed 8 bytes at a time; where the upper half
// of the hash and the length agree, the name is compared byte by byte, so that no collision takes one name for another.
//
//   slots   | hash field at length first | . | hash field at length first | . | ...   a power of two
//   names   n a m e 0 0 0 0 | p o p u l a t i o n 0 0 0 0 0 0 | ...       each from a multiple of 8 on
//
// A slot has the first 16 bytes of its name, which is all of most names: one access then finds and compares. A thread takes MATCHED keys, so that it waits for all of
// them at a time: for where they are, and for their text.
//
// Several names may be one field: spellings of it. The host sees to it that no search looks at more than `reach` slots. A key longer than the longest name is not read, so that no thread reads more of
// one than a name can have.
//
// buffer   elements   written by   what
// slots    2^k        the host     see FieldSlot
// names    words      the host     filled up with 0
// field    count      match        number of the name, or -1
// missed   1          match        the lowest key that is none of the names; all ones before
#include "fields.cuh"

constexpr int MATCHED = 2;  // also in fields.go

// Also in fields.go.
struct FieldSlot {
  u32 hash;      // upper half
  i32 field;     // -1: empty
  u32 at;        // of the name, in words
  u32 length;    // bytes
  u64 first[2];  // words of the name
};
// One slot, in two accesses.
__device__ __forceinline__ FieldSlot load_slot(const FieldSlot *__restrict__ slot) {
  const ulonglong2 *p = (const ulonglong2 *)slot;
  const ulonglong2 a = p[0], b = p[1];
  const FieldSlot s = {(u32)a.x, (i32)(a.x >> 32), (u32)a.y, (u32)(a.y >> 32), {b.x, b.y}};
  return s;
}

struct Key {
  i64 start;
  u32 length;
  bool known;    // it lies in the text and is not too long
  u64 first[2];  // words, 0 behind the key
};
__device__ __forceinline__ u64 key_word(const u8 *__restrict__ text, i64 n, const Key &key, u32 at) { return load_window(text, n, key.start + at) & low_bytes(key.length - at); }
// Is the key the name from its third word on? Both are read in words, the last of which is cut.
__device__ __forceinline__ bool is_name(const u8 *__restrict__ text, i64 n, const Key &key, const u64 *__restrict__ name) {
  for (u32 i = 16; i < key.length; i += 8)
    if (key_word(text, n, key, i) != name[i / 8]) return false;
  return true;
}
// The number of the key's name, or -1.
__device__ __forceinline__ i32 find_field(const u8 *__restrict__ text, i64 n, const Key &key, const FieldSlot *__restrict__ slots, u64 last, u32 reach, u64 seed, const u64 *__restrict__ names) {
  if (!key.known) return -1;
  u64 hash = field_hash(seed, key.length);  // as key_hash has it
  if (key.length > 0) hash = field_hash(hash, key.first[0]);
  if (key.length > 8) hash = field_hash(hash, key.first[1]);
  for (u32 at = 16; at < key.length; at += 8) hash = field_hash(hash, key_word(text, n, key, at));
  for (u32 probe = 0; probe < reach; probe++) {
    const FieldSlot s = load_slot(slots + ((hash + probe) & last));
    if (s.field < 0) break;
    if (s.hash == (u32)(hash >> 32) && s.length == key.length && s.first[0] == key.first[0] && s.first[1] == key.first[1] && is_name(text, n, key, names + s.at)) return s.field;
  }
  return -1;
}

KERNEL __launch_bounds__(BLOCK, 6) fields_match(const u8 *__restrict__ text, i64 n, const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 count, const FieldSlot *__restrict__ slots, u64 last, u32 reach, u64 seed, const u64 *__restrict__ names, i64 longest, i32 *__restrict__ field, u32 *missed) {
  const i64 from = (i64)blockIdx.x * (BLOCK * MATCHED) + threadIdx.x;
  Key key[MATCHED];
#pragma unroll
  for (int k = 0; k < MATCHED; k++) {
    const i64 i = from + k * BLOCK;
    const i64 start = i < count ? starts[i] : -1, end = i < count ? ends[i] : -1;
    key[k].known = 0 <= start && start <= end && end <= n && end - start <= longest;
    key[k].start = start, key[k].length = key[k].known ? (u32)(end - start) : 0;
  }
#pragma unroll
  for (int k = 0; k < MATCHED; k++) {
    key[k].first[0] = key[k].length > 0 ? key_word(text, n, key[k], 0) : 0;
    key[k].first[1] = key[k].length > 8 ? key_word(text, n, key[k], 8) : 0;
  }
#pragma unroll
  for (int k = 0; k < MATCHED; k++) {
    const i64 i = from + k * BLOCK;
    const i32 found = find_field(text, n, key[k], slots, last, reach, seed, names);
    if (i < count) field[i] = found;
    if (!missed) continue;
    const u32 none = __ballot_sync(WARP, i < count && found < 0);
    if (none && lane_index() == __ffs((int)none) - 1 && (u32)i < *(volatile u32 *)missed) atomicMin(missed, (u32)i);
  }
}
