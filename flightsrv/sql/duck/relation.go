package duck

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
)

// ErrNoCgo is what Open gives in a build without cgo, which has no DuckDB.
var ErrNoCgo = errors.New("this build has no SQL: it was made without cgo")

// Config is what a database may use of the machine.
type Config struct {
	MemoryBytes int64  // memory of all queries together; 0 is DuckDB's own choice, 80 % of the machine
	Threads     int    // threads of all queries together; 0 is one for each core
	SpillDir    string // folder for intermediate results that do not fit in memory; "" is none: such a query fails
	SpillBytes  int64  // how much may lie in SpillDir; 0 is DuckDB's own choice, 90 % of the free space
	Spatial     string // path of spatial.duckdb_extension; "" is none: core functions only
	// statements that make macros, of relations and of DuckDB's own functions; a macro goes before
	// DuckDB's function of its name
	Macros []string

	// CRS returns the extension metadata of a geometry column for an authority and its code,
	// "EPSG:25832". nil is GeoArrow's authority_code.
	CRS func(code string) string
}

// A Resolver finds what a name stands for. The key is the one given to [Database.View]. It is
// called while a query is prepared or run, with the context of that call; its error is what the
// call returns. The caller releases the relation.
type Resolver func(ctx context.Context, key string) (Relation, error)

// A Relation is what a name in a query stands for: the rows of one version of a table. It is
// retained from the moment that a query is bound until the statement is closed. Its methods are
// called by several threads.
type Relation interface {
	// Schema returns the columns. A geometry column is a binary field with the extension name
	// geoarrow.wkb in its metadata.
	Schema() *arrow.Schema
	// Rows returns the exact number of rows, or -1 where that is another one in each scan.
	Rows() int64
	// Scan returns the wanted columns, indices into Schema, in the order of columns. For count(*)
	// DuckDB wants the first.
	Scan(ctx context.Context, columns []int) (Batches, error)
	// Release ends the use of the relation.
	Release()
}

// Batches is one scan of a relation. Several threads take different batches at the same time.
type Batches interface {
	// Len returns the number of batches.
	Len() int
	// Batch returns batch i with exactly the wanted columns; the caller releases it. The memory of a
	// lasting one stays as it is until the rows of the statement are closed, also behind Release of
	// both: DuckDB reads it where it is, without a reference to it. Geometries in it are WKB in
	// little-endian order of bytes, in the numbers of ISO for kinds with z and m, and sound.
	Batch(i int) (rec arrow.Record, lasting bool, err error)
	// Release ends the scan. No call of Batch is under way by then.
	Release()
}

// A Reference is a table that a query names, unquoted. Catalog and Schema are empty where the query
// leaves them out.
type Reference struct {
	Catalog, Schema, Name string
}
