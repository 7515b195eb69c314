package engine

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// A query that selects columns of one table unchanged returns the table's own batches. They do not
// pass through DuckDB, which would copy them three times. DuckDB has prepared the query, and
// defines the columns and types of the result.

// directColumns are columns of a table that are the result of a query.
type directColumns struct {
	relation *relation
	columns  []int
}

// directColumns returns the columns of the result; nil if DuckDB has to compute it: the query does
// more, or DuckDB has another type, as for a time in nanoseconds.
func (p *preparedStatement) directColumns(query *duck.Query) *directColumns {
	names, ok := query.Takes()
	if !ok || len(p.relations) != 1 || p.engine.readAll {
		return nil
	}
	t := &directColumns{}
	for _, r := range p.relations {
		t.relation, t.columns = r, r.numbers(names)
	}
	result := p.statement.Schema()
	if len(t.columns) != result.NumFields() {
		return nil
	}
	for i, k := range t.columns {
		if !arrow.TypeEqual(t.relation.schema.Field(k).Type, result.Field(i).Type) {
			return nil
		}
	}
	return t
}

// numbers returns the numbers of the named columns, of all if names is nil; nil if one does not
// exist.
func (r *relation) numbers(names []string) (columns []int) {
	number := map[string]int{}
	for i, f := range r.schema.Fields() {
		number[lower(f.Name)] = i
		if names == nil {
			columns = append(columns, i)
		}
	}
	for _, name := range names {
		i, ok := number[lower(name)]
		if !ok {
			return nil
		}
		columns = append(columns, i)
	}
	return columns
}

// directRows are the rows of a table as the result of a run.
type directRows struct {
	batches *batches
	schema  *arrow.Schema
	next    int
	shared  *worker.SharedBuffers // memory of the last record's geometries; nil: Go's heap
}

// rows starts to read the columns, in the run of ctx.
func (t *directColumns) rows(ctx context.Context, schema *arrow.Schema) (*directRows, error) {
	b, err := t.relation.scan(ctx, t.columns)
	if err != nil {
		return nil, err
	}
	return &directRows{batches: b, schema: schema}, nil
}

// Schema returns the columns of the result.
func (p *directRows) Schema() *arrow.Schema { return p.schema }

// Next returns the next batch, which the caller releases, or io.EOF. The rows end with ctx or with
// the run's context.
func (p *directRows) Next(ctx context.Context) (arrow.Record, error) {
	if p.next == p.batches.Len() {
		return nil, io.EOF
	}
	for _, c := range []context.Context{ctx, p.batches.ctx} {
		if err := context.Cause(c); err != nil {
			return nil, err
		}
	}
	rec, _, err := p.batches.batch(p.next, p.wkb)
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	p.next++
	return array.NewRecord(p.schema, rec.Columns(), rec.NumRows()), nil
}

// wkb returns geometries that stay valid until the next record, or longer if Retain was called.
func (p *directRows) wkb(batch *geoarrow.Columns) (*geoarrow.Geometry, bool, error) {
	g, shared, err := p.batches.derived.wkb(batch)
	p.shared.Release()
	p.shared = shared
	return g, false, err
}

// Retain keeps the memory of the last record; nil if the garbage collector keeps it.
func (p *directRows) Retain() (release func()) {
	table := p.batches.lease.retain()
	if p.shared == nil {
		return table
	}
	shared := p.shared
	shared.Retain()
	return func() {
		shared.Release()
		if table != nil {
			table()
		}
	}
}

// Close ends the rows.
func (p *directRows) Close() {
	p.next = p.batches.Len()
	p.batches.Release()
	p.shared.Release()
	p.shared = nil
}
