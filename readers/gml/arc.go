package gml

import (
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/internal/curve"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const arcRule = "OGC 07-036 section 10.4.7"

// isArc reports whether a name is that of a segment of circular arcs.
func isArc(local []byte) bool {
	switch string(local) {
	case "Arc", "ArcString", "Circle", "ArcByCenterPoint", "CircleByCenterPoint":
		return true
	}
	return false
}

// isGeodesic reports whether a name is that of a segment that is read as a line through its
// positions.
func isGeodesic(local []byte) bool {
	return string(local) == "Geodesic" || string(local) == "GeodesicString"
}

// arc reads a curved segment, whose start tag was read, as a line, up to its end.
func (s *scanner) arc(c frame) bool {
	name := string(s.X.Local())
	switch {
	case !s.linearize:
		return s.refuse("a line: only straight segments are; the option " + optionLinearize + " reads it as one")
	case name == "ArcByCenterPoint", name == "CircleByCenterPoint":
		return s.aroundCenter(c, name == "CircleByCenterPoint")
	}
	first := len(s.sink.Geom.X)
	if !s.positions(c) {
		return false
	}
	n := len(s.sink.Geom.X) - first
	switch {
	case n == 0, isGeodesic([]byte(name)):
		return true
	case name == "ArcString" && (n < 3 || n%2 == 0):
		return s.wrongArc(fmt.Sprintf("an ArcString of %d positions: want an odd number from 3 on", n))
	case name != "ArcString" && n != 3:
		return s.wrongArc(fmt.Sprintf("<%s> with %d positions: want 3", name, n))
	}
	given := s.takePositions(first)
	s.arcs.Add = s.addPosition
	s.addPosition(given.at(0))
	for i := 0; i+2 < n; i += 2 {
		if !s.arcs.Through(given.at(i), given.at(i+1), given.at(i+2)) {
			return s.tooManyComputed()
		}
	}
	return name != "Circle" || s.closeCircle(given.at(0), given.at(1), given.at(2))
}

func (s *scanner) wrongArc(what string) bool {
	return s.Wrong(s.X.At, fieldGeometry, arcRule, what)
}

// givenPositions are the positions of an arc in the file.
type givenPositions struct{ x, y, z []float64 }

func (g *givenPositions) at(i int) curve.Position {
	p := curve.Position{X: g.x[i], Y: g.y[i], Z: nan, M: nan}
	if i < len(g.z) {
		p.Z = g.z[i]
	}
	return p
}

// takePositions removes the positions from first on from the current geometry, and returns them.
func (s *scanner) takePositions(first int) *givenPositions {
	g, t := &s.sink.Geom, &s.given
	t.x, t.y, t.z = append(t.x[:0], g.X[first:]...), append(t.y[:0], g.Y[first:]...), t.z[:0]
	if len(g.Z) > first {
		t.z = append(t.z, g.Z[first:]...)
	}
	g.X, g.Y, g.Z = g.X[:first], g.Y[:first], g.Z[:min(first, len(g.Z))]
	return t
}

func (s *scanner) addPosition(p curve.Position) {
	g := &s.sink.Geom
	g.X, g.Y = append(g.X, p.X), append(g.Y, p.Y)
	if !math.IsNaN(p.Z) {
		g.AddZ(p.Z)
	}
}

// closeCircle adds the arc of a Circle from its third position back to its first one.
func (s *scanner) closeCircle(a, b, c curve.Position) bool {
	switch fits, known := s.arcs.CloseCircle(a, b, c); {
	case !known:
		return s.wrongArc("a Circle whose positions are in a line")
	case !fits:
		return s.tooManyComputed()
	}
	return true
}

func (s *scanner) tooManyComputed() bool {
	return s.wrongArc(fmt.Sprintf("arcs of more than %d computed positions in a feature", curve.MaxComputed))
}

// centeredArc has the parameters of an arc or a circle around a position. Angles are in radians,
// from the first axis of the system towards the second.
type centeredArc struct {
	radius   float64
	unit     string // of the radius, as written
	from, to float64
	has      uint8 // bits of the elements that were present: radius, startAngle, endAngle
}

const (
	hasRadius = 1 << iota
	hasStart
	hasEnd
)

// aroundCenter reads an ArcByCenterPoint or a CircleByCenterPoint, whose start tag was read, up to
// its end.
func (s *scanner) aroundCenter(c frame, whole bool) bool {
	first := len(s.sink.Geom.X)
	var e centeredArc
	for {
		switch s.X.Next() {
		case xmltext.End:
			return s.applyAxes(c, first) && s.addAround(c, first, e, whole)
		case xmltext.Start:
		default:
			return false
		}
		ok := false
		switch string(s.X.Local()) {
		case "radius":
			if unit, has := s.X.Attr("uom"); has {
				e.unit = string(unit)
			}
			e.radius, ok = s.measure()
			e.has |= hasRadius
		case "startAngle":
			e.from, ok = s.angle()
			e.has |= hasStart
		case "endAngle":
			e.to, ok = s.angle()
			e.has |= hasEnd
		default:
			ok = s.somePositions(&c, &first)
		}
		if !ok {
			return false
		}
	}
}

// measure reads the number in the element whose start tag was read, up to its end.
func (s *scanner) measure() (v float64, ok bool) {
	text, ok := s.flat()
	if !ok {
		return 0, false
	}
	p := text.space(0)
	v, end := s.ordinate(text.q, p, text.n)
	if end < 0 || text.space(end) < text.n {
		return 0, s.Expect(text.at(p), fieldGeometry, arcRule, "a number")
	}
	return v, s.closes()
}

// angle is measure for an angle, which is in degrees unless its unit is radians.
func (s *scanner) angle() (v float64, ok bool) {
	unit, _ := s.X.Attr("uom")
	radians := string(unit) == "rad" || string(unit) == "radian" || string(unit) == "urn:ogc:def:uom:EPSG::9101"
	if v, ok = s.measure(); !radians {
		v *= math.Pi / 180
	}
	return v, ok
}
