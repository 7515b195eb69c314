// Package duck is DuckDB, embedded: SQL over Arrow record batches that stay where they are.
//
// A [Database] holds no data. A name in a query stands for a [Relation], found by a [Resolver] when
// the query is bound; a table function of this package's own reads the relation's batches through
// the Arrow C data interface, slices of 2,048 rows at a time, in several threads. Only the wanted
// columns are asked for, and values of fixed width are not copied. Results come back as Arrow
// record batches, streamed, in the order of the file where nothing sorts them.
//
// The database is a sandbox, read-only. Statements other than queries are refused by DuckDB's own
// syntax tree of them, and functions that a FROM may not call by their names; behind that, DuckDB's
// settings keep files, the network and extensions out of reach, and cannot be set.
//
// An error in a query is an [Error]. Errors of the code that a query calls, a Resolver's or a
// Relation's, come out as themselves. A query that trips over a mistake in DuckDB's own code makes
// it refuse all that follows, for everybody; the next [Database.Connect] starts it anew.
//
// The package knows Arrow and DuckDB. It knows nothing of files, catalogs or Flight. It needs cgo;
// without cgo, [Open] gives [ErrNoCgo].
package duck
