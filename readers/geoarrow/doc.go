// Package geoarrow holds tables as plain slices in Arrow's memory layout and turns them into Arrow
// records.
//
// It knows the GeoArrow 0.2 specification (https://geoarrow.org/format.html, extension types), ISO
// WKB (OGC 06-103r4, section 8), WKT (section 7) and which Arrow type a column of lexical facts
// gets. It knows no file format and no engine: a parser fills Columns, a table joins and widens
// them, a record wraps their slices without a copy.
//
// Memory: slices belong to the Go heap unless a comment says otherwise, are immutable once their
// Columns left the parser, and may be shared by any number of records.
package geoarrow
