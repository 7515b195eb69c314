// members.cu: members by their level: in columns, three levels at a time, or whatever their names:
// keys that no dictionary has, and how often each field comes.
//
// Which level: the members of the records themselves, or those of the objects that are values of
// one field.
//
// Columns are as in columns.cu; the tables of the levels lie one after the other.
//
// Keys that are unknown are sorted into buckets by their hash, and the lowest member stays in each:
// a reader of all buckets has a name for each, and
// one round later, under another seed, those that shared a bucket.
//
//   member    0 "a"   3 "b"   7 "a"   8 "c"
//   bucket    | 0 |   | . |   | 3 |   | . |        a and c share one
//
// buffer   elements   written by   what
// slots    fields * rows  place    member, all ones where there is none; all ones before. fields: of all levels
// report   fields     clear, place see FieldReport
// odd      3          clear, place see PlaceReport, of each level
// bucket   buckets    find         lowest member, all ones where there is none; all ones before
// spans    buckets    spell        the keys of these; -1 where there is none
// counts   fields     count        members of each field; 0 before
// nested   members/64 count        bit a member: its value is an object or array that is to be looked at
#include "json/fields.cuh"
#include "json/reports.cuh"

constexpr u32 NO_BUCKET = 0xffffffff;
constexpr int COUNTED = 1024;  // fields that a block counts or reports by itself
constexpr int PLACED = 6;      // members that a thread places; also in members.go

// As ValueKind of records.go.
enum { VALUE_OBJECT = 6, VALUE_ARRAY };

constexpr int LEVELS = 3;  // also in members.go

KERNEL __launch_bounds__(BLOCK) members_clear(
    FieldReport *__restrict__ report, i64 fields, PlaceReport *__restrict__ odd) {
  const i64 i = thread_index();
  const FieldReport nothing = {NO_MEMBER, 0};
  const PlaceReport none = {NONE, NONE};
  if (i < fields) report[i] = nothing;
  if (i < LEVELS) odd[i] = none;
}

// *p becomes v if that is less. Most come too late, and what they read may be old, but never too
// low: they do without the atomic.
__device__ __forceinline__ void lower(u32 *p, u32 v) {
  if (v < *(volatile u32 *)p) atomicMin(p, v);
}
__device__ __forceinline__ void report_field(FieldReport *report, u32 member, u32 kinds) {
  lower(&report->first, member);
  if (kinds & ~*(volatile u32 *)&report->kinds) atomicOr(&report->kinds, kinds);
}

// A thread takes PLACED members, BLOCK apart. Of the first fields a block keeps what it has met,
// and tells all others once: else all warps would read the same few
// words of memory. fields0: of the members of records, fields1 and fields2: of those of values of
// want1 and want2. column: the field of the last level for each of
// n numbers, or null.
struct MembersPlaceArgs {
  i64 members, rows, columns;
  i32 want[LEVELS - 1];  // of the levels after the first
  i64 fields[LEVELS];
  u32 *slots;
  FieldReport *report;
  PlaceReport *odd;  // of each level
};

KERNEL __launch_bounds__(BLOCK) members_place(const i32 *__restrict__ row,
    const i32 *__restrict__ owner, const i32 *__restrict__ field, const u8 *__restrict__ kind,
    const i32 *__restrict__ column, const __grid_constant__ MembersPlaceArgs args) {
  const i64 members = args.members, rows = args.rows, columns = args.columns,
            fields0 = args.fields[0], fields1 = args.fields[1], fields2 = args.fields[2];
  const i32 want1 = args.want[0], want2 = args.want[1];
  u32 *slots = args.slots;
  FieldReport *report = args.report;
  PlaceReport *odd = args.odd;
  __shared__ u32 first[COUNTED], kinds[COUNTED];
  const i32 fields = (i32)(fields0 + fields1 + fields2), kept = min(fields, COUNTED);
  for (i32 f = (i32)threadIdx.x; f < kept; f += BLOCK) first[f] = NO_MEMBER, kinds[f] = 0;
  __syncthreads();
  const i64 from = (i64)blockIdx.x * (BLOCK * PLACED) + threadIdx.x;
  i32 level[PLACED], own[PLACED], at[PLACED];
#pragma unroll
  for (int k = 0; k < PLACED; k++) {
    const i64 i = from + k * BLOCK;
    level[k] = -1, own[k] = -1, at[k] = -1;
    if (i >= members) continue;
    const i64 o = owner[i];
    own[k] = field[i], at[k] = row[i];
    const i32 of = o >= 0 && o < members ? field[o] : -1;
    level[k] = o < 0 ? 0 : of < 0 ? -1 : of == want1 ? 1 : of == want2 ? 2 : -1;
  }
#pragma unroll
  for (int k = 0; k < PLACED; k++) {
    if (level[k] < 0) continue;
    const i64 i = from + k * BLOCK;
    const u32 member = (u32)i, bit = 1u << (kind[i] & 31);
    i32 f = own[k];
    if (level[k] == 2 && column) f = f >= 0 && f < columns ? column[f] : -1;
    if (f < 0 ||
        f >= (level[k] == 0      ? fields0
                 : level[k] == 1 ? fields1
                                 : fields2) ||
        at[k] < 0 || at[k] >= rows) {
      lower(&odd[level[k]].unknown, member);
      continue;
    }
    f += (i32)((level[k] > 0 ? fields0 : 0) + (level[k] > 1 ? fields1 : 0));
    const u32 other = atomicMin(slots + f * rows + at[k], member);
    if (other != NONE) lower(&odd[level[k]].repeated, min(other, member));
    if (f < kept) {
      lower(first + f, member);
      if (bit & ~*(volatile u32 *)(kinds + f)) atomicOr(kinds + f, bit);
    } else {
      report_field(report + f, member, bit);
    }
  }
  __syncthreads();
  for (i32 f = (i32)threadIdx.x; f < kept; f += BLOCK)
    if (kinds[f]) report_field(report + f, first[f], kinds[f]);
}

// Is this a member of the level?
__device__ __forceinline__ bool of_level(
    i64 i, i64 members, const i32 *__restrict__ owner, const i32 *__restrict__ field, i32 want) {
  if (i >= members) return false;
  const i64 o = owner[i];
  return want < 0 ? o < 0 : o >= 0 && o < members && field[o] == want;
}

// One thread, one member.
KERNEL __launch_bounds__(BLOCK) members_find(const u8 *__restrict__ text, i64 n,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const i32 *__restrict__ owner,
    const i32 *__restrict__ field, i32 want, i64 members, i64 longest, u64 seed, u64 last,
    u32 *bucket) {
  const i64 i = thread_index();
  if (!of_level(i, members, owner, field, want) || field[i] >= 0) return;
  const i64 start = starts[i], end = ends[i];
  if (start < 0 || start > end || end > n || end - start > longest) return;
  u32 *mine = bucket + (key_hash(text, n, start, end, seed) & last);
  if ((u32)i < *(volatile u32 *)mine) atomicMin(mine, (u32)i);
}

// One thread, one bucket.
KERNEL __launch_bounds__(BLOCK) members_spell(const u32 *__restrict__ bucket, i64 buckets,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, KeySpan *__restrict__ spans) {
  const i64 i = thread_index();
  if (i >= buckets) return;
  const u32 member = bucket[i];
  KeySpan s = {-1, -1};
  if (member != NO_BUCKET) s.start = starts[member], s.end = ends[member];
  spans[i] = s;
}

// A block counts what it meets of the first fields, and adds that to all others' once. Each thread
// takes one member in blockDim.x.
KERNEL __launch_bounds__(BLOCK) members_count(const i32 *__restrict__ owner,
    const i32 *__restrict__ field, i32 want, const u8 *__restrict__ kind, i64 members, i64 each,
    i64 fields, u64 skip, u64 *counts, u64 *__restrict__ nested) {
  __shared__ u32 counted[COUNTED];
  for (int f = (int)threadIdx.x; f < COUNTED; f += BLOCK) counted[f] = 0;
  __syncthreads();
  for (i64 k = 0; k < each; k++) {
    const i64 i = (blockIdx.x * each + k) * BLOCK + threadIdx.x;
    const bool taken = of_level(i, members, owner, field, want);
    const i64 f = taken ? field[i] : -1;
    const u32 value = taken ? kind[i] : 0;
    if (nested)
      store_bits(nested, i, members,
          (value == VALUE_OBJECT || value == VALUE_ARRAY) &&
              !(f >= 0 && f < 64 && (skip >> f & 1)));
    if (f >= 0 && f < fields) {
      if (f < COUNTED) atomicAdd(counted + f, 1u);
      else atomicAdd(counts + f, 1ull);
    }
  }
  __syncthreads();
  for (int f = (int)threadIdx.x; f < COUNTED && f < fields; f += BLOCK)
    if (counted[f]) atomicAdd(counts + f, (u64)counted[f]);
}
