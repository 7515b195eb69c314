package wkt

import (
	"cmp"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// text is one run of the parser over bytes in memory. Its methods read one element of the grammar
// at an index and return the index after it, or -1 with the fault set. They read every byte once,
// from left to right, and stop at the zero after the text.
type text struct {
	// the first byte; loads are not checked, the zero and number.Padding bytes after it keep them
	// inside
	q         unsafe.Pointer
	geom      *geoarrow.GeometryBuilder
	shapes    *rows.Shapes
	maxDepth  int
	plainRuns bool // package positions may be used

	fault  fault
	depth  int          // open collections
	size   int          // ordinates of the positions of the current geometry; 0: its first position will say
	dim    geoarrow.Dim // of these, once size is known
	outer  geoarrow.Dim // of the collection around it
	hasTag bool         // its dimension is written
	last   head
	token  []byte                         // a number in the syntax of package number
	loose  func(p int, rule, done string) // notes a defect with an obvious reading; nil: each is a fault
}

// at returns the byte at index p, 0 after the end.
func (t *text) at(p int) byte { return byteAt(t.q, p) }

func byteAt(q unsafe.Pointer, p int) byte { return *(*byte)(unsafe.Add(q, p)) }

// slice returns the bytes from p to end.
func (t *text) slice(p, end int) []byte { return unsafe.Slice((*byte)(unsafe.Add(t.q, p)), end-p) }

func isBlank(c byte) bool { return c == ' ' || c-'\t' < 5 } // \t \n \v \f \r, as in isspace(3)

// space skips blanks and line ends.
func (t *text) space(p int) int {
	for isBlank(t.at(p)) {
		p++
	}
	return p
}

func isLetter(c byte) bool { return c|0x20-'a' < 26 }

// word skips letters.
func (t *text) word(p int) int {
	for isLetter(t.at(p)) {
		p++
	}
	return p
}

// srid reads "SRID=n;" at p, if it is there. Without it, the result is 0.
func (t *text) srid(p int) (srid int32, end int) {
	w := t.word(p)
	if !is(t.slice(p, w), "SRID") {
		return 0, p
	}
	if w = t.space(w); t.at(w) != '=' {
		return 0, t.fail(w, `"=" behind SRID`)
	}
	start := t.space(w + 1)
	p = start
	var n int64
	for ; t.at(p)-'0' < 10; p++ {
		n = min(10*n+int64(t.at(p)-'0'), maxSRID+1)
	}
	switch {
	case p == start:
		return 0, t.fail(p, "the number of a coordinate system after SRID=")
	case n > maxSRID:
		return 0, t.wrong(start, p, "an SRID beyond 2147483647")
	}
	if p = t.space(p); t.at(p) != ';' {
		return 0, t.fail(p, `";" behind the SRID`)
	}
	return int32(n), t.space(p + 1)
}

// maxSRID is the largest int32, as in PostGIS.
const maxSRID = 1<<31 - 1

// is reports whether a word equals one in capitals, ignoring case.
func is(word []byte, capitals string) bool {
	if len(word) != len(capitals) {
		return false
	}
	for i, c := range word {
		if c&^0x20 != capitals[i] {
			return false
		}
	}
	return true
}

// begin prepares to read the text at q.
func (t *text) begin(q unsafe.Pointer, maxDepth int) {
	t.q, t.maxDepth = q, cmp.Or(maxDepth, readers.DefaultMaxDepth)
	t.fault, t.depth = fault{}, 0
}

// geometry reads a geometry at p with the SRID before it, and leaves it open. The SRID is also
// returned for a malformed geometry.
func (t *text) geometry(p int) (g Geometry, end int) {
	if t.at(p)|0x20 == 's' {
		if g.SRID, end = t.srid(p); end < 0 {
			return Geometry{}, -1
		}
		p = end
	}
	g.Kind, end = t.tagged(p, geoarrow.XY)
	return g, end
}
