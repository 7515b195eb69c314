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

// errCancelled is what a fetch gives after CancelQuery.
var errCancelled = &CancelledError{}

var errStale = &StaleError{
	"the columns of the result are not those that were announced: a file changed, or a later row of the parameters " +
		"gives others; send the query again",
}

// CancelledError says that another call ended the query.
type CancelledError struct{}

func (*CancelledError) Error() string {
	return "the query was cancelled, by CancelQuery or because its handle was closed"
}

// rows is a query that runs: once, or once for each row of its parameters, the results one behind
// another. One goroutine uses it.
type rows struct {
	server *Server
	query  query
	of     *result
	ctx    context.Context
	cancel context.CancelCauseFunc

	batch, row int  // of the parameters, of the run that comes next
	now        Rows // of the run under way; nil: there is none
	ended      bool
}

// run begins the query of a result, and takes it over. Nothing is computed before the first Next.
func (s *Server) run(ctx context.Context, of *result) *rows {
	r := &rows{server: s, query: of.query, of: of}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// Schema is the one that was announced.
func (r *rows) Schema() *arrow.Schema { return r.query.schema }

// Next gives the next rows, which the caller releases, or io.EOF.
func (r *rows) Next() (arrow.Record, error) {
	for !r.ended {
		if err := r.ctx.Err(); err != nil {
			return nil, context.Cause(r.ctx)
		}
		rec, err := r.step()
		if err != nil && r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx) // it says why
		}
		if err != nil || rec != nil {
			return rec, err
		}
	}
	return nil, io.EOF
}

// Retain keeps the memory of the last rows readable until release is called, once, also behind
// Close. It gives nil where nobody has to.
func (r *rows) Retain() (release func()) {
	if r.now == nil {
		return nil
	}
	return r.now.Retain()
}

// step gets the next rows of the run under way, or begins or ends one and gives nil.
func (r *rows) step() (arrow.Record, error) {
	if r.now != nil {
		rec, err := r.now.Next(r.ctx)
		if errors.Is(err, io.EOF) {
			r.now.Close()
			r.now = nil
			r.ended = !r.more()
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return fit(rec, r.Schema())
	}
	var args arrow.Record
	if b := r.query.bound; b != nil {
		if !r.more() { // values for no run at all
			r.ended = true
			return nil, nil
		}
		args = b.records[r.batch]
	}
	now, err := r.query.plan.stmt.Query(r.ctx, args, r.row)
	if err != nil {
		return nil, err
	}
	r.now = now
	r.row++
	if !fits(now.Schema(), r.Schema()) {
		return nil, errStale
	}
	return nil, nil
}

// fits reports that the columns of have are called as those of want: the types of nulls alone may
// differ, which the parameters of a row decide.
func fits(have, want *arrow.Schema) bool {
	return slices.EqualFunc(have.Fields(), want.Fields(), func(h, w arrow.Field) bool { return h.Name == w.Name })
}

// fit gives rec, which it takes over, the schema want. A column of another type has to hold nulls
// alone.
func fit(rec arrow.Record, want *arrow.Schema) (arrow.Record, error) {
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

// more reports that there is a row of parameters for another run, and moves on to it.
func (r *rows) more() bool {
	b := r.query.bound
	if b == nil {
		return false
	}
	for r.batch < len(b.records) && int64(r.row) >= b.records[r.batch].NumRows() {
		r.batch, r.row = r.batch+1, 0
	}
	return r.batch < len(b.records)
}

// Close ends the query if it is still running, and forgets its result.
func (r *rows) Close() {
	r.cancel(context.Canceled)
	if r.now != nil {
		r.now.Close()
		r.now = nil
	}
	s := r.server
	s.mu.Lock()
	delete(s.results, r.of.id)
	s.mu.Unlock()
	s.release(r.query)
	r.query = query{}
}
