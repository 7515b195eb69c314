// Package positions reads positions of two plain numbers, which are nearly all bytes of most files,
// many in a row.
//
// A number is plain that has 1 to 8 digits before a point, without a zero in front, at least one
// after it, at most 15 in all and no exponent. It knows how GeoJSON and WKT write positions. What
// is not plain it leaves to the parser, and no byte is an error here; processors may differ in what
// they take for plain, never in its value. At least 64 bytes after the last position must be
// readable, as they are in package window.
package positions

// Most is how many positions are usually read before room is made for more.
const Most = 64
