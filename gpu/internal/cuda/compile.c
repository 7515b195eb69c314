//go:build cuda && cgo && linux && (amd64 || arm64)

#define _GNU_SOURCE  // dladdr
#include "compile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// What is used of nvrtc.h, which comes only with NVRTC itself: NVIDIA's package of the library is 25 times that of the driver's header.
// The functions of CUBINs are there since 11.2, and none of these has changed since.
typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
enum { NVRTC_ERROR_OUT_OF_MEMORY = 1 };

#define CALLS(X)                                                                                                     \
  X(nvrtcVersion, (int *major, int *minor))                                                                          \
  X(nvrtcCreateProgram, (nvrtcProgram *, const char *text, const char *name, int headers, const char *const *texts, \
                         const char *const *names))                                                                  \
  X(nvrtcCompileProgram, (nvrtcProgram, int options, const char *const *option))                                     \
  X(nvrtcGetProgramLogSize, (nvrtcProgram, size_t *bytes))                                                           \
  X(nvrtcGetProgramLog, (nvrtcProgram, char *log))                                                                   \
  X(nvrtcGetPTXSize, (nvrtcProgram, size_t *bytes))                                                                  \
  X(nvrtcGetPTX, (nvrtcProgram, char *image))                                                                        \
  X(nvrtcGetCUBINSize, (nvrtcProgram, size_t *bytes))                                                                \
  X(nvrtcGetCUBIN, (nvrtcProgram, char *image))                                                                      \
  X(nvrtcDestroyProgram, (nvrtcProgram *))

struct vf_nvrtc_calls {
#define DECLARE(name, parameters) nvrtcResult(*name) parameters;
  CALLS(DECLARE)
  const char *(*nvrtcGetErrorString)(nvrtcResult);
};

// last copies what the dynamic loader says, before its next call overwrites it.
static void last(char *reason, size_t bytes) {
  const char *text = dlerror();
  snprintf(reason, bytes, "%s", text ? text : "no reason given");
}

struct vf_nvrtc *vf_nvrtc_open(const char *name, char *reason, size_t reason_bytes) {
  struct vf_nvrtc *lib = calloc(1, sizeof *lib);
  struct vf_nvrtc_calls *calls = calloc(1, sizeof *calls);
  if (!lib || !calls) {
    snprintf(reason, reason_bytes, "out of memory");
    goto refused;
  }
  lib->calls = calls;
  lib->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!lib->library) {
    last(reason, reason_bytes);
    goto refused;
  }
#define RESOLVE(name, parameters)                                             \
  if (!(calls->name = (__typeof__(calls->name))dlsym(lib->library, #name))) { \
    last(reason, reason_bytes);                                               \
    goto refused;                                                             \
  }
  CALLS(RESOLVE)
  RESOLVE(nvrtcGetErrorString, )
  if (calls->nvrtcVersion(&lib->major, &lib->minor)) {
    snprintf(reason, reason_bytes, "%s: no version", name);
    goto refused;
  }
  Dl_info found;
  if (dladdr((void *)calls->nvrtcVersion, &found) && found.dli_fname)
    snprintf(lib->path, sizeof lib->path, "%s", found.dli_fname);
  return lib;

refused:
  if (lib && lib->library) dlclose(lib->library);
  free(calls);
  free(lib);
  return NULL;
}

const char *vf_nvrtc_error_name(const struct vf_nvrtc *lib, int code) {
  return lib->calls->nvrtcGetErrorString((nvrtcResult)code);
}

// TRY makes a call that ends the compilation unless it succeeds.
#define TRY(function, ...)                           \
  do {                                               \
    out.call = #function;                            \
    out.code = lib->calls->function(__VA_ARGS__);    \
    if (out.code) goto done;                         \
  } while (0)

struct vf_nvrtc_result vf_nvrtc_compile(const struct vf_nvrtc *lib, const struct vf_nvrtc_source *source, int cubin) {
  struct vf_nvrtc_result out = {0};
  nvrtcProgram program = NULL;
  TRY(nvrtcCreateProgram, &program, source->text, source->name, source->headers, source->header_texts,
      source->header_names);
  nvrtcResult compiled = lib->calls->nvrtcCompileProgram(program, source->options, source->option);

  size_t log_bytes = 0;
  if (!lib->calls->nvrtcGetProgramLogSize(program, &log_bytes) && log_bytes && (out.log = calloc(log_bytes + 1, 1)))
    lib->calls->nvrtcGetProgramLog(program, out.log);
  if (compiled) {
    out.call = "nvrtcCompileProgram";
    out.code = compiled;
    goto done;
  }
  if (cubin)
    TRY(nvrtcGetCUBINSize, program, &out.image_bytes);
  else
    TRY(nvrtcGetPTXSize, program, &out.image_bytes);
  out.image = malloc(out.image_bytes);
  if (!out.image) {
    out.call = "malloc";
    out.code = NVRTC_ERROR_OUT_OF_MEMORY;
    goto done;
  }
  if (cubin)
    TRY(nvrtcGetCUBIN, program, out.image);
  else
    TRY(nvrtcGetPTX, program, out.image);

done:
  if (program) lib->calls->nvrtcDestroyProgram(&program);
  return out;
}
