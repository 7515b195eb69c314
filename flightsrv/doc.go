// Package flightsrv serves a catalog over Arrow Flight (Flight.proto of Arrow 17).
//
// It knows gRPC, the Flight messages and what tickets mean, and no file format. It passes Flight
// SQL to flightsrv/sql. DoPut is Unimplemented unless the catalog has a writable folder. The server
// does not start on an address that other hosts can reach, unless it is told to.
//
// Each call has a file of its own. status.go alone decides which error has which gRPC code.
package flightsrv
