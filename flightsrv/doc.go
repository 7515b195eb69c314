// Package flightsrv serves a catalog over Arrow Flight (Flight.proto of Arrow 17).
//
// It knows gRPC, the Flight messages and what a ticket says; it knows no file format. What is
// Flight SQL it hands to flightsrv/sql. It refuses to store tables as Unimplemented unless the
// catalog has a writable folder, and does not start on an address that others can reach unless it
// is told to.
package flightsrv
