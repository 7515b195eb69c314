package positions

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Have reports whether this processor can read plain positions. Every one has NEON.
const Have = true

// JSON adds to g up to most plain positions in square brackets from text[p] on:
// "[1.5,2.5],[3.5,4.5]". Between the two numbers and between positions is a comma, and one blank at
// most is at each place.
//
//	end     with inside set the bracket of a position that is not plain, else the byte after a position, with
//	        no plain position after it
func JSON(g *geoarrow.GeometryBuilder, text unsafe.Pointer, p, most int) (end int, inside bool) {
	n := len(g.X)
	xs, ys := room(g, most)
	read, count, inside := neonJSON(neonConstants, unsafe.Add(text, p), xs, ys, most)
	g.X, g.Y = g.X[:n+count], g.Y[:n+count]
	return p + read, inside
}

// WKT adds to g up to most plain positions from text[p] on, count of them: "1.5 2.5,3.5 4.5)".
// Between the two numbers is one blank, between positions a comma and at most one blank, after the
// last one a bracket. text[p-1] must be readable.
//
//	end     with inside set a position that is not plain, else the comma or bracket after one
func WKT(g *geoarrow.GeometryBuilder, text unsafe.Pointer, p, most int) (end, count int, inside bool) {
	n := len(g.X)
	xs, ys := room(g, most)
	read, count, inside := neonWKT(neonConstants, unsafe.Add(text, p), xs, ys, most)
	g.X, g.Y = g.X[:n+count], g.Y[:n+count]
	return p + read, count, inside
}

// neonTables are the constants of neonJSON and neonWKT, at the offsets that they know.
type neonTables struct {
	zeros   [16]byte // '0'
	nines   [16]byte // 9
	bits    [16]byte // a bit of each of eight bytes
	dots    [16]byte // what a point becomes where it is first of 16 digits
	limits  [16]byte // the largest of 16 digits: 0 for the point
	tens    [16]byte // 10, 1: two digits to a number
	fours   [16]byte // 100, 1
	eights  [8]uint16
	eight   [4]uint32 // 10^8
	entries entries
}

var neonConstants = makeNeonTables()

func makeNeonTables() *neonTables {
	t := &neonTables{entries: makeEntries()}
	for i := range 16 {
		t.zeros[i], t.nines[i], t.limits[i], t.bits[i] = '0', 9, 9, 1<<(i&7)
		t.tens[i], t.fours[i] = []byte{10, 1}[i&1], []byte{100, 1}[i&1]
	}
	for i := range t.eights {
		t.eights[i] = []uint16{10000, 1}[i&1]
	}
	for i := range t.eight {
		t.eight[i] = 1e8
	}
	t.dots[0], t.limits[0] = 0x100+'.'-'0', 0
	return t
}

// A position is read at a time. What of 48 bytes is no digit is found for all of them at once, and
// both numbers are made at once: of digits that a table moves to their places, two, four and eight
// at a time, with one division that rounds once. What is plain is found from the result: no digit
// is above 9, and no number is lower than one of its length without a leading zero. Both have room
// for room numbers at xs and at ys, of which count are set, and read n bytes.

//go:noescape
func neonJSON(t *neonTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)

//go:noescape
func neonWKT(t *neonTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
