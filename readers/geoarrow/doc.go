// Package geoarrow represents tables as plain slices in Arrow's memory layout, and wraps them as
// Arrow records.
//
// It implements the GeoArrow 0.2 specification (https://geoarrow.org/format.html, extension types),
// ISO WKB (OGC 06-103r4, section 8) and WKT (section 7), and chooses a column's Arrow type by the
// facts about its text. It does not depend on file formats or engines. A parser fills Columns, a
// table joins and widens them, and a record wraps their slices without a copy.
//
// Memory: slices belong to the Go heap unless a comment says otherwise, are immutable once their
// Columns have left the parser, and may be shared by any number of records.
package geoarrow
