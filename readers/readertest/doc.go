// Package readertest is the suite that every format passes, whatever its standard.
//
// Run takes the files of the caller's testdata folder, golden tables and errors next to them, and
// asks of each what the contract of package readers says: canonical slices, the same table however
// the file is cut into reads and batches, an error with a place for every text that is no such
// file. It knows no format. Cases of one standard's rules are the format's own tests, for which
// Parse, Columns and Mark are here.
package readertest
