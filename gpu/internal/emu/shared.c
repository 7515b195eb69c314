//go:build cgo && linux

#define _GNU_SOURCE
#include "shared.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct search {
  uintptr_t address; // somewhere in the object
  void *tls;         // of this OS thread
  size_t bytes;
};

static int visit(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  struct search *s = arg;
  bool here = false;
  size_t tls = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && s->address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz) here = true;
    if (p->p_type == PT_TLS) tls = p->p_memsz;
  }
  if (!here) return 0;
  s->tls = info->dlpi_tls_data;
  s->bytes = tls;
  return 1;
}

void *shared_of(void (*enter)(struct cudaemu_block *), size_t *bytes) {
  struct search s = {.address = (uintptr_t)enter};
  dl_iterate_phdr(visit, &s);
  *bytes = s.tls != NULL ? s.bytes : 0;
  return s.tls;
}

static int fill(int fd, const char *image, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = write(fd, image, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return -1;
    image += n;
    bytes -= (size_t)n;
  }
  return 0;
}

int emu_load(emu_module *m, const void *object, size_t bytes, char *error, size_t error_bytes) {
  memset(m, 0, sizeof *m);
  m->fd = memfd_create("kernel.so", MFD_CLOEXEC);
  if (m->fd < 0 || fill(m->fd, object, bytes) != 0) {
    snprintf(error, error_bytes, "object in memory: %s", strerror(errno));
    emu_unload(m);
    return -1;
  }
  // The loader takes a library that it has under the same name or the same inode for the same one. Each object has its own of both.
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", m->fd);
  m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (m->handle != NULL) m->enter = (void (*)(struct cudaemu_block *))dlsym(m->handle, "cudaemu_enter");
  if (m->enter == NULL) {
    snprintf(error, error_bytes, "%s", dlerror());
    emu_unload(m);
    return -1;
  }
  return 0;
}

void emu_unload(emu_module *m) {
  if (m->handle != NULL) dlclose(m->handle);
  if (m->fd >= 0) close(m->fd);
  m->handle = NULL;
  m->fd = -1;
}

void (*emu_find(const emu_module *m, const char *name))(void) { return (void (*)(void))dlsym(m->handle, name); }

const unsigned *emu_sizes(void (*function)(void)) { return ((const unsigned *(*)(void))function)(); }

int emu_int(const emu_module *m, const char *name) {
  const int *found = (const int *)dlsym(m->handle, name);
  return found ? *found : 0;
}
