// Package jsonrows reads files of JSON (RFC 8259) whose rows are objects in an array, or one after
// the other: the text, the values, the columns, the rows and the workers of every such format.
//
// A format is a Dialect: it reads what surrounds the rows, and the members of each row. The members
// of one of them, such as GeoJSON's properties, are columns, which the package reads.
//
// The grammar is strict. Under on_error: null and repair a row is read leniently if its brackets
// and quotes are balanced.
package jsonrows
