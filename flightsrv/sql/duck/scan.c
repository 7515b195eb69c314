//go:build cgo

// The table function's inner loop. DuckDB works on two thousand rows for some microseconds, so nothing here calls Go but the fetching of a batch.
#include "scan.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Of DuckDB's C API.
typedef void (*callback)(void *);
void *duckdb_create_table_function(void);
void duckdb_destroy_table_function(void **function);
void duckdb_table_function_set_name(void *function, const char *name);
void duckdb_table_function_add_parameter(void *function, void *type);
void duckdb_table_function_set_extra_info(void *function, void *extra, callback done);
void duckdb_table_function_set_bind(void *function, callback bind);
void duckdb_table_function_set_init(void *function, callback init);
void duckdb_table_function_set_function(void *function, void (*next)(void *info, void *chunk));
void duckdb_table_function_supports_projection_pushdown(void *function, bool pushdown);
int duckdb_register_table_function(void *connection, void *function);
void *duckdb_create_logical_type(int type);
void duckdb_destroy_logical_type(void **type);
void *duckdb_bind_get_extra_info(void *info);
void duckdb_bind_set_bind_data(void *info, void *data, callback done);
void *duckdb_init_get_bind_data(void *info);
void duckdb_init_set_init_data(void *info, void *data, callback done);
void *duckdb_function_get_init_data(void *info);
void duckdb_function_set_error(void *info, const char *error);
void *duckdb_data_chunk_get_vector(void *chunk, uint64_t column);
void duckdb_data_chunk_set_size(void *chunk, uint64_t size);
void duckdb_vector_reference_vector(void *to, void *from);
void *duckdb_vector_get_data(void *vector);
void duckdb_vector_ensure_validity_writable(void *vector);
uint64_t *duckdb_vector_get_validity(void *vector);
const char *duckdb_error_data_message(void *error);
bool duckdb_error_data_has_error(void *error);
void duckdb_destroy_error_data(void **error);

enum {
  VECTOR_SIZE = 2048, // DuckDB's STANDARD_VECTOR_SIZE
  TYPE_VARCHAR = 17,  // DUCKDB_TYPE_VARCHAR
};

static void done(void *handle) { vfDone((uintptr_t)handle); }

uintptr_t vf_bind_instance(void *info) { return (uintptr_t)duckdb_bind_get_extra_info(info); }

void vf_bind_set_table(void *info, uintptr_t table) { duckdb_bind_set_bind_data(info, (void *)table, done); }

uintptr_t vf_init_table(void *info) { return (uintptr_t)duckdb_init_get_bind_data(info); }

vf_scan *vf_scan_new(uintptr_t owner, void *connection, int64_t columns, int64_t batches) {
  vf_scan *s = calloc(1, sizeof *s);
  s->owner = owner;
  s->connection = connection;
  s->columns = columns;
  s->batches = batches;
  s->converted = calloc((size_t)columns + 1, sizeof *s->converted);
  s->wkb = calloc((size_t)columns + 1, sizeof *s->wkb);
  s->open = calloc((size_t)batches + 1, sizeof *s->open);
  return s;
}

static void leave(vf_batch *b) {
  if (__atomic_sub_fetch(&b->holders, 1, __ATOMIC_ACQ_REL) == 0) free(b);
}

// drop gives up n slices of a batch. The array goes with the last one.
static void drop(vf_batch *b, int64_t n) {
  if (n == 0 || __atomic_sub_fetch(&b->slices, n, __ATOMIC_ACQ_REL) > 0) return;
  if (b->array.release) b->array.release(&b->array);
  leave(b);
}

static int64_t count_slices(int64_t rows) { return (rows + VECTOR_SIZE - 1) / VECTOR_SIZE; }

static void free_scan(void *data) {
  vf_scan *s = data;
  for (int64_t i = 0; i < s->batches; i++) {
    vf_batch *b = s->open[i];
    if (!b) continue;
    // A statement that ended early has left slices that were not taken.
    int64_t taken = b->next < b->rows ? b->next : b->rows;
    drop(b, (count_slices(b->rows) - count_slices(taken)) * s->columns);
    leave(b);
  }
  for (int64_t i = 0; i < s->columns; i++) {
    if (s->converted[i]) duckdb_destroy_arrow_converted_schema(&s->converted[i]);
  }
  vfDone(s->owner);
  free(s->converted);
  free(s->wkb);
  free(s->open);
  free(s);
}

void vf_init_set_scan(void *info, vf_scan *s) { duckdb_init_set_init_data(info, s, free_scan); }

// fetch has Go give batch i, and shows it to the other threads.
static bool fetch(vf_scan *s, int64_t i) {
  vf_batch *b = calloc(1, sizeof *b);
  if (!vfFetch(s->owner, i, b)) {
    free(b);
    return false;
  }
  b->holders = 2;
  b->slices = count_slices(b->rows) * s->columns + 1;
  drop(b, 1); // the last one, where there are no rows or no columns
  __atomic_store_n(&s->open[i], b, __ATOMIC_RELEASE);
  return true;
}

// take finds the next slice: at most VECTOR_SIZE rows from *lo on of the batch it gives. NULL is the end, or *failed.
static vf_batch *take(vf_scan *s, int64_t *lo, bool *failed) {
  for (;;) {
    int64_t n = __atomic_load_n(&s->fetched, __ATOMIC_ACQUIRE);
    if (n > s->batches) n = s->batches;
    for (int64_t i = __atomic_load_n(&s->first, __ATOMIC_RELAXED); i < n; i++) {
      vf_batch *b = __atomic_load_n(&s->open[i], __ATOMIC_ACQUIRE);
      if (!b) continue; // another thread is fetching it, and will take of it
      *lo = __atomic_fetch_add(&b->next, VECTOR_SIZE, __ATOMIC_RELAXED);
      if (*lo < b->rows) return b;
      int64_t used = i;
      __atomic_compare_exchange_n(&s->first, &used, i + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    int64_t i = __atomic_fetch_add(&s->fetched, 1, __ATOMIC_ACQ_REL);
    if (i >= s->batches) return NULL;
    if (!fetch(s, i)) {
      *failed = true;
      return NULL;
    }
  }
}

// A slice of one column, as the only column of a batch: DuckDB's conversion hands a batch's memory to the vector of its first column alone, so each column
// has to come as a batch of its own.
typedef struct slice {
  struct ArrowArray column;
  struct ArrowArray *children[1];
  const void *buffers[1];
  vf_batch *batch;
} slice;

static void release_column(struct ArrowArray *a) { a->release = NULL; }

static void release_slice(struct ArrowArray *a) {
  slice *p = a->private_data;
  a->release = NULL;
  drop(p->batch, 1);
  free(p);
}

// convert makes vector the n rows from lo on of a batch's column. Values of fixed width stay where they are.
static bool convert(vf_scan *s, vf_batch *b, int64_t column, int64_t lo, int64_t n, void *vector, void *info) {
  slice *p = calloc(1, sizeof *p);
  p->batch = b;
  p->column = *b->array.children[column];
  p->column.offset += lo;
  p->column.length = n;
  if (p->column.null_count != 0) p->column.null_count = -1; // not counted for this slice
  p->column.release = release_column;
  p->children[0] = &p->column;
  struct ArrowArray top = {
      .length = n,
      .n_buffers = 1,
      .n_children = 1,
      .buffers = p->buffers,
      .children = p->children,
      .release = release_slice,
      .private_data = p,
  };
  void *chunk = NULL;
  void *err = duckdb_data_chunk_from_arrow(s->connection, &top, s->converted[column], &chunk);
  bool ok = !err || !duckdb_error_data_has_error(err);
  if (!ok) duckdb_function_set_error(info, duckdb_error_data_message(err));
  if (err) duckdb_destroy_error_data(&err);
  if (ok) duckdb_vector_reference_vector(vector, duckdb_data_chunk_get_vector(chunk, 0));
  if (chunk) duckdb_destroy_data_chunk(&chunk);
  if (top.release) top.release(&top);
  return ok;
}

// DuckDB's string_t. A text of up to INLINE bytes begins where first is and is followed by zeros; else there are its first four bytes, and where it is.
typedef struct text {
  uint32_t size;
  char first[4];
  const char *at;
} text;

enum { INLINE = 12 };

// refer makes vector n geometries that stay where they are, from row lo of a on. DuckDB has geometries as WKB too, of the kind that geoarrow writes: but when it
// converts them it reads each to its end, and copies it.
static void refer(const struct ArrowArray *a, int64_t lo, int64_t n, void *vector) {
  const uint8_t *valid = a->null_count == 0 ? NULL : a->buffers[0];
  const int32_t *ends = (const int32_t *)a->buffers[1] + a->offset + lo;
  const char *wkb = a->buffers[2];
  text *out = duckdb_vector_get_data(vector);
  for (int64_t i = 0; i < n; i++) {
    text t = {.size = (uint32_t)(ends[i + 1] - ends[i])};
    const char *from = wkb + ends[i];
    if (t.size > INLINE) {
      memcpy(t.first, from, sizeof t.first);
      t.at = from;
    } else if (t.size > 0) {
      memcpy((char *)&t + offsetof(text, first), from, t.size);
    }
    out[i] = t;
  }
  if (!valid) return;
  duckdb_vector_ensure_validity_writable(vector);
  uint64_t *known = duckdb_vector_get_validity(vector);
  for (int64_t i = 0; i < n; i++) {
    int64_t row = a->offset + lo + i;
    if (!(valid[row / 8] >> (row % 8) & 1)) known[i / 64] &= ~(UINT64_C(1) << (i % 64));
  }
}

// fill makes vector the n rows from lo on of a batch's column.
static bool fill(vf_scan *s, vf_batch *b, int64_t column, int64_t lo, int64_t n, void *vector, void *info) {
  if (!b->lasting || !s->wkb[column]) return convert(s, b, column, lo, n, vector, info);
  refer(b->array.children[column], lo, n, vector);
  drop(b, 1);
  return true;
}

// next fills chunk with the next slice, or leaves it empty at the end.
static void next(void *info, void *chunk) {
  vf_scan *s = duckdb_function_get_init_data(info);
  int64_t lo = 0;
  bool failed = false;
  vf_batch *b = take(s, &lo, &failed);
  if (!b) {
    if (failed) duckdb_function_set_error(info, "a batch could not be read");
    duckdb_data_chunk_set_size(chunk, 0);
    return;
  }
  int64_t n = b->rows - lo < VECTOR_SIZE ? b->rows - lo : VECTOR_SIZE;
  for (int64_t i = 0; i < s->columns; i++) {
    if (!fill(s, b, i, lo, n, duckdb_data_chunk_get_vector(chunk, (uint64_t)i), info)) {
      drop(b, s->columns - i - 1);
      return;
    }
  }
  duckdb_data_chunk_set_size(chunk, (uint64_t)n);
}

bool vf_register(void *connection, uintptr_t instance) {
  void *varchar = duckdb_create_logical_type(TYPE_VARCHAR);
  void *f = duckdb_create_table_function();
  duckdb_table_function_set_name(f, "vibeflight_scan");
  duckdb_table_function_add_parameter(f, varchar);
  duckdb_table_function_supports_projection_pushdown(f, true);
  duckdb_table_function_set_extra_info(f, (void *)instance, done);
  duckdb_table_function_set_bind(f, vfBind);
  duckdb_table_function_set_init(f, vfInit);
  duckdb_table_function_set_function(f, next);
  bool ok = duckdb_register_table_function(connection, f) == 0;
  duckdb_destroy_table_function(&f);
  duckdb_destroy_logical_type(&varchar);
  return ok;
}
