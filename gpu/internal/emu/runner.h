// A runner executes the blocks of a launch on one OS thread. Go calls what is declared first; the rest is between block.c, warp.c and report.c.
#ifndef EMU_RUNNER_H
#define EMU_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fiber.h"
#include "include/abi.h"

enum { MAX_THREADS = 1024, WARP = 32, MAX_WARPS = MAX_THREADS / WARP, MESSAGE_BYTES = 2048 };

// As in driver.go.
enum { MAX_PARAMETERS = 32, MAX_ARGUMENT_WORDS = 512 };

// The orders of Options; any larger number is the seed of a shuffle.
enum { IN_ORDER = 0, REVERSE = 1 };

typedef struct emu_launch {
  cudaemu_call *kernel;
  void (*enter)(struct cudaemu_block *);
  const void *args[MAX_PARAMETERS]; // each in words
  uint64_t words[MAX_ARGUMENT_WORDS];
  uint32_t grid, block;
  size_t shared_bytes; // dynamic
  uint64_t order;
  uint64_t started;            // blocks that were claimed, by all runners together
  int failed;                  // set by the first that fails, who then owns message
  char message[MESSAGE_BYTES]; // why, once all runners have returned
} emu_launch;

typedef struct emu_runner emu_runner;

// emu_runner_new gives a runner with room for shared_bytes of dynamic shared memory, or NULL without memory.
emu_runner *emu_runner_new(size_t shared_bytes, bool portable);
void emu_runner_free(emu_runner *r);

// emu_run executes blocks of the launch until none is left or one has failed. Several runners may do so at once, each on its OS thread.
void emu_run(emu_runner *r, emu_launch *l);

enum state { RUNS, AT_WARP, AT_BARRIER, EXITED };

struct call { // of a thread that waits
  const char *file;
  int line;
  unsigned op;
  uint32_t mask;
};

struct thread {
  struct fiber *fiber; // while it waits
  enum state state;
  struct call call;
  uint64_t value, result; // of a warp operation
  unsigned source;
};

struct warp {
  uint32_t alive;   // lanes that have not exited
  uint32_t arrived; // lanes that wait in a warp operation
};

struct emu_runner {
  struct cudaemu_block block; // first: a kernel hands back its address
  emu_launch *launch;
  unsigned threads; // of the block
  unsigned begun;   // threads that were started
  unsigned live;    // threads that have not exited
  unsigned tid;     // of the thread that runs
  struct thread thread[MAX_THREADS];
  struct warp warp[MAX_WARPS];

  uint16_t order[MAX_THREADS]; // in which threads are started
  uint64_t random;             // state of the shuffle of this block

  // Threads that waited and may go on, in a ring: each is in it once.
  uint16_t ready[MAX_THREADS];
  unsigned ready_head, ready_count;

  struct call barrier; // the call of those who stand at it
  unsigned barrier_first, barrier_count, barrier_true;
  int barrier_result;

  bool portable;
  struct fiber home, *running;
  struct fiber *fibers[MAX_THREADS], *idle[MAX_THREADS];
  unsigned fiber_count, idle_count;

  char *shared_map; // dynamic shared memory and the page after it
  size_t shared_room;
  void *static_shared; // thread-local memory of the kernel's shared object on this OS thread
  size_t static_bytes;
};

// block.c
void make_ready(struct emu_runner *r, unsigned tid);
void park(struct emu_runner *r, enum state state); // returns when somebody made the thread ready

// warp.c
uint64_t emu_warp(struct cudaemu_block *b, unsigned op, uint32_t mask, uint64_t value, unsigned source, const char *file, int line);
void lane_exited(struct emu_runner *r, unsigned tid);

// report.c: each ends the launch, and the running stack with it
void emu_fail(struct cudaemu_block *b, const char *what, const char *file, int line) __attribute__((noreturn));
void fail_deadlock(struct emu_runner *r) __attribute__((noreturn));
void fail_divergent(struct emu_runner *r, const struct call *c) __attribute__((noreturn));
void fail_outside_mask(struct emu_runner *r, const struct call *c) __attribute__((noreturn));

uint64_t next_random(struct emu_runner *r);

#endif
