//go:build cgo && linux && (amd64 || arm64)

package duck

/*
#include "scan.h"
#include <stdlib.h>
#include <time.h>

static void pause_for(int64_t ns) {
  struct timespec t = {.tv_nsec = (long)ns};
  nanosleep(&t, NULL);
}
*/
import "C"

import (
	"context"
	"errors"
	"io"
	"math"
	"time"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// Rows is the result of a query while it runs.
type Rows struct {
	statement *Statement
	call      *call
	pending   duckdb.PendingResult
	result    duckdb.Result
	schema    *arrow.Schema
	given     *arrow.Schema   // of DuckDB's own records
	builders  []columnBuilder // of the next record; nil: DuckDB converts each of its chunks
	ended     bool
	stop      func() // ends the watch over Query's context
}

// Records are joined from DuckDB's chunks of 2,048 rows up to one of these limits.
const (
	recordRows  = 64 << 10
	recordBytes = 8 << 20
)

func (r *Rows) start(ctx context.Context) (err error) {
	c := r.statement.conn
	if duckdb.PendingPreparedStreaming(r.statement.prepared, &r.pending) == duckdb.StateError {
		return parseError(duckdb.PendingError(r.pending))
	}
	// Not earlier: a new query resets an interrupt that came before it.
	r.stop = c.interruptAtEnd(ctx)
	if err := r.await(); err != nil {
		return err
	}
	if duckdb.ExecutePending(r.pending, &r.result) == duckdb.StateError {
		return parseError(duckdb.ResultError(&r.result))
	}
	var names []string
	var types []duckdb.LogicalType
	defer func() { destroyTypes(types) }()
	for i := range duckdb.ColumnCount(&r.result) {
		names = append(names, duckdb.ColumnName(&r.result, i))
		types = append(types, duckdb.ColumnLogicalType(&r.result, i))
	}
	if r.schema, r.given, err = c.schema(types, names, r.statement.huge); err != nil {
		return err
	}
	r.builders = columnBuilders(types, r.schema)
	return nil
}

// The first and the longest pause while waiting for DuckDB's threads. The system's clock measures
// them: time.Sleep takes a millisecond for each if the process is otherwise idle.
const (
	minPause = 20 * time.Microsecond
	maxPause = 200 * time.Microsecond
)

// await helps with the work until the first rows exist. DuckDB's own function for it keeps a core
// busy while other threads have all of the work. That is the case if the order of rows matters,
// which takes a single thread.
func (r *Rows) await() error {
	pause := minPause
	for {
		switch duckdb.PendingExecuteTask(r.pending) {
		case duckdb.PendingStateResultReady:
			return nil
		case duckdb.PendingStateError:
			return parseError(duckdb.PendingError(r.pending))
		case duckdb.PendingStateNoTasksAvailable:
			C.pause_for(C.int64_t(pause))
			pause = min(2*pause, maxPause)
		default:
			pause = minPause
		}
	}
}

// Schema returns the columns of the result.
func (r *Rows) Schema() *arrow.Schema { return r.schema }

// Ended reports whether there are known to be no more records.
func (r *Rows) Ended() bool { return r.ended }

// Next returns the next record, of about 65,536 rows or 8 MiB, or of one chunk of DuckDB if 2,048
// rows are larger; io.EOF after the last one. The end of ctx ends the query. The caller releases
// the record.
func (r *Rows) Next(ctx context.Context) (arrow.Record, error) {
	if r.ended {
		return nil, io.EOF
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	stop := r.statement.conn.interruptAtEnd(ctx)
	defer stop()
	rec, err := r.record()
	if err == nil || errors.Is(err, io.EOF) {
		return rec, err
	}
	r.ended = true
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return nil, r.statement.conn.error(r.call, err)
}

func (r *Rows) record() (arrow.Record, error) {
	if r.builders != nil {
		return r.build()
	}
	return r.convertedRecord()
}

// convertedRecord makes the next record of chunks that DuckDB converts.
func (r *Rows) convertedRecord() (arrow.Record, error) {
	var parts []arrow.Record
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	var rows, bytes int64
	for rows < recordRows && bytes < recordBytes {
		part, err := r.part()
		if err != nil {
			return nil, err
		}
		if part == nil {
			r.ended = true
			break
		}
		parts = append(parts, part)
		rows += part.NumRows()
		bytes += sizeOf(part)
	}
	if len(parts) == 0 {
		return nil, io.EOF
	}
	return join(r.schema, parts, rows)
}

// chunk returns DuckDB's next chunk, which the caller destroys; its pointer is nil at the end.
func (r *Rows) chunk() (duckdb.DataChunk, error) {
	chunk := duckdb.FetchChunk(r.result)
	if chunk.Ptr == nil {
		if text := duckdb.ResultError(&r.result); text != "" {
			return chunk, parseError(text)
		}
	}
	return chunk, nil
}

// part returns DuckDB's next chunk as a record; nil at the end.
func (r *Rows) part() (arrow.Record, error) {
	chunk, err := r.chunk()
	if err != nil || chunk.Ptr == nil {
		return nil, err
	}
	defer duckdb.DestroyDataChunk(&chunk)
	if err := r.checkIntervals(chunk); err != nil {
		return nil, err
	}
	a := (*C.struct_ArrowArray)(C.calloc(1, C.sizeof_struct_ArrowArray))
	defer C.free(unsafe.Pointer(a))
	if err := takeError(C.duckdb_data_chunk_to_arrow(r.statement.conn.options.Ptr, chunk.Ptr, a)); err != nil {
		return nil, err
	}
	rec, err := cdata.ImportCRecordBatchWithSchema(arrayOf(a), r.given)
	if err != nil || r.schema.Equal(r.given) {
		return rec, err
	}
	return recordAs(rec, r.schema)
}

// checkIntervals finds the intervals whose microseconds do not fit Arrow's nanoseconds. DuckDB
// would wrap them around.
func (r *Rows) checkIntervals(chunk duckdb.DataChunk) error {
	const limit = math.MaxInt64 / 1000
	for i, f := range r.schema.Fields() {
		if f.Type.ID() != arrow.INTERVAL_MONTH_DAY_NANO {
			continue
		}
		vector := duckdb.DataChunkGetVector(chunk, duckdb.IdxT(i))
		valid := duckdb.VectorGetValidity(vector)
		values := unsafe.Slice((*duckdb.Interval)(duckdb.VectorGetData(vector)), duckdb.DataChunkGetSize(chunk))
		for k := range values {
			if _, _, us := duckdb.IntervalMembers(&values[k]); (us > limit || us < -limit) &&
				duckdb.ValidityRowIsValid(valid, duckdb.IdxT(k)) {
				return badValue("column %s: an interval of %d microseconds is out of range for Arrow, which counts "+
					"nanoseconds", f.Name, us)
			}
		}
	}
	return nil
}

// Close ends the query. Records of Next stay valid.
func (r *Rows) Close() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
	duckdb.DestroyResult(&r.result)
	duckdb.DestroyPending(&r.pending)
	r.ended = true
	if c := r.statement.conn; c.rows == r {
		c.rows = nil
		c.discardQuery()
		c.end()
	}
}

func sizeOf(rec arrow.Record) (n int64) {
	for _, c := range rec.Columns() {
		n += int64(c.Data().SizeInBytes())
	}
	return n
}

// join makes one record of several, or of one. Their memory is DuckDB's, and a text in it would not
// outlive the record.
func join(schema *arrow.Schema, parts []arrow.Record, rows int64) (arrow.Record, error) {
	columns := make([]arrow.Array, schema.NumFields())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	pieces := make([]arrow.Array, len(parts))
	for i := range columns {
		for k, p := range parts {
			pieces[k] = p.Column(i)
		}
		var err error
		if columns[i], err = array.Concatenate(pieces, arrowMemory); err != nil {
			return nil, err
		}
		clearNulls(columns[i].Data())
	}
	return array.NewRecord(schema, columns, rows), nil
}
