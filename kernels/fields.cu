// fields.cu: which name of a dictionary each key is.
//
// The dictionary is a hash table with linear probing, built on the host, at most a quarter full. A key is hashed 8 bytes at a time; where the upper half
// of the hash and the length agree, the name is compared byte by byte, so that no collision takes one name for another.
//
//   slots   | hash field at length | . | hash field at length | . | ...   a power of two
//   names   n a m e 0 0 0 0 | p o p u l a t i o n 0 0 0 0 0 0 | ...       each from a multiple of 8 on
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

// Also in fields.go.
struct FieldSlot {
  u32 hash;    // upper half
  i32 field;   // -1: empty
  u32 at;      // of the name, in words
  u32 length;  // bytes
};

// Is text[start, start + length) the name? Both are read in words, the last of which is cut.
__device__ __forceinline__ bool is_name(const u8 *__restrict__ text, i64 n, i64 start, u32 length, const u64 *__restrict__ name) {
  for (u32 i = 0; i < length; i += 8)
    if ((load_window(text, n, start + i) & low_bytes(length - i)) != name[i / 8]) return false;
  return true;
}

// One thread, one key.
KERNEL __launch_bounds__(BLOCK) fields_match(const u8 *__restrict__ text, i64 n, const i64 *__restrict__ starts, const i64 *__restrict__ ends, i64 count, const FieldSlot *__restrict__ slots, u64 last, u32 reach, u64 seed, const u64 *__restrict__ names, i64 longest, i32 *__restrict__ field, u32 *missed) {
  const i64 i = thread_index();
  const bool mine = i < count;
  const i64 start = mine ? starts[i] : -1, end = mine ? ends[i] : -1;
  i32 found = -1;
  if (0 <= start && start <= end && end <= n && end - start <= longest) {
    const u32 length = (u32)(end - start);
    const u64 hash = key_hash(text, n, start, end, seed);
    for (u32 probe = 0; probe < reach; probe++) {
      const FieldSlot s = slots[(hash + probe) & last];
      if (s.field < 0) break;
      if (s.hash == (u32)(hash >> 32) && s.length == length && is_name(text, n, start, length, names + s.at)) {
        found = s.field;
        break;
      }
    }
  }
  if (mine) field[i] = found;
  if (!missed) return;
  const u32 none = __ballot_sync(WARP, mine && found < 0);
  if (none && lane_index() == __ffs((int)none) - 1 && (u32)i < *(volatile u32 *)missed) atomicMin(missed, (u32)i);
}
