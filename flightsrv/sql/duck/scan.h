// What the scan in C and its owner in Go share, and the parts of DuckDB's C API that take Arrow structures: the Go bindings declare those only together
// with another version of Arrow than this server's.
#ifndef VIBEFLIGHT_SCAN_H
#define VIBEFLIGHT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

// The Arrow C data interface, https://arrow.apache.org/docs/format/CDataInterface.html.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif // ARROW_C_DATA_INTERFACE

void *duckdb_to_arrow_schema(void *options, void **types, const char **names, uint64_t columns, struct ArrowSchema *out);
void *duckdb_data_chunk_to_arrow(void *options, void *chunk, struct ArrowArray *out);
void *duckdb_schema_from_arrow(void *connection, struct ArrowSchema *schema, void **out);
void *duckdb_data_chunk_from_arrow(void *connection, struct ArrowArray *array, void *converted, void **out);
void duckdb_destroy_arrow_converted_schema(void **converted);
void duckdb_destroy_data_chunk(void **chunk);

// A batch, and how much of it was taken.
typedef struct vf_batch {
  struct ArrowArray array; // of the whole batch: a struct whose children are the columns
  int64_t rows;
  bool lasting;    // its memory stays until the rows of the statement are closed, with or without the array
  int64_t next;    // first row that was not taken yet; runs past rows
  int64_t slices;  // those that DuckDB has not let go of, not yet taken ones included, once for each column; at 0 the array is released
  int64_t holders; // the scan, and the slices together; at 0 this is freed
} vf_batch;

// One run of the table function. DuckDB's threads share it without a lock: they take the slices of the first batch that has some left, and when there is
// none, the next batch is fetched.
typedef struct vf_scan {
  uintptr_t owner;   // in Go
  void *connection;  // whose settings conversions use
  int64_t columns;   // of a batch, and of DuckDB's chunk
  void **converted;  // their types, a schema of one column each
  bool *wkb;         // which of them are geometries
  int64_t batches;
  int64_t fetched;   // batches before this one are fetched, or are being fetched
  int64_t first;     // batches before this one are used up
  vf_batch **open;   // NULL while it is being fetched
} vf_scan;

vf_scan *vf_scan_new(uintptr_t owner, void *connection, int64_t columns, int64_t batches);

// vf_register makes the table function vibeflight_scan(key) known.
bool vf_register(void *connection, uintptr_t instance);

// Go's handles, which are numbers, where DuckDB has room for a pointer.
uintptr_t vf_bind_instance(void *info);
void vf_bind_set_table(void *info, uintptr_t table);
uintptr_t vf_init_table(void *info);
void vf_init_set_scan(void *info, vf_scan *scan);

// Of Go: what the function gives is found, a run of it begins, a batch is wanted, a handle is done with.
void vfBind(void *info);
void vfInit(void *info);
bool vfFetch(uintptr_t owner, int64_t batch, vf_batch *out);
void vfDone(uintptr_t handle);

#endif // VIBEFLIGHT_SCAN_H
