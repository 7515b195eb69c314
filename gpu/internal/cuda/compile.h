#include <stddef.h>

// One loaded NVRTC library.
struct vf_nvrtc {
  void *library;
  const struct vf_nvrtc_calls *calls;
  int major, minor;
  char path[1024];
};

// vf_nvrtc_open loads the library that the dynamic loader finds by name. NULL: reason says why. It is never unloaded.
struct vf_nvrtc *vf_nvrtc_open(const char *name, char *reason, size_t reason_bytes);

struct vf_nvrtc_source {
  const char *name, *text;
  int headers;
  const char *const *header_names, *const *header_texts;
  int options;
  const char *const *option;
};

// What a compilation gives. Memory is the caller's, to be given to free.
struct vf_nvrtc_result {
  int code;          // nvrtcResult
  const char *call;  // that gave it
  char *image, *log;
  size_t image_bytes;
};

// vf_nvrtc_compile makes a CUBIN or PTX. It may run on several threads at once.
struct vf_nvrtc_result vf_nvrtc_compile(const struct vf_nvrtc *lib, const struct vf_nvrtc_source *source, int cubin);

const char *vf_nvrtc_error_name(const struct vf_nvrtc *lib, int code);
