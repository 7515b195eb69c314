package sql

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// Engine runs the queries. Tests use one that fails on demand.
type Engine interface {
	Prepare(ctx context.Context, query, schema string) (Statement, error)
	Tables(ctx context.Context) []engine.Table
	TableSchema(ctx context.Context, t engine.Table) (*arrow.Schema, error)
	Info() engine.Info
	Stats() engine.Stats
}

// Statement is a prepared query. Several goroutines may run it at once.
type Statement interface {
	Schema() *arrow.Schema
	Parameters() *arrow.Schema
	Query(ctx context.Context, args arrow.Record, row int) (Rows, error)
	// Authorize returns an error if the caller may not use the statement.
	Authorize(ctx context.Context) error
	Close()
}

// Rows is the result of a query, for one goroutine. Next returns records that the caller releases,
// and io.EOF after the last one. Retain keeps the memory of the last record readable until release
// is called once, also after Close. It returns nil if the garbage collector keeps the memory.
type Rows interface {
	Schema() *arrow.Schema
	Next(ctx context.Context) (arrow.Record, error)
	Retain() (release func())
	Close()
}

// Of adapts e to the Engine of a server. It returns nil if e is nil.
func Of(e *engine.Engine) Engine {
	if e == nil {
		return nil
	}
	return engineAdapter{e}
}

// TransformerOf returns what transforms positions between any two reference systems: PROJ in DuckDB's
// spatial extension. It is nil if SQL or the extension is missing.
func TransformerOf(e Engine) scan.Transformer {
	if e == nil || !e.Info().Spatial {
		return nil
	}
	t, _ := e.(scan.Transformer)
	return t
}

type engineAdapter struct{ *engine.Engine }

func (r engineAdapter) Prepare(ctx context.Context, query, schema string) (Statement, error) {
	s, err := r.Engine.Prepare(ctx, query, schema)
	if err != nil {
		return nil, err
	}
	return statementAdapter{s}, nil
}

type statementAdapter struct{ *engine.Statement }

func (s statementAdapter) Query(ctx context.Context, args arrow.Record, row int) (Rows, error) {
	rows, err := s.Statement.Query(ctx, args, row)
	if err != nil {
		return nil, err
	}
	return rows, nil
}
