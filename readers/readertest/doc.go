// Package readertest is the test suite for all formats.
//
// Run reads the files of the caller's testdata folder, with golden tables and errors next to them,
// and checks the contract of package readers: canonical slices, the same table however the file is
// cut into reads and batches, and an error with a position for malformed text. It knows no format.
// A format tests the rules of its standard itself, with the help of Parse, Columns and Mark.
package readertest
