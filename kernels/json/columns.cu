// columns.cu: members of records become columns: which member is the value of which field in which
// row, and where its text lies.
//
//   member   0:a 1:b   2:b   3:a 4:c       the fields of rows 0, 1 and 2
//   slots    a | 0  .  3 |                 one row of the table a field
//            b | 1  2  . |
//            c | .  .  4 |
//
// Members of one slot fight for it with an atomic minimum: the lowest stays, whatever their order.
// That each but the first finds it taken tells that there are
// several, and the lowest of those that meet is found in any order, too.
//
// buffer   elements        written by      what
// slots    fields * rows   place           member, all ones where there is none; all ones before
// report   fields          clear, place    see FieldReport
// odd      1               clear, place    see PlaceReport
// starts   rows            tokens          of the text of each row's value
// ends     rows            tokens          likewise
// valid    rows/64         tokens          bit per row: there is a value, and it is not null
// trues    rows/64         tokens          bit per row: the value is true
#include "json/reports.cuh"

// As ValueKind of records.go.
enum { VALUE_NULL = 1, VALUE_FALSE, VALUE_TRUE, VALUE_NUMBER, VALUE_STRING };

KERNEL __launch_bounds__(BLOCK) columns_clear(
    FieldReport *__restrict__ report, i64 fields, PlaceReport *__restrict__ odd) {
  const i64 i = thread_index();
  const FieldReport nothing = {NO_MEMBER, 0};
  if (i < fields) report[i] = nothing;
  if (i == 0) odd->unknown = NONE, odd->repeated = NONE;
}

// *p becomes v if that is less. Most come too late, and what they read may be old, but never too
// low: they do without the atomic.
__device__ __forceinline__ void lower(u32 *p, u32 v) {
  if (v < *(volatile u32 *)p) atomicMin(p, v);
}

// One thread, one member. The lanes of a warp that have the same field report together.
KERNEL __launch_bounds__(BLOCK) columns_place(const i32 *__restrict__ row,
    const i32 *__restrict__ owner, const i32 *__restrict__ field,
    const i32 *__restrict__ owner_field, i32 want, const u8 *__restrict__ kind, i64 members,
    i64 rows, i64 fields, u32 *slots, FieldReport *report, PlaceReport *odd) {
  const i64 i = thread_index();
  const u32 member = (u32)i;
  bool taken = false;
  if (i < members) {
    const i64 o = owner[i];
    taken = want < 0 ? o < 0 : o >= 0 && (o >= members || owner_field[o] == want);
  }
  i64 f = -1, r = -1;
  u32 kinds = 0, met = NONE;
  if (taken) {
    f = field[i], r = row[i], kinds = 1u << (kind[i] & 31);
    if (f >= fields || r < 0 || r >= rows) f = -1;
  }
  const bool placed = f >= 0;
  if (placed) {
    const u32 other = atomicMin(slots + f * rows + r, member);
    if (other != NONE) met = min(other, member);
  }
  met = __reduce_min_sync(WARP, met);
  const u32 unknown = __ballot_sync(WARP, taken && !placed), peers = __match_any_sync(WARP, f);
  kinds = __reduce_or_sync(peers, kinds);
  const int lane = lane_index();
  if (lane == 0 && met != NONE) lower(&odd->repeated, met);
  if (lane == __ffs((int)unknown) - 1) lower(&odd->unknown, member);
  if (placed && lane == __ffs((int)peers) - 1) {
    lower(&report[f].first, member);
    if (kinds & ~*(volatile u32 *)&report[f].kinds) atomicOr(&report[f].kinds, kinds);
  }
}

// One thread, one row.
KERNEL __launch_bounds__(BLOCK) columns_tokens(const u32 *__restrict__ slots, i64 rows,
    const u32 *__restrict__ value_start, const u32 *__restrict__ value_end,
    const u8 *__restrict__ kind, i64 members, const i64 *__restrict__ base,
    i64 *__restrict__ starts, i64 *__restrict__ ends, u64 *__restrict__ valid,
    u64 *__restrict__ trues) {
  const i64 row = thread_index();
  u32 k = VALUE_NULL;
  if (row < rows) {
    const u32 member = slots[row];
    i64 start = 0, end = 0;
    // at once, needed or not
    if (member < members) k = kind[member], start = value_start[member], end = value_end[member];
    const i64 quote = k == VALUE_STRING, none = k == VALUE_NULL && base ? base[row] : 0;
    starts[row] = k == VALUE_NULL ? none : start + quote,
    ends[row] = k == VALUE_NULL ? none : end - quote;
  }
  store_bits(valid, row, rows, k != VALUE_NULL);
  if (trues) store_bits(trues, row, rows, k == VALUE_TRUE);
}

// One thread, one row.
KERNEL __launch_bounds__(BLOCK) columns_pick(const u32 *__restrict__ slots, i64 rows,
    const u32 *__restrict__ value_start, const u32 *__restrict__ value_end,
    const u8 *__restrict__ kind, i64 members, u32 want, i64 *__restrict__ starts,
    i64 *__restrict__ ends, u64 *__restrict__ picked) {
  const i64 row = thread_index();
  bool pick = false;
  if (row < rows) {
    const u32 member = slots[row];
    const u32 k = member < members ? kind[member] : 0;
    pick = want >> (k & 31) & 1 && k;
    if (starts) {
      const i64 quote = k == VALUE_STRING;
      starts[row] = pick ? value_start[member] + quote : 0,
      ends[row] = pick ? value_end[member] - quote : 0;
    }
  }
  if (picked) store_bits(picked, row, rows, pick);
}
