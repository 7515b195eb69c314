//go:build cgo && linux

// How a launch fails: the first thread that finds something wrong writes the message, and its runner leaves the block as it is.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"

static const char *const warp_names[] = {
    [CUDAEMU_SYNCWARP] = "__syncwarp",         [CUDAEMU_BALLOT] = "__ballot_sync",
    [CUDAEMU_ANY] = "__any_sync",              [CUDAEMU_ALL] = "__all_sync",
    [CUDAEMU_SHFL] = "__shfl_sync",            [CUDAEMU_SHFL_UP] = "__shfl_up_sync",
    [CUDAEMU_SHFL_DOWN] = "__shfl_down_sync",  [CUDAEMU_SHFL_XOR] = "__shfl_xor_sync",
    [CUDAEMU_MATCH_ANY] = "__match_any_sync",  [CUDAEMU_MATCH_ALL] = "__match_all_sync",
    [CUDAEMU_REDUCE_ADD] = "__reduce_add_sync",   [CUDAEMU_REDUCE_MIN] = "__reduce_min_sync",
    [CUDAEMU_REDUCE_MAX] = "__reduce_max_sync",   [CUDAEMU_REDUCE_MIN_S] = "__reduce_min_sync",
    [CUDAEMU_REDUCE_MAX_S] = "__reduce_max_sync", [CUDAEMU_REDUCE_AND] = "__reduce_and_sync",
    [CUDAEMU_REDUCE_OR] = "__reduce_or_sync",     [CUDAEMU_REDUCE_XOR] = "__reduce_xor_sync",
};
static const char *const barrier_names[] = {
    [CUDAEMU_SYNCTHREADS] = "__syncthreads",
    [CUDAEMU_SYNCTHREADS_COUNT] = "__syncthreads_count",
    [CUDAEMU_SYNCTHREADS_AND] = "__syncthreads_and",
    [CUDAEMU_SYNCTHREADS_OR] = "__syncthreads_or",
};

struct text {
  char bytes[MESSAGE_BYTES];
  size_t length;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(t->bytes + t->length, sizeof t->bytes - t->length, format, args);
  va_end(args);
  if (n > 0) t->length += (size_t)n;
  if (t->length >= sizeof t->bytes) t->length = sizeof t->bytes - 1;
}

static void add_call(struct text *t, enum state state, const struct call *c) {
  if (state == AT_WARP) {
    add(t, "%s(0x%08x) at %s:%d", warp_names[c->op], c->mask, c->file, c->line);
  } else {
    add(t, "%s at %s:%d", barrier_names[c->op], c->file, c->line);
  }
}

static void __attribute__((noreturn)) leave(struct emu_runner *r, const struct text *t) {
  int none = 0;
  if (__atomic_compare_exchange_n(&r->launch->failed, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    memcpy(r->launch->message, t->bytes, t->length + 1);
  }
  struct fiber *from = r->running;
  r->running = &r->home;
  fiber_switch(from, &r->home);
  __builtin_unreachable(); // emu_run resets every fiber
}

void emu_fail(struct cudaemu_block *b, const char *what, const char *file, int line) {
  struct emu_runner *r = (struct emu_runner *)b;
  struct text t = {.length = 0};
  add(&t, "block %u, thread %u: %s", b->blockIdx.x, b->threadIdx.x, what);
  if (file != NULL) add(&t, " at %s:%d", file, line);
  leave(r, &t);
}

static bool same(const struct thread *a, const struct thread *b) {
  if (a->state != b->state) return false;
  if (a->state == EXITED) return true;
  return a->call.op == b->call.op && a->call.mask == b->call.mask && a->call.line == b->call.line && strcmp(a->call.file, b->call.file) == 0;
}

// deadlock in block 0: threads 0-30 wait in __ballot_sync(0xffffffff) at a.cu:7; thread 31 waits in __syncthreads at a.cu:9
void fail_deadlock(struct emu_runner *r) {
  struct text t = {.length = 0};
  add(&t, "deadlock in block %u: ", r->block.blockIdx.x);
  for (unsigned i = 0, end; i < r->threads; i = end) {
    for (end = i + 1; end < r->threads && same(&r->thread[i], &r->thread[end]); end++) {
    }
    const bool one = end == i + 1, exited = r->thread[i].state == EXITED;
    add(&t, "%sthread%s %u", i > 0 ? "; " : "", one ? "" : "s", i);
    if (!one) add(&t, "-%u", end - 1);
    add(&t, exited ? (one ? " has exited" : " have exited") : (one ? " waits in " : " wait in "));
    if (!exited) add_call(&t, r->thread[i].state, &r->thread[i].call);
  }
  leave(r, &t);
}

void fail_divergent(struct emu_runner *r, const struct call *c) {
  struct text t = {.length = 0};
  add(&t, "divergent barrier in block %u: thread %u is in ", r->block.blockIdx.x, r->tid);
  add_call(&t, AT_BARRIER, c);
  add(&t, " while thread %u is in ", r->barrier_first);
  add_call(&t, AT_BARRIER, &r->barrier);
  leave(r, &t);
}

void fail_outside_mask(struct emu_runner *r, const struct call *c) {
  struct text t = {.length = 0};
  add(&t, "block %u, thread %u: lane %u is not in the mask of its ", r->block.blockIdx.x, r->tid, r->tid % WARP);
  add_call(&t, AT_WARP, c);
  leave(r, &t);
}
