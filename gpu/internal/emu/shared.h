// A kernel's shared object, once it is loaded.
#ifndef EMU_SHARED_H
#define EMU_SHARED_H

#include <stddef.h>

#include "include/abi.h"

// shared_of finds the thread-local memory of the shared object that enter lies in, on this OS thread: what kernels declare __shared__, and
// the pointer to the block, which enter has set. NULL if the loader does not say.
void *shared_of(void (*enter)(struct cudaemu_block *), size_t *bytes);

typedef struct emu_module {
  int fd;       // of the object in memory: /proc/self/fd/<fd> names no other library while it is open
  void *handle; // of dlopen
  void (*enter)(struct cudaemu_block *);
} emu_module;

// emu_load loads a shared object, with variables of its own however often it is loaded. If it can't, error says why.
int emu_load(emu_module *m, const void *object, size_t bytes, char *error, size_t error_bytes);
void emu_unload(emu_module *m);
// emu_find gives the function of that name, or NULL if there is none.
void (*emu_find(const emu_module *m, const char *name))(void);
// emu_sizes calls a function that emu_find has found, which gives the sizes of a kernel's parameters. The last one is 0.
const unsigned *emu_sizes(void (*function)(void));
// emu_int gives the number of that name, or 0 if there is none.
int emu_int(const emu_module *m, const char *name);

#endif
