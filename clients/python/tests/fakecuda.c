// A driver of CUDA with two cards whose memory is files: a handle is the path of one. Each call is a line on stderr.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct { char path[64]; } Handle;
static __thread int depth;

#define CALL(...) do { fprintf(stderr, __VA_ARGS__); fputc('\n', stderr); } while (0)

int cuInit(unsigned flags) { CALL("init"); return flags; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGetUuid_v2(char *uuid, int device) { memset(uuid, device + 0xa0, 16); return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { CALL("retain %d", device); *context = (void *)(0x100000000l + device); return 0; }
int cuCtxPushCurrent_v2(void *context) { depth++; return context == (void *)0x100000001l ? 0 : 201; }
int cuCtxPopCurrent_v2(void **context) { depth--; *context = 0; return depth < 0; }
int cuCtxSynchronize(void) { CALL("synchronize"); return depth == 1 ? 0 : 201; }
int cuGetErrorName(int code, const char **name) { *name = code == 201 ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR_FAKE"; return 0; }
int cuIpcOpenMemHandle_v2(unsigned long long *base, Handle h, unsigned flags) {
  int f = open(h.path, O_RDONLY);
  struct stat s;
  if (depth != 1 || flags != 1 || f < 0 || fstat(f, &s) != 0) return 400;
  *base = (unsigned long long)mmap(0, s.st_size, PROT_READ, MAP_SHARED, f, 0);
  close(f);
  CALL("open");
  return 0;
}
int cuIpcCloseMemHandle(unsigned long long base) { CALL("close"); return depth != 1 || base < (1ull << 32); }
int cuIpcOpenEventHandle(void **event, Handle h) { CALL("event %s", h.path); *event = (void *)0x700000000l; return depth != 1; }
int cuEventSynchronize(void *event) { CALL("wait"); return event != (void *)0x700000000l; }
int cuEventDestroy_v2(void *event) { CALL("destroy"); return event != (void *)0x700000000l; }
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n) { memcpy(to, (void *)from, n); return depth != 1; }
