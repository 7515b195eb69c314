// Package engine answers SQL queries over the files of a catalog, with no import step: a name in a
// query is a file, parsed when it is asked for, and read where it lies.
//
// It knows which table a name means ([Engine.Tables]), how a parsed table becomes what DuckDB
// reads, with geometry as WKB that is kept beside the table, and which batches a query can leave
// out. It knows nothing of Flight: flightsrv/sql speaks the protocol, and flightsrv/sql/duck is
// DuckDB.
package engine
