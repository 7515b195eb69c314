package worker

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// A Source provides DuckDBs: the one of this process, or those of workers.
type Source interface {
	// Take returns the exclusive use of a DuckDB. It waits for a worker if all of them are in use. One
	// that prefers accepts has precedence, then a new one.
	Take(ctx context.Context, prefers func(Database) bool) (Database, error)
	// Spatial reports whether the spatial extension is loaded.
	Spatial() bool
	// Version is DuckDB's version, such as v1.5.5.
	Version() string
	// Close ends all DuckDBs. Connections to the one of this process must be closed before.
	Close() error
}

// A Database is a DuckDB, see [duck.Database].
type Database interface {
	View(schema, name, key string) error
	DropView(schema, name string) error
	Connect() (Conn, error)
	// Rest ends the exclusive use. Prepared statements remain.
	Rest()
	// End ends the database for good, unless it is that of this process. It reports whether it did.
	End() bool
	// Resume starts the exclusive use again. It reports false if the database has ended or is in
	// use.
	Resume() bool
	// Alive reports whether the database runs.
	Alive() bool
}

// A Conn is a connection, see [duck.Conn].
type Conn interface {
	Use(schema string) error
	Parse(text string) (*duck.Query, error)
	Prepare(ctx context.Context, query *duck.Query) (Statement, error)
	Plan(ctx context.Context, query *duck.Query) (written, optimized []byte, err error)
	Usable() bool
	Close()
}

// A Statement is a prepared query, see [duck.Statement].
type Statement interface {
	Schema() *arrow.Schema
	Parameters() *arrow.Schema
	Query(ctx context.Context, args arrow.Record, row int) (Rows, error)
	Close()
}

// Rows is the result of a query, see [duck.Rows]. Retain keeps the memory of the last record
// readable until release is called, also after Close. It returns nil if the garbage collector keeps
// it.
type Rows interface {
	Schema() *arrow.Schema
	Next(ctx context.Context) (arrow.Record, error)
	Retain() (release func())
	Close()
}
