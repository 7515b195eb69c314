#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

// Driver calls for Go, each one made after its context was made current on the calling thread. Handles travel as integers, since Go gives no
// pointer to what is not Go's. Each gives a CUresult.

const char *vf_error_name(int code);  // NULL: the driver does not know it either

int vf_pci(int device, char *text, int bytes);
int vf_uuid(int device, unsigned char out[16]);
int vf_pool(int device, uintptr_t *pool);  // of the device's stream-ordered memory, set to keep what is freed; 0: it has none
int vf_pool_trim(uintptr_t ctx, uintptr_t pool);

// pooled says that the device has a pool; without one, memory is allocated and freed while everything waits.
int vf_alloc(uintptr_t ctx, uintptr_t stream, int pooled, uint64_t bytes, uint64_t *out);
int vf_free(uintptr_t ctx, uintptr_t stream, int pooled, uint64_t memory);

// Memory and events that other processes can open. handle gets 64 bytes.
int vf_alloc_shared(uintptr_t ctx, uint64_t bytes, uint64_t *out, unsigned char *handle);
int vf_free_shared(uintptr_t ctx, uint64_t memory);
int vf_shared_event(uintptr_t ctx, uintptr_t *out, unsigned char *handle);

int vf_alloc_host(uintptr_t ctx, uint64_t bytes, void **out);
int vf_free_host(uintptr_t ctx, void *memory);

// wait: the host's memory is pageable, so the copy must be done on return.
int vf_to_device(uintptr_t ctx, uintptr_t stream, uint64_t dst, const void *src, uint64_t bytes, int wait);
int vf_to_host(uintptr_t ctx, uintptr_t stream, void *dst, uint64_t src, uint64_t bytes, int wait);
int vf_copy(uintptr_t ctx, uintptr_t stream, uint64_t dst, uint64_t src, uint64_t bytes);
int vf_fill(uintptr_t ctx, uintptr_t stream, uint64_t dst, unsigned char value, uint64_t bytes);

int vf_synchronize(uintptr_t ctx, uintptr_t stream);
int vf_record(uintptr_t ctx, uintptr_t event, uintptr_t stream);
int vf_wait(uintptr_t ctx, uintptr_t stream, uintptr_t event);
int vf_await(uintptr_t ctx, uintptr_t event);
int vf_elapsed(uintptr_t ctx, uintptr_t from, uintptr_t to, float *ms);

// image is a CUBIN, or PTX that ends in a NUL. log gets what the compiler of PTX says.
int vf_load(uintptr_t ctx, const void *image, char *log, size_t log_bytes, uintptr_t *module);
enum { VF_MAX_PARAMETERS = 32 };  // as in driver.go

// sizes gets the size of each parameter in bytes. parameters gets their number, -1 where the driver cannot say.
int vf_prepare(uintptr_t ctx, uintptr_t function, uint32_t sizes[VF_MAX_PARAMETERS], int *parameters);
int vf_shared_memory(uintptr_t ctx, uintptr_t function, int bytes);

// ends has the word after the last one of each of count arguments.
int vf_launch(uintptr_t ctx, uintptr_t stream, uintptr_t function, unsigned grid, unsigned block, unsigned shared_bytes,
              const uint64_t *words, const int32_t *ends, int count);

