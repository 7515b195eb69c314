// Package engine answers SQL queries over the files of a catalog without an import step. A name in
// a query is a file, which is parsed on first use and read in place.
//
// It knows which table a name means ([Engine.Tables]), and how DuckDB reads a parsed table:
// geometries are WKB, which is kept next to the table. It skips the batches that a query does not
// need. It knows nothing of Flight. flightsrv/sql speaks the protocol, and flightsrv/sql/duck is
// DuckDB.
package engine
