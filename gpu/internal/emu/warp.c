//go:build cgo && linux

// Warp operations. Each lane that comes leaves its value; the one that completes the operation computes the results of all, since a lane
// that has gone on may leave its next value before another one has run again.
#include "runner.h"

// What a shuffle gives that reads a lane which takes no part.
static const uint64_t POISON = 0xa5a5a5a5a5a5a5a5;

static uint64_t fold(unsigned op, uint64_t acc, uint64_t v) {
  const uint32_t a = (uint32_t)acc, b = (uint32_t)v;
  switch (op) {
  case CUDAEMU_REDUCE_ADD: return a + b;
  case CUDAEMU_REDUCE_MIN: return b < a ? b : a;
  case CUDAEMU_REDUCE_MAX: return b > a ? b : a;
  case CUDAEMU_REDUCE_MIN_S: return (int32_t)b < (int32_t)a ? b : a;
  case CUDAEMU_REDUCE_MAX_S: return (int32_t)b > (int32_t)a ? b : a;
  case CUDAEMU_REDUCE_AND: return a & b;
  case CUDAEMU_REDUCE_OR: return a | b;
  default: return a ^ b;
  }
}

static uint32_t equal_lanes(const struct thread *lane, uint32_t part, uint64_t value) {
  uint32_t equal = 0;
  for (uint32_t m = part; m != 0; m &= m - 1) {
    const int i = __builtin_ctz(m);
    if (lane[i].value == value) equal |= 1u << i;
  }
  return equal;
}

static void give_all(struct thread *lane, uint32_t part, uint64_t result) {
  for (uint32_t m = part; m != 0; m &= m - 1) lane[__builtin_ctz(m)].result = result;
}

// compute gives each lane of part its result. Part is not empty.
static void compute(struct thread *lane, uint32_t part, unsigned op) {
  const uint64_t first = lane[__builtin_ctz(part)].value;
  uint32_t set;
  switch (op) {
  case CUDAEMU_SYNCWARP: return;
  case CUDAEMU_BALLOT:
  case CUDAEMU_ANY:
  case CUDAEMU_ALL:
    set = equal_lanes(lane, part, 1);
    give_all(lane, part, op == CUDAEMU_BALLOT ? set : op == CUDAEMU_ANY ? set != 0 : set == part);
    return;
  case CUDAEMU_SHFL:
  case CUDAEMU_SHFL_UP:
  case CUDAEMU_SHFL_DOWN:
  case CUDAEMU_SHFL_XOR:
    for (uint32_t m = part; m != 0; m &= m - 1) {
      struct thread *t = &lane[__builtin_ctz(m)];
      t->result = part >> t->source & 1 ? lane[t->source].value : POISON;
    }
    return;
  case CUDAEMU_MATCH_ANY:
    for (uint32_t m = part; m != 0; m &= m - 1) {
      struct thread *t = &lane[__builtin_ctz(m)];
      t->result = equal_lanes(lane, part, t->value);
    }
    return;
  case CUDAEMU_MATCH_ALL:
    set = equal_lanes(lane, part, first);
    give_all(lane, part, set == part ? set : 0);
    return;
  }
  uint64_t acc = first;
  for (uint32_t m = part & (part - 1); m != 0; m &= m - 1) acc = fold(op, acc, lane[__builtin_ctz(m)].value);
  give_all(lane, part, acc);
}

// complete ends the operation if all lanes of its mask are there for it, and makes those ready that do not run.
static bool complete(struct emu_runner *r, unsigned warp, unsigned op, uint32_t mask) {
  struct warp *w = &r->warp[warp];
  struct thread *lane = &r->thread[warp * WARP];
  const uint32_t part = mask & w->alive;
  if ((w->arrived & part) != part) return false;
  for (uint32_t m = part; m != 0; m &= m - 1) {
    const struct call *c = &lane[__builtin_ctz(m)].call;
    if (c->op != op || c->mask != mask) return false;
  }
  compute(lane, part, op);
  w->arrived &= ~part;
  // The shuffled orders start somewhere in the warp and go round it in odd steps.
  const uint64_t turn = r->launch->order == IN_ORDER ? 1u << 8 : r->launch->order == REVERSE ? 31u << 8 | 31 : next_random(r) | 1u << 8;
  for (unsigned k = 0; k < WARP; k++) {
    const unsigned i = (unsigned)((turn & 31) + k * (turn >> 8 & 31)) & 31, tid = warp * WARP + i;
    if (part >> i & 1 && tid != r->tid) make_ready(r, tid);
  }
  return true;
}

uint64_t emu_warp(struct cudaemu_block *b, unsigned op, uint32_t mask, uint64_t value, unsigned source, const char *file, int line) {
  struct emu_runner *r = (struct emu_runner *)b;
  const unsigned warp = r->tid / WARP, i = r->tid % WARP;
  struct thread *t = &r->thread[r->tid];
  t->call = (struct call){file, line, op, mask};
  t->value = value;
  t->source = source;
  if (!(mask >> i & 1)) fail_outside_mask(r, &t->call);
  r->warp[warp].arrived |= 1u << i;
  if (!complete(r, warp, op, mask)) park(r, AT_WARP);
  return t->result;
}

// lane_exited takes a lane out of its warp, which others may have waited for.
void lane_exited(struct emu_runner *r, unsigned tid) {
  const unsigned warp = tid / WARP;
  struct warp *w = &r->warp[warp];
  w->alive &= ~(1u << tid % WARP);
  for (uint32_t m = w->arrived; m != 0; m &= m - 1) {
    const int i = __builtin_ctz(m);
    if (!(w->arrived >> i & 1)) continue; // went on with an earlier one
    const struct call *c = &r->thread[warp * WARP + i].call;
    complete(r, warp, c->op, c->mask);
  }
}
