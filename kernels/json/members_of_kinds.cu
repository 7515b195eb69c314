// members_of_kinds.cu: which members have values of some kinds.
//
// buffer   elements     what
// marked   members/64   a bit a member: it counts
#include "core.cuh"

// One thread, one member.
KERNEL __launch_bounds__(BLOCK) members_of_kinds(const i32 *__restrict__ owner,
    const i32 *__restrict__ owner_field, i32 want_owner, const u8 *__restrict__ kind, u32 want,
    i64 members, u64 *__restrict__ marked) {
  const i64 i = thread_index();
  bool is = false;
  if (i < members && want >> (kind[i] & 31) & 1) {
    const i64 o = owner[i];
    is = want_owner < 0 ? o < 0 : o >= 0 && o < members && owner_field[o] == want_owner;
  }
  store_bits(marked, i, members, is);
}
