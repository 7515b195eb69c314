//go:build cuda && cgo && linux && (amd64 || arm64)

#include "calls.h"

#include <sched.h>
#include <string.h>
#include <time.h>

// IN makes ctx current or leaves the function. The context stays current on this thread: every call of this file sets its own.
#define IN(ctx)                                           \
  do {                                                    \
    CUresult entered = cuCtxSetCurrent((CUcontext)(ctx)); \
    if (entered) return entered;                          \
  } while (0)

// ON does the same for a call that takes a stream. 0 would be the driver's default stream, which waits for all others.
#define ON(ctx, stream)                               \
  do {                                                \
    if (!(stream)) return CUDA_ERROR_INVALID_HANDLE;  \
    IN(ctx);                                          \
  } while (0)

const char *vf_error_name(int code) {
  const char *name = NULL;
  return cuGetErrorName((CUresult)code, &name) ? NULL : name;
}

int vf_pci(int device, char *text, int bytes) { return cuDeviceGetPCIBusId(text, bytes, device); }

int vf_uuid(int device, unsigned char out[16]) {
  CUuuid uuid;
  CUresult r = cuDeviceGetUuid(&uuid, device);
  if (!r) memcpy(out, uuid.bytes, sizeof uuid.bytes);
  return r;
}

int vf_pool(int device, uintptr_t *pool) {
  *pool = 0;
  int supported = 0;
  CUresult r = cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device);
  if (r || !supported) return CUDA_SUCCESS;  // a driver of before the pools does not know the question either
  CUmemoryPool p;
  r = cuDeviceGetDefaultMemPool(&p, device);
  if (r) return r;
  cuuint64_t all = UINT64_MAX;
  r = cuMemPoolSetAttribute(p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all);
  *pool = (uintptr_t)p;
  return r;
}

int vf_pool_trim(uintptr_t ctx, uintptr_t pool) {
  IN(ctx);
  return cuMemPoolTrimTo((CUmemoryPool)pool, 0);
}

int vf_alloc(uintptr_t ctx, uintptr_t stream, int pooled, uint64_t bytes, uint64_t *out) {
  ON(ctx, stream);
  CUdeviceptr p = 0;
  CUresult r = pooled ? cuMemAllocAsync(&p, bytes, (CUstream)stream) : cuMemAlloc(&p, bytes);
  *out = p;
  return r;
}

int vf_free(uintptr_t ctx, uintptr_t stream, int pooled, uint64_t memory) {
  ON(ctx, stream);
  if (pooled) return cuMemFreeAsync(memory, (CUstream)stream);
  // The error of work that failed before is what this call tells too.
  CUresult waited = cuStreamSynchronize((CUstream)stream);
  CUresult r = cuMemFree(memory);
  return waited ? waited : r;
}

int vf_alloc_shared(uintptr_t ctx, uint64_t bytes, uint64_t *out, unsigned char *handle) {
  IN(ctx);
  CUdeviceptr p = 0;
  CUipcMemHandle h;
  CUresult r = cuMemAlloc(&p, bytes);
  if (r) return r;
  r = cuIpcGetMemHandle(&h, p);
  if (r) {
    cuMemFree(p);
    return r;
  }
  memcpy(handle, &h, sizeof h);
  *out = p;
  return r;
}

int vf_free_shared(uintptr_t ctx, uint64_t memory) {
  IN(ctx);
  return cuMemFree(memory);
}

int vf_shared_event(uintptr_t ctx, uintptr_t *out, unsigned char *handle) {
  IN(ctx);
  CUevent e = NULL;
  CUipcEventHandle h;
  CUresult r = cuEventCreate(&e, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS);
  if (r) return r;
  r = cuIpcGetEventHandle(&h, e);
  if (r) {
    cuEventDestroy(e);
    return r;
  }
  memcpy(handle, &h, sizeof h);
  *out = (uintptr_t)e;
  return r;
}

int vf_alloc_host(uintptr_t ctx, uint64_t bytes, void **out) {
  IN(ctx);
  return cuMemHostAlloc(out, bytes, CU_MEMHOSTALLOC_PORTABLE);
}

int vf_free_host(uintptr_t ctx, void *memory) {
  IN(ctx);
  return cuMemFreeHost(memory);
}

int vf_to_device(uintptr_t ctx, uintptr_t stream, uint64_t dst, const void *src, uint64_t bytes, int wait) {
  ON(ctx, stream);
  CUstream s = (CUstream)stream;
  CUresult r = cuMemcpyHtoDAsync(dst, src, bytes, s);
  return r || !wait ? r : cuStreamSynchronize(s);
}

int vf_to_host(uintptr_t ctx, uintptr_t stream, void *dst, uint64_t src, uint64_t bytes, int wait) {
  ON(ctx, stream);
  CUstream s = (CUstream)stream;
  CUresult r = cuMemcpyDtoHAsync(dst, src, bytes, s);
  return r || !wait ? r : cuStreamSynchronize(s);
}

int vf_copy(uintptr_t ctx, uintptr_t stream, uint64_t dst, uint64_t src, uint64_t bytes) {
  ON(ctx, stream);
  return cuMemcpyDtoDAsync(dst, src, bytes, (CUstream)stream);
}

int vf_fill(uintptr_t ctx, uintptr_t stream, uint64_t dst, unsigned char value, uint64_t bytes) {
  ON(ctx, stream);
  return cuMemsetD8Async(dst, value, bytes, (CUstream)stream);
}

// Short waits yield; in longer ones the thread sleeps, for 20 µs and what the kernel's timers add, about 50. The driver's own wait would keep a processor busy all the time,
// which those who read files and copy columns have use for.
int vf_synchronize(uintptr_t ctx, uintptr_t stream) {
  ON(ctx, stream);
  const struct timespec nap = {0, 20000};
  CUresult r;
  for (int asked = 0; (r = cuStreamQuery((CUstream)stream)) == CUDA_ERROR_NOT_READY; asked++) {
    if (asked < 16)
      sched_yield();
    else
      nanosleep(&nap, NULL);
  }
  return r;
}

int vf_record(uintptr_t ctx, uintptr_t event, uintptr_t stream) {
  ON(ctx, stream);
  return cuEventRecord((CUevent)event, (CUstream)stream);
}

int vf_wait(uintptr_t ctx, uintptr_t stream, uintptr_t event) {
  ON(ctx, stream);
  return cuStreamWaitEvent((CUstream)stream, (CUevent)event, CU_EVENT_WAIT_DEFAULT);
}

int vf_await(uintptr_t ctx, uintptr_t event) {
  IN(ctx);
  return cuEventSynchronize((CUevent)event);
}

int vf_elapsed(uintptr_t ctx, uintptr_t from, uintptr_t to, float *ms) {
  IN(ctx);
  return cuEventElapsedTime(ms, (CUevent)from, (CUevent)to);
}

int vf_load(uintptr_t ctx, const void *image, char *log, size_t log_bytes, uintptr_t *module) {
  IN(ctx);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)log_bytes};
  return cuModuleLoadDataEx((CUmodule *)module, image, 2, options, values);
}

int vf_prepare(uintptr_t ctx, uintptr_t function, uint32_t sizes[VF_MAX_PARAMETERS], int *parameters) {
  IN(ctx);
  CUfunction f = (CUfunction)function;
  // Kernels are loaded lazily by default, and the first launch of one may then wait for all other work. A driver that lacks the call
  // (before CUDA 12.4) loads at the first launch.
  CUresult r = cuFuncLoad(f);
  if (r && r != CUDA_ERROR_NOT_SUPPORTED) return r;
  size_t offset, bytes;
  int n = 0;
  while (n < VF_MAX_PARAMETERS && (r = cuFuncGetParamInfo(f, (size_t)n, &offset, &bytes)) == CUDA_SUCCESS) sizes[n++] = (uint32_t)bytes;
  // A launch would read addresses beyond those of VF_MAX_PARAMETERS arguments.
  if (n == VF_MAX_PARAMETERS && cuFuncGetParamInfo(f, (size_t)n, &offset, &bytes) == CUDA_SUCCESS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *parameters = r == CUDA_ERROR_NOT_SUPPORTED ? -1 : n;
  return CUDA_SUCCESS;
}

int vf_shared_memory(uintptr_t ctx, uintptr_t function, int bytes) {
  IN(ctx);
  return cuFuncSetAttribute((CUfunction)function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

int vf_launch(uintptr_t ctx, uintptr_t stream, uintptr_t function, unsigned grid, unsigned block, unsigned shared_bytes,
              const uint64_t *words, const int32_t *ends, int count) {
  ON(ctx, stream);
  void *at[VF_MAX_PARAMETERS];
  if (count > VF_MAX_PARAMETERS) return CUDA_ERROR_INVALID_VALUE;
  // Both processors are little-endian: a narrower parameter is read from the low bytes of its word.
  for (int i = 0; i < count; i++) at[i] = (void *)&words[i > 0 ? ends[i - 1] : 0];
  return cuLaunchKernel((CUfunction)function, grid, 1, 1, block, 1, 1, shared_bytes, (CUstream)stream, at, NULL);
}
