// A fiber is a stack that a CUDA thread waits on while another one runs. It never leaves the OS thread that made it.
#ifndef EMU_FIBER_H
#define EMU_FIBER_H

#include <stdbool.h>
#include <ucontext.h>

// Room for a kernel's arrays in local memory. Pages that are never touched cost nothing.
enum { FIBER_STACK = 256 << 10 };

struct fiber {
  void *sp;    // while it does not run
  char *stack; // NULL: the OS thread's own
  bool portable;
  ucontext_t context; // of a portable one
};

// fiber_new gives a fiber that will call entry(arg) when it is first switched to, or NULL without memory. entry must not return.
// portable switches by swapcontext, which is all there is on other processors than x86-64 and aarch64.
struct fiber *fiber_new(bool portable, void (*entry)(void *), void *arg);
void fiber_free(struct fiber *f);

// fiber_reset forgets what f was doing: it will call entry(arg) again.
void fiber_reset(struct fiber *f, void (*entry)(void *), void *arg);

// fiber_switch continues to, and returns when something switches back to from, which is the fiber that runs now.
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
