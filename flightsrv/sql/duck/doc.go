// Package duck is embedded DuckDB: SQL over Arrow record batches, which it reads in place.
//
// A [Database] holds no data. A name in a query means a [Relation], which a [Resolver] finds when
// the query is bound. A table function of this package reads the relation's batches through the
// Arrow C data interface, in slices of 2,048 rows and in several threads. It requests only the
// wanted columns, and does not copy values of fixed width. Results are streamed as Arrow record
// batches, in the order of the file unless they are sorted.
//
// The database is a read-only sandbox. A check of DuckDB's syntax tree refuses statements other
// than queries, and functions that queries may not call. In addition, DuckDB's settings disable
// files, the network and extensions, and are locked.
//
// An error in a query is an [Error]. Errors of a Resolver or a Relation are returned unchanged.
// After an internal error, DuckDB refuses everything, in all connections. The next
// [Database.Connect] starts a new DuckDB.
//
// The package knows Arrow and DuckDB, and nothing of files, catalogs or Flight. It needs cgo and Linux;
// without them, [Open] returns [ErrNoSQL].
package duck
