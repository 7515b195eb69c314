// Package records makes a table's columns of Arrow arrays that a file holds, for the formats that
// hold such.
//
// It knows which type each Arrow type becomes (docs/formats/arrow.md), which column is the geometry
// (GeoArrow 0.2, GeoParquet 1.1), and how arrays of any length become chunks. Arrays are those of
// strangers: no offset, index or length of theirs is used before it was compared with the buffers
// that are there.
package records
