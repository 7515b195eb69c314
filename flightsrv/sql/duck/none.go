//go:build !cgo

package duck

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
)

// A build without cgo has the types, so that what is above it compiles, and no value of them.
type (
	// Database is one DuckDB in memory.
	Database struct{}
	// Conn is a connection to the database.
	Conn struct{}
	// Statement is a prepared query.
	Statement struct{}
	// Rows is the result of a query while it runs.
	Rows struct{}
)

// Open returns [ErrNoCgo].
func Open(Config, Resolver) (*Database, error) { return nil, ErrNoCgo }

// LibraryVersion is "": there is no DuckDB.
func LibraryVersion() string { return "" }

// Close ends it.
func (*Database) Close() error { return ErrNoCgo }

// Spatial is false.
func (*Database) Spatial() bool { return false }

// View returns [ErrNoCgo].
func (*Database) View(_, _, _ string) error { return ErrNoCgo }

// DropView returns [ErrNoCgo].
func (*Database) DropView(_, _ string) error { return ErrNoCgo }

// Connect returns [ErrNoCgo].
func (*Database) Connect() (*Conn, error) { return nil, ErrNoCgo }

// Close ends it.
func (*Conn) Close() {}

// Usable is false.
func (*Conn) Usable() bool { return false }

// Use returns [ErrNoCgo].
func (*Conn) Use(string) error { return ErrNoCgo }

// Parse returns [ErrNoCgo].
func (*Conn) Parse(string) (*Query, error) { return nil, ErrNoCgo }

// Prepare returns [ErrNoCgo].
func (*Conn) Prepare(context.Context, *Query) (*Statement, error) { return nil, ErrNoCgo }

// Plan returns [ErrNoCgo].
func (*Conn) Plan(context.Context, *Query) (written, optimized []byte, err error) {
	return nil, nil, ErrNoCgo
}

// Schema is nil.
func (*Statement) Schema() *arrow.Schema { return nil }

// Parameters is nil.
func (*Statement) Parameters() *arrow.Schema { return nil }

// Query returns [ErrNoCgo].
func (*Statement) Query(context.Context, arrow.Record, int) (*Rows, error) { return nil, ErrNoCgo }

// Close ends it.
func (*Statement) Close() {}

// Schema is nil.
func (*Rows) Schema() *arrow.Schema { return nil }

// Ended is true.
func (*Rows) Ended() bool { return true }

// Next returns [ErrNoCgo].
func (*Rows) Next(context.Context) (arrow.Record, error) { return nil, ErrNoCgo }

// Close ends it.
func (*Rows) Close() {}
