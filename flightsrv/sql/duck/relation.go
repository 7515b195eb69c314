package duck

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
)

// ErrNoSQL is the error of Open in a build that has no DuckDB.
var ErrNoSQL = errors.New("this build has no SQL: that needs Linux on amd64 or arm64, and a build with cgo")

// Config is the limits and additions of a database.
type Config struct {
	MemoryBytes int64  // of all queries together; 0: DuckDB's default, 80 % of the machine
	Threads     int    // of all queries together; 0: one per core
	SpillDir    string // folder for intermediate results that do not fit in memory; "": such a query fails
	SpillBytes  int64  // maximum in SpillDir; 0: DuckDB's default, 90 % of the free space
	Spatial     string // path of spatial.duckdb_extension; "": core functions only
	// statements that create macros, of relations and of DuckDB's own functions; a macro hides
	// DuckDB's function of its name
	Macros []string

	// CRS returns the extension metadata of a geometry column for an authority and its code,
	// "EPSG:25832". nil means GeoArrow's authority_code.
	CRS func(code string) string
}

// A Resolver finds the relation of a name. The key is the one of [Database.View]. It is called
// while a query is prepared or run, with the context of that call, which returns its error. The
// caller releases the relation.
type Resolver func(ctx context.Context, key string) (Relation, error)

// A Relation is the rows of one version of a table. It is held from the binding of a query until
// the statement is closed. Several threads call its methods.
type Relation interface {
	// Schema returns the columns. A geometry column is a binary field with the extension name
	// geoarrow.wkb.
	Schema() *arrow.Schema
	// Rows returns the exact number of rows, or -1 if scans may differ.
	Rows() int64
	// Scan returns the wanted columns, indices into Schema, in the order of columns. For count(*)
	// DuckDB requests the first one.
	Scan(ctx context.Context, columns []int) (Batches, error)
	// Release ends the use of the relation.
	Release()
}

// Batches is a scan of a relation. Several threads read different batches at the same time.
type Batches interface {
	// Len returns the number of batches.
	Len() int
	// Batch returns batch i with exactly the wanted columns; the caller releases it. The memory of
	// a lasting batch stays valid until the rows of the statement are closed, also after Release of
	// both: DuckDB reads it in place without a reference. Its geometries are valid WKB,
	// little-endian, with the ISO numbers of types with Z and M.
	Batch(i int) (rec arrow.Record, lasting bool, err error)
	// Release ends the scan. No call of Batch is in progress then.
	Release()
}

// A Reference is a table that a query names, unquoted. Catalog and Schema are empty if the query
// omits them.
type Reference struct {
	Catalog, Schema, Name string
}
