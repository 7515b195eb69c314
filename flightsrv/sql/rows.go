package sql

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// errCancelled is the error of a fetch after CancelQuery.
var errCancelled = &CancelledError{}

var errStale = &StaleError{
	"the columns of the result are not those that were announced: a file changed, or a later row of the parameters " +
		"gives others; send the query again",
}

// CancelledError is the error of a query that another call ended.
type CancelledError struct{}

func (*CancelledError) Error() string {
	return "the query was cancelled, by CancelQuery or because its handle was closed"
}

// resultRows is a running query. It runs once, or once for each row of its parameters, and the
// results follow each other. One goroutine uses it.
type resultRows struct {
	server *Server
	query  query
	result *result
	ctx    context.Context
	cancel context.CancelCauseFunc

	batch, row int  // of the parameters of the next run
	current    Rows // of the run in progress; nil: none
	ended      bool
}

// run starts the query of a result, and takes ownership of it. Nothing is computed before the first
// Next.
func (s *Server) run(ctx context.Context, of *result) *resultRows {
	r := &resultRows{server: s, query: of.query, result: of}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// Schema is the announced schema.
func (r *resultRows) Schema() *arrow.Schema { return r.query.schema }

// Next returns the next rows, which the caller releases, or io.EOF.
func (r *resultRows) Next() (arrow.Record, error) {
	for !r.ended {
		if err := r.ctx.Err(); err != nil {
			return nil, context.Cause(r.ctx)
		}
		rec, err := r.step()
		if err != nil && r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx) // the cause is the reason
		}
		if err != nil || rec != nil {
			return rec, err
		}
	}
	return nil, io.EOF
}

// Retain keeps the memory of the last rows readable until release is called once, also after Close.
// It returns nil if the garbage collector keeps it.
func (r *resultRows) Retain() (release func()) {
	if r.current == nil {
		return nil
	}
	return r.current.Retain()
}

// step returns the next rows of the current run. It returns nil after it has started or ended a
// run.
func (r *resultRows) step() (arrow.Record, error) {
	if r.current != nil {
		rec, err := r.current.Next(r.ctx)
		if errors.Is(err, io.EOF) {
			r.current.Close()
			r.current = nil
			r.ended = !r.hasNextRun()
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return conform(rec, r.Schema())
	}
	var args arrow.Record
	if b := r.query.binding; b != nil {
		if !r.hasNextRun() { // there are no parameter rows, so no runs
			r.ended = true
			return nil, nil
		}
		args = b.records[r.batch]
	}
	now, err := r.query.plan.stmt.Query(r.ctx, args, r.row)
	if err != nil {
		return nil, err
	}
	r.current = now
	r.row++
	if !sameNames(now.Schema(), r.Schema()) {
		return nil, errStale
	}
	return nil, nil
}

// sameNames reports whether the columns have the same names. Only the types of columns without
// values may differ: the parameters of a row decide them.
func sameNames(have, want *arrow.Schema) bool {
	return slices.EqualFunc(have.Fields(), want.Fields(), func(h, w arrow.Field) bool { return h.Name == w.Name })
}

// conform converts rec to the schema want, and takes ownership of rec. A column of another type
// must be all null.
func conform(rec arrow.Record, want *arrow.Schema) (arrow.Record, error) {
	if rec.Schema().Equal(want) {
		return rec, nil
	}
	defer rec.Release()
	columns := make([]arrow.Array, rec.NumCols())
	for i, c := range rec.Columns() {
		columns[i] = c
		if f := want.Field(i); !rec.Schema().Field(i).Equal(f) {
			if c.NullN() < c.Len() {
				return nil, errStale
			}
			columns[i] = array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, c.Len())
			defer columns[i].Release()
		}
	}
	return array.NewRecord(want, columns, rec.NumRows()), nil
}

// hasNextRun reports whether there is a row of parameters for another run, and advances to it.
func (r *resultRows) hasNextRun() bool {
	b := r.query.binding
	if b == nil {
		return false
	}
	for r.batch < len(b.records) && int64(r.row) >= b.records[r.batch].NumRows() {
		r.batch, r.row = r.batch+1, 0
	}
	return r.batch < len(b.records)
}

// Close ends the query and removes its result.
func (r *resultRows) Close() {
	r.cancel(context.Canceled)
	if r.current != nil {
		r.current.Close()
		r.current = nil
	}
	s := r.server
	s.mu.Lock()
	delete(s.results, r.result.id)
	s.mu.Unlock()
	s.release(r.query)
	r.query = query{}
}
