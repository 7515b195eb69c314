package esrijson

import (
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// shape is a kind of geometry, which the names of its members tell.
type shape uint8

const (
	noShape shape = iota
	point
	multipoint
	polyline
	polygon
	envelope
)

// shapeOf returns the shape that a member belongs to.
func shapeOf(name []byte) shape {
	switch string(name) {
	case "x", "y":
		return point
	case "points":
		return multipoint
	case "paths", "curvePaths":
		return polyline
	case "rings", "curveRings":
		return polygon
	case "xmin", "ymin", "xmax", "ymax":
		return envelope
	}
	return noShape
}

var nan = math.Float64frombits(0x7ff8000000000000) // the one that every table has

// geometry is what was read of a geometry object so far.
type geometry struct {
	shape  shape
	values [6]float64 // x, y, z, m of a point; xmin, ymin, xmax, ymax
	has    uint8      // a bit for each of values that was there
	at     int        // of the coordinates; -1: none
	hasZ   int8       // -1: the geometry does not say
	hasM   int8
	curved bool // the coordinates may have curves
	thirdM bool // a third ordinate was read as m
	extra  bool // some position has more than two ordinates
	hasZs  bool // some position has z
	hasMs  bool
	first  int // index of the first position in the builder
	lines  int // paths so far
}

// mark is a position to return to.
type mark struct {
	mark   geoarrow.Mark
	shapes rows.Shapes
}

// geometry reads the geometry object at p, inside of open brackets, without its end. NoKind is an
// object without coordinates, which is null.
func (s *scanner) geometry(p, open int) (geoarrow.Kind, int) {
	if s.At(p) != '{' {
		s.FailRule(p, geometryRule, "a geometry object")
		s.Fault.Field = "geometry"
		return 0, -1
	}
	var m mark
	s.Geom.SetMark(&m.mark)
	m.shapes = *s.Shapes
	s.geom = geometry{at: -1, hasZ: -1, hasM: -1, thirdM: s.header.thirdM, first: len(s.Geom.X)}
	end := s.Walk(p, open, func(name []byte, at int) int { return s.geometryMember(name, at, open+1) })
	if end < 0 {
		if s.Fault.Field == "" {
			s.Fault.Field = "geometry"
		}
		return 0, -1
	}
	return s.endShape(end, &m)
}

// geometryMember reads a member of a geometry.
func (s *scanner) geometryMember(name []byte, p, open int) int {
	g := &s.geom
	switch string(name) {
	case "hasZ", "hasM":
		v, end := s.flag(p)
		flag := int8(0)
		if v {
			flag = 1
		}
		if string(name) == "hasZ" {
			g.hasZ = flag
		} else {
			g.hasM = flag
		}
		if third := g.hasM > 0 && g.hasZ <= 0; g.at < 0 && (g.hasM >= 0 || g.hasZ >= 0) {
			g.thirdM = third // else it is known whether the coordinates are to be read again
		}
		return end
	case "z":
		return s.scalar(2, p)
	case "m":
		return s.scalar(3, p)
	case "spatialReference":
		return s.geometryCRS(p, open)
	}
	shape := shapeOf(name)
	switch {
	case shape == noShape:
		s.Sink.Foreign = append(s.Sink.Foreign, string(name))
		return s.Skip(p, open)
	case name[0] == 'c' && !s.linearize:
		return s.Wrong(p, "geometry", geometryRule,
			string(name)+" may have curves, which the option curves=linearize reads as lines")
	case g.shape != noShape && (g.shape != shape || shape >= multipoint && shape <= polygon):
		return s.Wrong(p, "geometry", geometryRule, fmt.Sprintf("a second shape, %s, in one geometry", name))
	}
	g.shape, g.curved = shape, name[0] == 'c'
	switch shape {
	case point:
		return s.scalar(int(name[0]-'x'), p)
	case envelope:
		i := int(name[0] - 'x')
		if string(name[1:]) == "max" {
			i += 2
		}
		return s.scalar(i, p)
	}
	g.at = p
	if s.At(p) == 'n' { // null, as an empty array
		return s.Literal(p, "null")
	}
	return s.coordinates(p)
}

// scalar reads a number of a point or an envelope. The text "NaN" and null are NaN.
func (s *scanner) scalar(i, p int) int {
	g := &s.geom
	if g.has>>i&1 != 0 {
		return s.Wrong(p, "geometry", geometryRule, "a member twice")
	}
	g.has |= 1 << i
	v, end := s.ordinate(p)
	g.values[i] = v
	return end
}

// ordinate reads a number, or NaN for the text "NaN" and null.
func (s *scanner) ordinate(p int) (float64, int) {
	switch s.At(p) {
	case 'n':
		return nan, s.Literal(p, "null")
	case '"':
		return nan, notANumber(&s.Scanner, p)
	}
	v, end := number.Float(s.Q, p)
	if end < 0 || end >= s.N {
		return 0, s.FailOrdinate(p, end, v)
	}
	return v, end
}

// endShape makes the builder hold the geometry whose object ends at end.
func (s *scanner) endShape(end int, m *mark) (geoarrow.Kind, int) {
	g := &s.geom
	switch g.shape {
	case noShape:
		if g.has != 0 {
			return 0, s.Wrong(end-1, "geometry", geometryRule, "a geometry with z or m, without x and y")
		}
		return geoarrow.NoKind, end
	case point:
		return s.endPoint(end)
	case envelope:
		return s.endEnvelope(end)
	}
	third := g.hasM > 0 && g.hasZ <= 0
	if (g.hasM >= 0 || g.hasZ >= 0) && third != g.thirdM && g.extra { // the flags came after the coordinates
		g.thirdM, g.hasZs, g.hasMs = third, false, false
		s.Geom.Rewind(m.mark)
		*s.Shapes = m.shapes
		if s.coordinates(g.at) < 0 {
			return 0, -1
		}
	}
	if g.has != 0 {
		return 0, s.Wrong(end-1, "geometry", geometryRule, "z or m next to arrays of coordinates")
	}
	return s.endCoordinates(end, m)
}

// endPoint adds a point. One whose x is NaN is empty.
func (s *scanner) endPoint(end int) (geoarrow.Kind, int) {
	g, b := &s.geom, s.Geom
	if g.has&1 == 0 || g.has&2 == 0 && g.values[0] == g.values[0] {
		return 0, s.Wrong(end-1, "geometry", geometryRule, "a point without x or y")
	}
	if x := g.values[0]; x == x {
		b.X, b.Y = append(b.X, x), append(b.Y, g.values[1])
		if g.has>>2&1 != 0 {
			b.AddZ(g.values[2])
		}
		if g.has>>3&1 != 0 {
			b.AddM(g.values[3])
		}
	}
	return geoarrow.Point, end
}

// endEnvelope adds an envelope as the polygon of its corners. One whose xmin is NaN is empty.
func (s *scanner) endEnvelope(end int) (geoarrow.Kind, int) {
	g, b := &s.geom, s.Geom
	v := &g.values
	if g.has&1 == 0 || v[0] == v[0] && g.has&15 != 15 {
		return 0, s.Wrong(end-1, "geometry", geometryRule, "an envelope without one of its sides")
	}
	if v[0] == v[0] {
		b.X = append(b.X, v[0], v[0], v[2], v[2], v[0])
		b.Y = append(b.Y, v[1], v[3], v[3], v[1], v[1])
		b.EndRing()
	}
	return geoarrow.Polygon, end
}
