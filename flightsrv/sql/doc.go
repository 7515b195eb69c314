// Package sql answers the Flight SQL part of Flight calls: commands, prepared statements, metadata,
// sessions (FlightSql.proto of Arrow 17).
//
// It knows the messages of Flight SQL and the meaning of handles. The engine runs the queries, and
// package flightsrv decides gRPC statuses. Commands are read here and not by Arrow's flightsql
// server: a client can end the process through that one, and it keeps what clients leave.
//
// It is read-only, and refuses updates, transactions, savepoints and Substrait plans. It reads the
// command of an ingestion, and package flightsrv stores the table.
package sql
