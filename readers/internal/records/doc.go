// Package records converts Arrow arrays from a file to a table's columns, for the formats that
// contain such arrays.
//
// It maps Arrow types to table types (docs/formats/arrow.md), finds the geometry (GeoArrow 0.2,
// GeoParquet 1.1), and cuts arrays of any length into chunks. Arrays are untrusted: no offset,
// index or length is used before it was compared with the buffers.
package records
