//go:build cgo && linux

// The scheduler of one block. The thread that runs keeps running until it waits or exits; then the first ready one goes on, and if none is
// ready the next one is started. A fiber whose thread exits starts the next thread itself, so threads that never wait share one fiber.
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runner.h"
#include "shared.h"

// xorshift64* (Vigna 2016)
uint64_t next_random(struct emu_runner *r) {
  uint64_t x = r->random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  r->random = x;
  return x * 0x2545f4914f6cdd1d;
}

void make_ready(struct emu_runner *r, unsigned tid) {
  r->thread[tid].state = RUNS;
  r->ready[(r->ready_head + r->ready_count++) % MAX_THREADS] = (uint16_t)tid;
}

static void become(struct emu_runner *r, unsigned tid) {
  r->tid = tid;
  r->block.threadIdx.x = tid;
}

static void go_to(struct emu_runner *r, struct fiber *to) {
  struct fiber *from = r->running;
  r->running = to;
  fiber_switch(from, to);
}

static void fiber_main(void *arg);

static struct fiber *take_fiber(struct emu_runner *r) {
  if (r->idle_count > 0) return r->idle[--r->idle_count];
  struct fiber *f = r->fiber_count < MAX_THREADS ? fiber_new(r->portable, fiber_main, r) : NULL;
  if (f == NULL) return NULL;
  return r->fibers[r->fiber_count++] = f;
}

// dispatch runs another thread of the block. It returns when the fiber that called it is switched to again.
static void dispatch(struct emu_runner *r) {
  if (r->ready_count > 0) {
    const unsigned tid = r->ready[r->ready_head];
    r->ready_head = (r->ready_head + 1) % MAX_THREADS;
    r->ready_count--;
    become(r, tid);
    go_to(r, r->thread[tid].fiber);
    return;
  }
  if (r->begun == r->threads) fail_deadlock(r);
  struct fiber *f = take_fiber(r);
  if (f == NULL) emu_fail(&r->block, "no memory for the stacks of the block's threads", NULL, 0);
  go_to(r, f);
}

void park(struct emu_runner *r, enum state state) {
  struct thread *t = &r->thread[r->tid];
  t->state = state;
  t->fiber = r->running;
  dispatch(r);
}

static void open_barrier(struct emu_runner *r) {
  switch (r->barrier.op) {
  case CUDAEMU_SYNCTHREADS_AND: r->barrier_result = r->barrier_true == r->barrier_count; break;
  case CUDAEMU_SYNCTHREADS_OR: r->barrier_result = r->barrier_true > 0; break;
  default: r->barrier_result = (int)r->barrier_true;
  }
  r->barrier_count = r->barrier_true = 0;
  for (unsigned i = 0; i < r->threads; i++) {
    if (r->thread[r->order[i]].state == AT_BARRIER) make_ready(r, r->order[i]);
  }
}

static int barrier(struct cudaemu_block *b, unsigned op, int predicate, const char *file, int line) {
  struct emu_runner *r = (struct emu_runner *)b;
  const struct call c = {file, line, op, 0};
  if (r->barrier_count == 0) {
    r->barrier = c;
    r->barrier_first = r->tid;
  } else if (r->barrier.op != op || r->barrier.line != line || strcmp(r->barrier.file, file) != 0) {
    fail_divergent(r, &c);
  }
  r->barrier_count++;
  r->barrier_true += predicate != 0;
  if (r->barrier_count == r->live) {
    open_barrier(r);
  } else {
    r->thread[r->tid].call = c;
    park(r, AT_BARRIER);
  }
  return r->barrier_result; // nobody reaches another barrier before the last one of this has gone on
}

static void exit_thread(struct emu_runner *r) {
  r->thread[r->tid].state = EXITED;
  r->live--;
  lane_exited(r, r->tid);
  if (r->live > 0 && r->barrier_count == r->live) open_barrier(r);
}

static void fiber_main(void *arg) {
  struct emu_runner *r = arg;
  for (;;) {
    while (r->ready_count == 0 && r->begun < r->threads) {
      become(r, r->order[r->begun++]);
      r->launch->kernel(r->launch->args);
      exit_thread(r);
    }
    r->idle[r->idle_count++] = r->running;
    if (r->live == 0) {
      go_to(r, &r->home);
    } else {
      dispatch(r);
    }
  }
}

// order_threads says in which order the threads of the block are started, and so in which they are made ready.
static void order_threads(struct emu_runner *r, uint32_t block) {
  const unsigned n = r->threads;
  switch (r->launch->order) {
  case IN_ORDER:
  case REVERSE:
    for (unsigned i = 0; i < n; i++) r->order[i] = (uint16_t)(r->launch->order == REVERSE ? n - 1 - i : i);
    return;
  default:
    r->random = (r->launch->order ^ (uint64_t)block << 32) | 1;
    for (unsigned i = 0; i < n; i++) { // Fisher and Yates, inside out
      const unsigned j = (unsigned)(next_random(r) % (i + 1));
      r->order[i] = r->order[j];
      r->order[j] = (uint16_t)i;
    }
  }
}

static void run_block(struct emu_runner *r, uint32_t block) {
  const emu_launch *l = r->launch;
  if (r->static_bytes > 0) memset(r->static_shared, 0xa5, r->static_bytes);
  if (l->shared_bytes > 0) memset(r->block.shared, 0xa5, l->shared_bytes);
  l->enter(&r->block); // after the poison, which covers the kernel's pointer to its block too
  r->block.blockIdx.x = block;
  r->begun = 0;
  r->live = r->threads;
  r->ready_head = r->ready_count = 0;
  r->barrier_count = r->barrier_true = 0;
  for (unsigned w = 0; w * WARP < r->threads; w++) {
    const unsigned lanes = r->threads - w * WARP;
    r->warp[w].alive = lanes >= WARP ? ~0u : (1u << lanes) - 1;
    r->warp[w].arrived = 0;
  }
  if (l->order > REVERSE) order_threads(r, block);
  for (unsigned i = 0; i < r->threads; i++) r->thread[i].state = RUNS;
  r->running = &r->home;
  go_to(r, take_fiber(r)); // one there is: emu_runner_new made it
  if (__atomic_load_n(&r->launch->failed, __ATOMIC_RELAXED)) { // perhaps here, and then fibers were left in the middle of a thread
    r->idle_count = 0;
    for (unsigned i = 0; i < r->fiber_count; i++) {
      fiber_reset(r->fibers[i], fiber_main, r);
      r->idle[r->idle_count++] = r->fibers[i];
    }
  }
}

// nth_block is a permutation of the grid's blocks: an odd step that shares no factor with the grid visits each once.
static uint32_t nth_block(const emu_launch *l, uint64_t n) {
  if (l->order == IN_ORDER) return (uint32_t)n;
  if (l->order == REVERSE) return (uint32_t)(l->grid - 1 - n);
  uint64_t step = l->order % l->grid;
  for (;; step++) {
    uint64_t a = step, b = l->grid;
    while (b != 0) {
      const uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1) break;
  }
  return (uint32_t)((n * step + l->order) % l->grid);
}

void emu_run(emu_runner *r, emu_launch *l) {
  r->launch = l;
  r->threads = l->block;
  r->block.blockDim = (struct uint3){l->block, 1, 1};
  r->block.gridDim = (struct uint3){l->grid, 1, 1};
  r->block.blockIdx = r->block.threadIdx = (struct uint3){0, 0, 0};
  r->block.shared = r->shared_map + r->shared_room - (l->shared_bytes + 15) / 16 * 16;
  l->enter(&r->block);
  r->static_shared = shared_of(l->enter, &r->static_bytes);
  if (l->order <= REVERSE) order_threads(r, 0);
  while (!__atomic_load_n(&l->failed, __ATOMIC_RELAXED)) {
    const uint64_t n = __atomic_fetch_add(&l->started, 1, __ATOMIC_RELAXED);
    if (n >= l->grid) break;
    run_block(r, nth_block(l, n));
  }
}

emu_runner *emu_runner_new(size_t shared_bytes, bool portable) {
  emu_runner *r = calloc(1, sizeof *r);
  if (r == NULL) return NULL;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  r->shared_room = (shared_bytes + page - 1) / page * page;
  r->shared_map = mmap(NULL, r->shared_room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (r->shared_map == MAP_FAILED) {
    free(r);
    return NULL;
  }
  if (mprotect(r->shared_map + r->shared_room, page, PROT_NONE) != 0) {
    munmap(r->shared_map, r->shared_room + page);
    free(r);
    return NULL;
  }
  r->portable = portable;
  struct fiber *home = &r->home;
  home->portable = portable;
#if !defined(__x86_64__) && !defined(__aarch64__)
  home->portable = true;
#endif
  r->block.warp = emu_warp;
  r->block.barrier = barrier;
  r->block.fail = emu_fail;
  r->idle[0] = take_fiber(r);
  if (r->idle[0] == NULL) {
    emu_runner_free(r);
    return NULL;
  }
  r->idle_count = 1;
  return r;
}

void emu_runner_free(emu_runner *r) {
  for (unsigned i = 0; i < r->fiber_count; i++) fiber_free(r->fibers[i]);
  munmap(r->shared_map, r->shared_room + (size_t)sysconf(_SC_PAGESIZE));
  free(r);
}
