// Package positions reads positions of two plain numbers, nearly all bytes of most files, in bulk.
//
// A plain number has 1 to 8 digits before the point, without a leading zero, at least one after it,
// at most 15 in all, and no exponent. The package reads the positions of GeoJSON and WKT.
// Everything else is left to the parser, and nothing is an error here. Processors may differ in
// which numbers they accept as plain, never in their values. At least 64 bytes after the last
// position must be readable, as they are in package window.
package positions

// Most is how many positions are usually read before room is made for more.
const Most = 64
