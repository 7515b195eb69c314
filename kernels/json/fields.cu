// fields.cu: which name of a dictionary each key is.
//
// The dictionary is a hash table with linear probing, built on the host, at most a quarter full. A
// key is hashed 8 bytes at a time; where the upper half
// of the hash and the length agree, the name is compared byte by byte, so that no collision takes
// one name for another.
//
//   slots   | hash field at length first | . | hash field at length first | . | ...   a power of two
//   names   n a m e 0 0 0 0 | p o p u l a t i o n 0 0 0 0 0 0 | ...       each from a multiple of 8 on
//
// A slot has the first 16 bytes of its name, which is all of most names: one access then finds and
// compares. A thread takes MATCHED keys, so that it waits for all of
// them at a time: for where they are, and for their text.
//
// Several names may be one field: spellings of it. The host sees to it that no search looks at more
// than `reach` slots. A key longer than the longest name is not read, so that no thread reads more
// of
// one than a name can have.
//
// buffer   elements   written by   what
// slots    2^k        the host     see FieldSlot
// names    words      the host     filled up with 0
// field    count      match        number of the name, or -1
// missed   1          match        the lowest key that is not one of the names; all ones before
#include "json/fields.cuh"

constexpr int MATCHED = 2;  // also in fields.go

struct FieldsMatchArgs {
  i64 n, count;
  FieldSearch search;
  i32 *field;
  u32 *missed;  // may be null
};

KERNEL __launch_bounds__(BLOCK, 6) fields_match(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends,
    const FieldSlot *__restrict__ slots, const u64 *__restrict__ names,
    const __grid_constant__ FieldsMatchArgs args) {
  const FieldNames dictionary = field_names(slots, names, args.search);
  const i64 n = args.n, count = args.count;
  const i64 from = (i64)blockIdx.x * (BLOCK * MATCHED) + threadIdx.x;
  Key key[MATCHED];
#pragma unroll
  for (int k = 0; k < MATCHED; k++) {
    const i64 i = from + k * BLOCK;
    const KeySpan at = {i < count ? starts[i] : -1, i < count ? ends[i] : -1};
    key[k] = key_of(n, at, args.search.longest);
  }
#pragma unroll
  for (int k = 0; k < MATCHED; k++) load_key(text, key[k]);
#pragma unroll
  for (int k = 0; k < MATCHED; k++) {
    const i64 i = from + k * BLOCK;
    const i32 found = find_field(text, n, key[k], dictionary);
    if (i < count) args.field[i] = found;
    if (!args.missed) continue;
    const u32 none = __ballot_sync(WARP, i < count && found < 0);
    if (none && lane_index() == __ffs((int)none) - 1) note_missed(args.missed, (u32)i);
  }
}
