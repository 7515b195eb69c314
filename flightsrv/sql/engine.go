package sql

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// Engine is what runs the queries. Tests have one that fails when they say so.
type Engine interface {
	Prepare(ctx context.Context, query, schema string) (Statement, error)
	Tables() []engine.Table
	TableSchema(ctx context.Context, t engine.Table) (*arrow.Schema, error)
	Info() engine.Info
	Stats() engine.Stats
}

// Statement is a prepared query, which several goroutines may run at once.
type Statement interface {
	Schema() *arrow.Schema
	Parameters() *arrow.Schema
	Query(ctx context.Context, args arrow.Record, row int) (Rows, error)
	Close()
}

// Rows is the result of a query, for one goroutine. Next gives records that the caller releases,
// and io.EOF behind the last one. Retain keeps the memory of the last record readable until release
// is called, once, also behind Close; it gives nil where the garbage collector keeps it.
type Rows interface {
	Schema() *arrow.Schema
	Next(ctx context.Context) (arrow.Record, error)
	Retain() (release func())
	Close()
}

// Of gives e as the engine of a server. Without e there is none.
func Of(e *engine.Engine) Engine {
	if e == nil {
		return nil
	}
	return real{e}
}

type real struct{ *engine.Engine }

func (r real) Prepare(ctx context.Context, query, schema string) (Statement, error) {
	s, err := r.Engine.Prepare(ctx, query, schema)
	if err != nil {
		return nil, err
	}
	return statement{s}, nil
}

type statement struct{ *engine.Statement }

func (s statement) Query(ctx context.Context, args arrow.Record, row int) (Rows, error) {
	rows, err := s.Statement.Query(ctx, args, row)
	if err != nil {
		return nil, err
	}
	return rows, nil
}
