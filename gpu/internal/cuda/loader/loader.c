//go:build cuda && cgo && linux && (amd64 || arm64)

#include "loader.h"

#include <dlfcn.h>
#include <stdio.h>

// Answers of entry points that lead nowhere, as CUresult. Their callers pass arguments that they ignore.
enum { NOT_INITIALIZED = 3, NOT_SUPPORTED = 801 };

__attribute__((visibility("hidden"))) int vf_loader_absent(void) { return NOT_INITIALIZED; }
__attribute__((visibility("hidden"))) int vf_loader_absent_init(void) { return 0; }
static int lacking(void) { return NOT_SUPPORTED; }

static const char *const names[] = {
#define ENTRY(name) #name,
#define ENTRY_INIT(name) #name,
#include "entrypoints.h"
#undef ENTRY
#undef ENTRY_INIT
};
enum { COUNT = sizeof names / sizeof *names };

extern void *vf_loader_slots[COUNT] __attribute__((visibility("hidden")));  // trampolines.S

int vf_loader_bind(char *reason, size_t reason_bytes) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *text = dlerror();  // lives until this thread's next dl call
    snprintf(reason, reason_bytes, "%s", text ? text : "dlopen gives no reason");
    return -1;
  }
  for (size_t i = 0; i < COUNT; i++) {
    void *entry = dlsym(library, names[i]);
    // Another thread may be jumping through the slot: it reads the old address or the new one, both whole.
    __atomic_store_n(&vf_loader_slots[i], entry ? entry : (void *)lacking, __ATOMIC_RELEASE);
  }
  return 0;
}

int vf_loader_init(void) {
  int cuInit(unsigned int flags);  // the trampoline
  return cuInit(0);
}
