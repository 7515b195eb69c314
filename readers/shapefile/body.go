package shapefile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// body is the arrays of a shape, in the layout of its record:
//
//	byte  0   4        shape type
//	byte  4  32        xmin ymin xmax ymax; not looked at
//	     36   4        number of parts; not of MultiPoint
//	      +   4        number of points
//	      +   4·parts  the first point of each part
//	      +   4·parts  kinds of the parts; of MultiPatch
//	      +  16·points x y
//	      +  16        zmin zmax;            where the type has z
//	      +   8·points z
//	      +  16        mmin mmax;            where the type may have m and the record is so long
//	      +   8·points m
type body struct {
	points       int
	surplus      int // bytes after the shape
	dim          geoarrow.Dim
	parts, kinds []byte
	xy, z, m     []byte // z and m are empty where dim lacks them
}

// maxHead is how many bytes at the start of a content determine its length.
const maxHead = 44

// sizes returns the number of bytes of a shape's content without and with measures; they are equal
// if the type has none. ok is false if the content ends before its counts.
func (t shapeType) sizes(c []byte) (need, measured int64, ok bool) {
	measure := int64(0)
	if t.mayHaveM() {
		measure = 8
	}
	if t.family() == point {
		need = 20
		if t.hasZ() {
			need = 28
		}
		return need, need + measure, true
	}
	head, parts := t.head(), int64(0)
	if len(c) < head {
		return 0, 0, false
	}
	points := int64(binary.LittleEndian.Uint32(c[head-4:]))
	if head == maxHead {
		parts = int64(binary.LittleEndian.Uint32(c[36:]))
	}
	need = int64(head) + parts*t.perPart() + points*16
	if t.hasZ() {
		need += 16 + points*8
	}
	return need, need + (2+points)*measure, true
}

// head returns the number of bytes before the arrays of a shape that is not a point.
func (t shapeType) head() int {
	if t.family() == multiPoint {
		return maxHead - 4
	}
	return maxHead
}

// perPart returns how many bytes of the arrays each part takes.
func (t shapeType) perPart() int64 {
	if t == multiPatch {
		return 8
	}
	return 4
}

// body finds the arrays of a shape that is not a point, and checks that its record has them.
// The length of the record determines whether they have measures.
func (t shapeType) body(c []byte) (b body, at int, err error) {
	need, measured, ok := t.sizes(c)
	if !ok {
		return b, 0, fmt.Errorf("a %s has %d bytes, expected %d at least", t, len(c), t.head())
	}
	points, parts := int64(binary.LittleEndian.Uint32(c[t.head()-4:])), int64(0)
	if t.head() == maxHead {
		parts = int64(binary.LittleEndian.Uint32(c[36:]))
	}
	n := int64(len(c))
	if n < need {
		what := t.String()
		if t.head() == maxHead {
			what = fmt.Sprintf("%s of %d parts", t, parts)
		}
		return b, 36, fmt.Errorf("a %s with %d points has %d bytes, expected %s", what, points, n,
			either(need, measured))
	}
	b.points, b.dim = int(points), t.dim()
	if need < measured && measured <= n {
		b.setM(c[need+16 : measured])
		need = measured
	}
	b.surplus = int(n - need)
	c = c[t.head():]
	b.parts, c = c[:4*parts], c[4*parts:]
	if t == multiPatch {
		b.kinds, c = c[:4*parts], c[4*parts:]
	}
	b.xy, c = c[:16*points], c[16*points:]
	if t.hasZ() {
		b.z = c[16 : 16+8*points]
	}
	if t.family() == multiPoint {
		return b, 0, nil
	}
	at, err = b.checkParts()
	return b, at, err
}

// setM keeps the measures if at least one of them has a value.
func (b *body) setM(m []byte) {
	for i := 0; i < len(m); i += 8 {
		if math.Float64frombits(binary.LittleEndian.Uint64(m[i:])) > noMeasure {
			b.m = m
			b.dim |= geoarrow.HasM
			return
		}
	}
}

// noMeasure is the largest double that means "no measure".
const noMeasure = -1e38

// checkParts checks that every part has points, one after the other.
func (b *body) checkParts() (at int, err error) {
	if len(b.parts) == 0 && b.points > 0 {
		return 36, fmt.Errorf("%d points are in no part", b.points)
	}
	next := 0
	for i := 0; i < len(b.parts); i += 4 {
		first := int64(binary.LittleEndian.Uint32(b.parts[i:]))
		switch {
		case i == 0 && first != 0:
			return 44, fmt.Errorf("part 0 begins at point %d, expected 0", first)
		case first >= int64(b.points):
			return 44 + i, fmt.Errorf("part %d begins at point %d of %d", i/4, first, b.points)
		case first < int64(next):
			return 44 + i, fmt.Errorf("part %d begins at point %d, expected %d or more, so that no part is empty",
				i/4, first, next)
		}
		next = int(first) + 1
	}
	return 0, nil
}

// part returns the points [from, to) of part i.
func (b *body) part(i int) (from, to int) {
	from, to = int(binary.LittleEndian.Uint32(b.parts[4*i:])), b.points
	if 4*i+4 < len(b.parts) {
		to = int(binary.LittleEndian.Uint32(b.parts[4*i+4:]))
	}
	return from, to
}

func either(need, measured int64) string {
	if need == measured {
		return strconv.FormatInt(need, 10)
	}
	return fmt.Sprintf("%d, or %d with measures", need, measured)
}
