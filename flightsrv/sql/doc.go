// Package sql answers the Flight SQL part of Flight calls: commands, prepared statements, metadata,
// sessions (FlightSql.proto of Arrow 17).
//
// It knows the messages of Flight SQL and what a handle stands for, and leaves queries to the
// engine below it and gRPC statuses to the package above it. The commands are read here, not by
// Arrow's flightsql server: that one can be made to end the process, and keeps what a client leaves
// behind.
//
// It is read-only, and it refuses updates, transactions, savepoints and Substrait plans. Of
// ingestion it reads the command; who stores is above it.
package sql
