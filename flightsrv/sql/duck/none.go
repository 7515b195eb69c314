//go:build !(cgo && linux && (amd64 || arm64))

package duck

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
)

// A build without cgo, or not for Linux, has the types, so that what is above it compiles, and no
// value of them.
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

// Open returns [ErrNoSQL].
func Open(Config, Resolver) (*Database, error) { return nil, ErrNoSQL }

// LibraryVersion is "": there is no DuckDB.
func LibraryVersion() string { return "" }

// Close ends it.
func (*Database) Close() error { return ErrNoSQL }

// Spatial is false.
func (*Database) Spatial() bool { return false }

// View returns [ErrNoSQL].
func (*Database) View(_, _, _ string) error { return ErrNoSQL }

// DropView returns [ErrNoSQL].
func (*Database) DropView(_, _ string) error { return ErrNoSQL }

// Connect returns [ErrNoSQL].
func (*Database) Connect() (*Conn, error) { return nil, ErrNoSQL }

// Close ends it.
func (*Conn) Close() {}

// Usable is false.
func (*Conn) Usable() bool { return false }

// Use returns [ErrNoSQL].
func (*Conn) Use(string) error { return ErrNoSQL }

// Parse returns [ErrNoSQL].
func (*Conn) Parse(string) (*Query, error) { return nil, ErrNoSQL }

// Prepare returns [ErrNoSQL].
func (*Conn) Prepare(context.Context, *Query) (*Statement, error) { return nil, ErrNoSQL }

// Plan returns [ErrNoSQL].
func (*Conn) Plan(context.Context, *Query) (written, optimized []byte, err error) {
	return nil, nil, ErrNoSQL
}

// Schema is nil.
func (*Statement) Schema() *arrow.Schema { return nil }

// Parameters is nil.
func (*Statement) Parameters() *arrow.Schema { return nil }

// Query returns [ErrNoSQL].
func (*Statement) Query(context.Context, arrow.Record, int) (*Rows, error) { return nil, ErrNoSQL }

// Close ends it.
func (*Statement) Close() {}

// Schema is nil.
func (*Rows) Schema() *arrow.Schema { return nil }

// Ended is true.
func (*Rows) Ended() bool { return true }

// Next returns [ErrNoSQL].
func (*Rows) Next(context.Context) (arrow.Record, error) { return nil, ErrNoSQL }

// Close ends it.
func (*Rows) Close() {}
