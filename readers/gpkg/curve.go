package gpkg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/curve"
)

// Types of geometries with curves in WKB (OGC 06-103r4 with SQL/MM part 3).
const (
	circularString = 8 + iota
	compoundCurve
	curvePolygon
	multiCurve
	multiSurface
)

// lineTypes are the types that curves become.
var lineTypes = map[uint32]geoarrow.Kind{
	circularString: geoarrow.LineString, compoundCurve: geoarrow.LineString, curvePolygon: geoarrow.Polygon,
	multiCurve: geoarrow.MultiLineString, multiSurface: geoarrow.MultiPolygon,
}

const (
	wkbHeadBytes  = 5
	wkbCountBytes = 4
	// maxCurveDepth is the maximum nesting of geometries.
	maxCurveDepth = 1024
)

// linearizer writes the WKB of a geometry again with lines in place of curves.
type linearizer struct {
	b     []byte
	at    int
	out   []byte
	line  curve.Line
	given []curve.Position // of a curve
	made  []curve.Position // of a line
}

// linearize returns WKB in which curves are lines. The slice is valid until the next call.
func (l *linearizer) linearize(wkb []byte) ([]byte, *geometryFault) {
	l.b, l.at, l.out, l.line.Computed = wkb, 0, l.out[:0], 0
	l.line.Add = func(p curve.Position) { l.made = append(l.made, p) }
	if f := l.geometry(0, nil); f != nil {
		return nil, f
	}
	if l.at < len(wkb) {
		return nil, l.faultf("%d bytes after the geometry", len(wkb)-l.at)
	}
	return l.out, nil
}

func (l *linearizer) faultf(format string, args ...any) *geometryFault {
	return &geometryFault{at: l.at, err: fmt.Errorf(format, args...)}
}

// wkbHead is the start of a geometry.
type wkbHead struct {
	order binary.ByteOrder
	kind  uint32
	dim   geoarrow.Dim
}

// Bits of the type in the older encoding of z, m and SRID.
const (
	wkbZ    = 0x80000000
	wkbM    = 0x40000000
	wkbSRID = 0x20000000
)

func (l *linearizer) head() (h wkbHead, f *geometryFault) {
	if len(l.b)-l.at < wkbHeadBytes {
		return h, l.faultf("the geometry ends within its header")
	}
	switch l.b[l.at] {
	case 0:
		h.order = binary.BigEndian
	case 1:
		h.order = binary.LittleEndian
	default:
		return h, l.faultf("byte order %d is neither 0 nor 1", l.b[l.at])
	}
	code := h.order.Uint32(l.b[l.at+1:])
	h.kind = code &^ (wkbZ | wkbM | wkbSRID)
	if h.kind >= 4000 || h.kind%1000 < 1 || h.kind%1000 > multiSurface || code&wkbSRID != 0 {
		return h, l.faultf("type %d is not one of Point to MultiSurface", code)
	}
	h.dim = geoarrow.Dim(h.kind / 1000)
	h.kind %= 1000
	if code&wkbZ != 0 {
		h.dim |= geoarrow.HasZ
	}
	if code&wkbM != 0 {
		h.dim |= geoarrow.HasM
	}
	l.at += wkbHeadBytes
	return h, nil
}

// count reads a number of elements of at least size bytes each.
func (l *linearizer) count(h wkbHead, size int) (int, *geometryFault) {
	left := len(l.b) - l.at - wkbCountBytes
	if left < 0 {
		return 0, l.faultf("the geometry ends within a count")
	}
	n := int64(h.order.Uint32(l.b[l.at:]))
	if n*int64(size) > int64(left) {
		return 0, l.faultf("count %d needs more than the %d bytes left", n, left)
	}
	l.at += wkbCountBytes
	return int(n), nil
}

// geometry writes a geometry, a member of another one unless that is nil.
func (l *linearizer) geometry(depth int, of *wkbHead) *geometryFault {
	start := l.at
	h, f := l.head()
	if f != nil {
		return f
	}
	if of != nil && (h.dim != of.dim || !isMember(of.kind, h.kind)) {
		l.at = start
		return l.faultf("a member of type %d in a geometry of type %d", h.kind, of.kind)
	}
	if depth > maxCurveDepth {
		return l.faultf("geometries are nested deeper than %d", maxCurveDepth)
	}
	kind := geoarrow.Kind(h.kind)
	if k, ok := lineTypes[h.kind]; ok {
		kind = k
	}
	l.out = append(l.out, 1)
	l.out = binary.LittleEndian.AppendUint32(l.out, uint32(kind)+1000*uint32(h.dim))
	switch h.kind {
	case uint32(geoarrow.Point):
		return l.copyPositions(h, 1)
	case uint32(geoarrow.LineString):
		return l.copyLine(h)
	case uint32(geoarrow.Polygon):
		return l.each(h, wkbCountBytes, func() *geometryFault { return l.copyLine(h) })
	case circularString, compoundCurve:
		l.made = l.made[:0]
		if f := l.curve(h); f != nil {
			return f
		}
		l.writeLine(h)
		return nil
	case curvePolygon:
		return l.each(h, wkbHeadBytes+wkbCountBytes, func() *geometryFault { return l.ring(h) })
	}
	return l.each(h, wkbHeadBytes+wkbCountBytes, func() *geometryFault { return l.geometry(depth+1, &h) })
}

// isMember reports whether a geometry of a type may have members of another one.
func isMember(of, kind uint32) bool {
	switch of {
	case uint32(geoarrow.GeometryCollection):
		return true
	case multiCurve:
		return kind == uint32(geoarrow.LineString) || kind == circularString || kind == compoundCurve
	case multiSurface:
		return kind == uint32(geoarrow.Polygon) || kind == curvePolygon
	}
	return kind+3 == of // of a Multi kind
}

// each reads and writes a count, and calls f for each element.
func (l *linearizer) each(h wkbHead, size int, f func() *geometryFault) *geometryFault {
	n, fault := l.count(h, size)
	if fault != nil {
		return fault
	}
	l.out = binary.LittleEndian.AppendUint32(l.out, uint32(n))
	for range n {
		if fault := f(); fault != nil {
			return fault
		}
	}
	return nil
}

// ring writes a ring of a CurvePolygon, which is a curve.
func (l *linearizer) ring(of wkbHead) *geometryFault {
	h, f := l.head()
	if f != nil {
		return f
	}
	if h.dim != of.dim || !isMember(multiCurve, h.kind) {
		l.at -= wkbHeadBytes
		return l.faultf("a ring of type %d, expected a curve", h.kind)
	}
	l.made = l.made[:0]
	if f := l.curve(h); f != nil {
		return f
	}
	l.writeLine(h)
	return nil
}

var errComputed = errors.New("the arcs of the geometry have too many positions as lines")

// curve adds the positions of a LineString, a CircularString or a CompoundCurve.
func (l *linearizer) curve(h wkbHead) *geometryFault {
	if h.kind == compoundCurve {
		n, f := l.count(h, wkbHeadBytes+wkbCountBytes)
		if f != nil {
			return f
		}
		for range n {
			m, f := l.head()
			if f != nil {
				return f
			}
			if m.dim != h.dim || m.kind != uint32(geoarrow.LineString) && m.kind != circularString {
				l.at -= wkbHeadBytes
				return l.faultf("a member of type %d in a COMPOUNDCURVE", m.kind)
			}
			if f := l.curve(m); f != nil {
				return f
			}
		}
		return nil
	}
	start := l.at
	if f := l.positions(h); f != nil {
		return f
	}
	given := l.given
	if len(given) == 0 {
		return nil
	}
	if n := len(l.made); n == 0 {
		l.made = append(l.made, given[0])
	} else if a, b := l.made[n-1], given[0]; !near(a.X, b.X) || !near(a.Y, b.Y) {
		l.at = start
		return l.faultf("a member of a COMPOUNDCURVE does not begin where the previous one ends")
	}
	if h.kind == uint32(geoarrow.LineString) {
		l.made = append(l.made, given[1:]...)
		return nil
	}
	if len(given)%2 == 0 {
		l.at = start
		return l.faultf("a CIRCULARSTRING of %d positions, expected an odd number", len(given))
	}
	for i := 0; i+2 < len(given); i += 2 {
		if !l.line.Arc(given[i], given[i+1], given[i+2]) {
			return &geometryFault{at: start, err: errComputed}
		}
	}
	return nil
}

// near reports whether two ordinates are equal up to rounding, as GDAL has it.
func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-14*math.Abs(b) }

// positions reads a count and positions.
func (l *linearizer) positions(h wkbHead) *geometryFault {
	size := h.dim.Size()
	n, f := l.count(h, 8*size)
	if f != nil {
		return f
	}
	l.given = l.given[:0]
	for range n {
		p := curve.Position{Z: math.NaN(), M: math.NaN()}
		to := [4]*float64{&p.X, &p.Y, &p.Z, &p.M}
		if h.dim == geoarrow.XYM {
			to[2] = &p.M
		}
		for _, v := range to[:size] {
			*v = math.Float64frombits(h.order.Uint64(l.b[l.at:]))
			l.at += 8
		}
		l.given = append(l.given, p)
	}
	return nil
}

// writeLine writes the positions that were made.
func (l *linearizer) writeLine(h wkbHead) {
	l.out = binary.LittleEndian.AppendUint32(l.out, uint32(len(l.made)))
	for _, p := range l.made {
		from := [4]float64{p.X, p.Y, p.Z, p.M}
		if h.dim == geoarrow.XYM {
			from[2] = p.M
		}
		for _, v := range from[:h.dim.Size()] {
			l.out = binary.LittleEndian.AppendUint64(l.out, math.Float64bits(v))
		}
	}
}

// copyLine copies a count and positions.
func (l *linearizer) copyLine(h wkbHead) *geometryFault {
	n, f := l.count(h, 8*h.dim.Size())
	if f != nil {
		return f
	}
	l.out = binary.LittleEndian.AppendUint32(l.out, uint32(n))
	return l.copyPositions(h, n)
}

func (l *linearizer) copyPositions(h wkbHead, n int) *geometryFault {
	bytes := 8 * h.dim.Size() * n
	if bytes > len(l.b)-l.at {
		return l.faultf("the geometry ends within its positions")
	}
	for end := l.at + bytes; l.at < end; l.at += 8 {
		l.out = binary.LittleEndian.AppendUint64(l.out, h.order.Uint64(l.b[l.at:]))
	}
	return nil
}
