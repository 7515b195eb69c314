//go:build cgo && linux

#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// emu_fiber_jump saves the registers that a function must keep on the running stack, stores that stack's pointer in *save, and takes both
// from load. A new stack is laid out as if it had been saved at the first instruction of entry: jump's arguments are still in their
// registers then, so entry(save, load, arg) finds arg in the third.
void emu_fiber_jump(void **save, void *load, void *arg);

#if defined(__x86_64__)
#define HAVE_JUMP 1
// From the saved pointer up: r15 r14 r13 r12 rbx rbp, return address.
enum { SAVED_WORDS = 7, RETURN_WORD = 6 };
__asm__(".text\n.hidden emu_fiber_jump\n.globl emu_fiber_jump\n.type emu_fiber_jump,@function\nemu_fiber_jump:\n"
        " pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        " movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
        " popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret\n"
        ".size emu_fiber_jump,.-emu_fiber_jump\n");
#elif defined(__aarch64__)
#define HAVE_JUMP 1
// From the saved pointer up: x19 to x28, x29 (frame), x30 (return address), d8 to d15.
enum { SAVED_WORDS = 20, RETURN_WORD = 11 };
__asm__(".text\n.hidden emu_fiber_jump\n.globl emu_fiber_jump\n.type emu_fiber_jump,%function\nemu_fiber_jump:\n"
        " sub sp, sp, #160\n"
        " stp x19, x20, [sp, #0]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n"
        " stp x29, x30, [sp, #80]\n stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
        " mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
        " ldp x19, x20, [sp, #0]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n ldp x27, x28, [sp, #64]\n"
        " ldp x29, x30, [sp, #80]\n ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
        " add sp, sp, #160\n ret\n"
        ".size emu_fiber_jump,.-emu_fiber_jump\n");
#else
#define HAVE_JUMP 0
#endif

#if HAVE_JUMP
struct start {
  void (*entry)(void *);
  void *arg;
};

static void first(void **save, void *load, void *arg) {
  (void)save;
  (void)load;
  struct start *s = arg;
  s->entry(s->arg);
  abort();
}

// The stack's top, downwards: what to start, a word that keeps the call's alignment (and ends a debugger's walk), the saved registers.
static void lay_out(struct fiber *f, void (*entry)(void *), void *arg) {
  struct start *s = (struct start *)(f->stack + FIBER_STACK) - 1;
  s->entry = entry;
  s->arg = arg;
  uint64_t *sp = (uint64_t *)s;
#if defined(__x86_64__)
  *--sp = 0; // in place of first's return address
#endif
  sp -= SAVED_WORDS;
  for (int i = 0; i < SAVED_WORDS; i++) sp[i] = 0;
  sp[RETURN_WORD] = (uint64_t)(uintptr_t)first;
  f->sp = sp;
}
#endif

static void first_portable(unsigned entry_hi, unsigned entry_lo, unsigned arg_hi, unsigned arg_lo) {
  void (*entry)(void *) = (void (*)(void *))(uintptr_t)((uint64_t)entry_hi << 32 | entry_lo);
  entry((void *)(uintptr_t)((uint64_t)arg_hi << 32 | arg_lo));
  abort();
}

void fiber_reset(struct fiber *f, void (*entry)(void *), void *arg) {
#if HAVE_JUMP
  if (!f->portable) {
    lay_out(f, entry, arg);
    return;
  }
#endif
  getcontext(&f->context);
  f->context.uc_stack.ss_sp = f->stack;
  f->context.uc_stack.ss_size = FIBER_STACK;
  f->context.uc_link = NULL;
  const uint64_t e = (uintptr_t)entry, a = (uintptr_t)arg; // makecontext passes ints
  makecontext(&f->context, (void (*)(void))(uintptr_t)first_portable, 4, (unsigned)(e >> 32), (unsigned)e, (unsigned)(a >> 32), (unsigned)a);
}

struct fiber *fiber_new(bool portable, void (*entry)(void *), void *arg) {
  struct fiber *f = calloc(1, sizeof *f);
  if (f == NULL) return NULL;
  const size_t guard = (size_t)sysconf(_SC_PAGESIZE); // below the stack: one that is too deep faults
  char *map = mmap(NULL, guard + FIBER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) {
    free(f);
    return NULL;
  }
  if (mprotect(map, guard, PROT_NONE) != 0) {
    munmap(map, guard + FIBER_STACK);
    free(f);
    return NULL;
  }
  f->stack = map + guard;
  f->portable = portable || !HAVE_JUMP;
  fiber_reset(f, entry, arg);
  return f;
}

void fiber_free(struct fiber *f) {
  const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
  munmap(f->stack - guard, guard + FIBER_STACK);
  free(f);
}

void fiber_switch(struct fiber *from, struct fiber *to) {
#if HAVE_JUMP
  if (!from->portable) {
    emu_fiber_jump(&from->sp, to->sp, to->stack != NULL ? to->stack + FIBER_STACK - sizeof(struct start) : NULL);
    return;
  }
#endif
  swapcontext(&from->context, &to->context);
}
