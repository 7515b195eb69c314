package filegdb

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/curve"
	"github.com/vibeflight/vibeflight/readers/internal/nesting"
)

// A geometry is a kind (varuint) and what the kind has. Points have x, y, z and m as varuints, 0 for
// NaN, else the ordinate's number and 1. Others have varints, each the difference to the one before:
//
//	multipoint  number of positions, box (4 varuints), positions, z …, m …
//	lines       number of positions, of parts, of curves if there may be some; box; number of positions of each
//	            part but the last; positions, z …, m …; curves
//	multipatch  number of positions, a number that is not read, number of parts; box; number of positions of each
//	            part but the last; kinds of parts; positions, z …
//
// A geometry without positions ends after their number. If only a byte is there for m, or fewer bytes
// than positions, there is none.
const (
	shapeZ     = 0x80000000
	shapeM     = 0x40000000
	shapeCurve = 0x20000000
)

// family is a group of geometry kinds.
type family uint8

const (
	noFamily family = iota
	aNull
	aPoint
	aMultiPoint
	aLine
	aPolygon
	aMultiPatch
)

// shapeKind is a kind of geometries: its family, and the ordinates that it implies.
type shapeKind struct {
	family family
	dim    geoarrow.Dim
	flags  bool // the flags say which ordinates there are
}

var shapeKinds = [...]shapeKind{
	0: {family: aNull},
	1: {family: aPoint}, 9: {family: aPoint, dim: geoarrow.HasZ}, 11: {family: aPoint, dim: geoarrow.XYZM},
	21: {family: aPoint, dim: geoarrow.HasM}, 52: {family: aPoint, flags: true},
	8: {family: aMultiPoint}, 20: {family: aMultiPoint, dim: geoarrow.HasZ},
	18: {family: aMultiPoint, dim: geoarrow.XYZM}, 28: {family: aMultiPoint, dim: geoarrow.HasM},
	53: {family: aMultiPoint, flags: true},
	3:  {family: aLine}, 10: {family: aLine, dim: geoarrow.HasZ}, 13: {family: aLine, dim: geoarrow.XYZM},
	23: {family: aLine, dim: geoarrow.HasM}, 50: {family: aLine, flags: true},
	5: {family: aPolygon}, 19: {family: aPolygon, dim: geoarrow.HasZ}, 15: {family: aPolygon, dim: geoarrow.XYZM},
	25: {family: aPolygon, dim: geoarrow.HasM}, 51: {family: aPolygon, flags: true},
	31: {family: aMultiPatch}, 32: {family: aMultiPatch}, 54: {family: aMultiPatch, flags: true},
}

// decoder decodes the geometries of a table.
type decoder struct {
	*geometryField
	geom      *geoarrow.GeometryBuilder
	linearize bool

	unclosed, shortRings, shortLines int64

	c      cursor
	ends   []int // of the parts, in positions
	line   line  // positions of parts that are not added as they are
	curved line
	nest   nesting.Nesting
	arcs   curve.Line
}

// line is positions with z and m as the geometry has them.
type line struct{ x, y, z, m []float64 }

func (l *line) size(n int, dim geoarrow.Dim) {
	l.x, l.y, l.z, l.m = sized(l.x, n), sized(l.y, n), l.z[:0], l.m[:0]
	if dim&geoarrow.HasZ != 0 {
		l.z = sized(l.z, n)
	}
	if dim&geoarrow.HasM != 0 {
		l.m = sized(l.m, n)
	}
}

// sized returns a slice of n elements with undefined values.
func sized(v []float64, n int) []float64 {
	if n > cap(v) {
		return make([]float64, n, n+n/4)
	}
	return v[:n]
}

// fieldGeometry is the field that errors of geometries name.
const fieldGeometry = "geometry"

// add adds the geometry in the bytes of a value. After a defect, the caller rewinds the builder.
func (d *decoder) add(b []byte) *fault {
	d.c = cursor{b: b}
	if err := d.geometry(); err != nil {
		return (&fault{err: err}).in(fieldGeometry, d.c.p)
	}
	return nil
}

func (d *decoder) geometry() error {
	c := &d.c
	number := c.varuint()
	if c.err != nil {
		return c.err
	}
	var k shapeKind
	if low := number & 0xff; low < uint64(len(shapeKinds)) && number>>32 == 0 {
		k = shapeKinds[low]
	}
	if number&shapeZ != 0 {
		k.dim |= geoarrow.HasZ
	}
	if number&shapeM != 0 {
		k.dim |= geoarrow.HasM
	}
	switch k.family {
	case aNull:
		d.geom.Null()
		return nil
	case aPoint:
		return d.point(k.dim)
	case aMultiPoint:
		return d.multiPoint(k.dim)
	case aLine, aPolygon:
		return d.parts(k, number&shapeCurve != 0)
	case aMultiPatch:
		return d.patches(k.dim | geoarrow.HasZ)
	}
	c.p = 0
	return fmt.Errorf("a geometry of type %d, which is not known", number)
}

// ordinate returns an ordinate of a point.
func ordinate(v uint64, scale, origin float64) float64 {
	if v == 0 {
		return nan
	}
	return float64(float64(v-1)/scale) + origin
}

func (d *decoder) point(dim geoarrow.Dim) error {
	c, g := &d.c, d.geom
	x, y := ordinate(c.varuint(), d.xyScale, d.x), ordinate(c.varuint(), d.xyScale, d.y)
	z, m := nan, nan
	if dim&geoarrow.HasZ != 0 {
		z = ordinate(c.varuint(), d.zScale, d.z)
	}
	if dim&geoarrow.HasM != 0 {
		m = ordinate(c.varuint(), d.mScale, d.geometryField.m)
	}
	if c.err != nil {
		return c.err
	}
	n := 1
	if x != x && y != y { // POINT EMPTY
		n = 0
	}
	g.Extend(n, dim)
	if at := len(g.X) - 1; n > 0 {
		g.X[at], g.Y[at] = x, y
		if dim&geoarrow.HasZ != 0 {
			g.Z[at] = z
		}
		if dim&geoarrow.HasM != 0 {
			g.M[at] = m
		}
	}
	g.End(geoarrow.Point)
	return nil
}

const minPosition = 2 // bytes

func (d *decoder) multiPoint(dim geoarrow.Dim) error {
	c := &d.c
	n := c.count(minPosition)
	if n > 0 {
		c.skipBox()
	}
	if err := d.positions(n, dim); err != nil {
		return err
	}
	d.geom.End(geoarrow.MultiPoint)
	return nil
}

func (c *cursor) skipBox() {
	for range 4 {
		c.varuint()
	}
}

// positions adds n positions as they are in the file.
func (d *decoder) positions(n int, dim geoarrow.Dim) error {
	if dim&geoarrow.HasM != 0 && n > 0 && !d.hasMeasures(n, dim) {
		dim &^= geoarrow.HasM
	}
	g := d.geom
	g.Extend(n, dim)
	at := len(g.X) - n
	l := line{x: g.X[at:], y: g.Y[at:]}
	if dim&geoarrow.HasZ != 0 {
		l.z = g.Z[at:]
	}
	if dim&geoarrow.HasM != 0 {
		l.m = g.M[at:]
	}
	return d.read(&l)
}

// hasMeasures reports whether there are bytes enough for the m of n positions: those of x, y and z
// are skipped.
func (d *decoder) hasMeasures(n int, dim geoarrow.Dim) bool {
	p, b := d.c.p, d.c.b
	for left := (2 + int(dim&geoarrow.HasZ)) * n; left > 0; p++ {
		if p >= len(b) {
			return true // an error, which read finds
		}
		if b[p]&0x80 == 0 {
			left--
		}
	}
	return len(b)-p >= n
}

// read reads positions, z and m.
func (d *decoder) read(l *line) error {
	if !d.c.pairs(l.x, l.y, d.xyScale, d.x, d.y) || !d.c.ordinates(l.z, d.zScale, d.z) ||
		!d.c.ordinates(l.m, d.mScale, d.geometryField.m) {
		return d.c.err
	}
	return nil
}

// pairs reads the numbers of x and y. Nearly all have at most 4 bytes: then both are read at once, one
// in each half of a word.
func (c *cursor) pairs(x, y []float64, scale, originX, originY float64) bool {
	var sumX, sumY int64
	p, b := c.p, c.b
	y = y[:len(x)]
	for i := range x {
		if uint(p)+8 <= uint(len(b)) {
			w := binary.LittleEndian.Uint64(b[p:])
			last := ^w & moreBits
			k := bits.TrailingZeros64(last) // of the highest bit of the first one's last byte
			end := bits.TrailingZeros64(last & (last - 1))
			if k <= 31 && end <= 63 && end-k <= 32 {
				p += (end + 1) / 8
				v := w&(2<<(k&63)-1) | w>>((k+1)&63)&(1<<((end-k)&63)-1)<<32
				v &= ^uint64(moreBits)
				v = v&0x007f007f007f007f | v&0x7f007f007f007f00>>1
				v = v&0x00003fff00003fff | v&0x3fff00003fff0000>>2
				signX, signY := int64(v>>6&1), int64(v>>38&1)
				v = v&0x0000003f0000003f | v>>1&0x07ffffc007ffffc0
				sumX += (int64(uint32(v)) ^ -signX) + signX
				sumY += (int64(v>>32) ^ -signY) + signY
				x[i], y[i] = float64(float64(sumX)/scale)+originX, float64(float64(sumY)/scale)+originY
				continue
			}
		}
		c.p = p
		sumX += signed(c.varuint())
		sumY += signed(c.varuint())
		if p = c.p; c.err != nil {
			return false
		}
		x[i], y[i] = float64(float64(sumX)/scale)+originX, float64(float64(sumY)/scale)+originY
	}
	c.p = p
	return true
}

// ordinates reads the numbers of one ordinate.
func (c *cursor) ordinates(z []float64, scale, origin float64) bool {
	var sum int64
	for i := range z {
		v := c.varuint()
		if c.err != nil {
			return false
		}
		sum += signed(v)
		z[i] = float64(float64(sum)/scale) + origin
	}
	return true
}
