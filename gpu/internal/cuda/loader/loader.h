#include <stddef.h>

// vf_loader_bind loads libcuda.so.1 and points the slots at its entry points. Not 0: no library, and reason says why.
// It must not run twice at once.
int vf_loader_bind(char *reason, size_t reason_bytes);

// vf_loader_init calls the driver's own cuInit, after a bind.
int vf_loader_init(void);
