package gml

import (
	"fmt"
	"math"
	"strconv"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const arcRule = "OGC 07-036 section 10.4.7"

// Arcs become lines as in GDAL: a position every stepDegrees, with equal steps in an arc. Positions
// in the file are kept exactly.
const (
	stepDegrees = 4
	stepAngle   = stepDegrees * math.Pi / 180
)

// maxComputed bounds the computed positions of a feature: a few bytes of an arc become up to 90
// positions.
const maxComputed = 1 << 20

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
	s.addPosition(given.at(0))
	for i := 0; i+2 < n; i += 2 {
		if !s.through(given.at(i), given.at(i+1), given.at(i+2)) {
			return false
		}
	}
	return name != "Circle" || s.closeCircle(given.at(0), given.at(1), given.at(2))
}

func (s *scanner) wrongArc(what string) bool {
	return s.Wrong(s.X.At, fieldGeometry, arcRule, what)
}

// position is a position of an arc. z is NaN if it has none.
type position struct{ x, y, z float64 }

// givenPositions are the positions of an arc in the file.
type givenPositions struct{ x, y, z []float64 }

func (g *givenPositions) at(i int) position {
	p := position{g.x[i], g.y[i], nan}
	if i < len(g.z) {
		p.z = g.z[i]
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

func (s *scanner) addPosition(p position) {
	g := &s.sink.Geom
	g.X, g.Y = append(g.X, p.x), append(g.Y, p.y)
	if !math.IsNaN(p.z) {
		g.AddZ(p.z)
	}
}

// circle is a circle with angles counter-clockwise from the x axis.
type circle struct{ x, y, radius float64 }

func (c circle) angle(p position) float64 { return math.Atan2(p.y-c.y, p.x-c.x) }

func (c circle) at(angle float64) (x, y float64) {
	sin, cos := math.Sincos(angle)
	return c.x + float64(c.radius*cos), c.y + float64(c.radius*sin) // not fused: the same on every processor
}

// circleThrough returns the circle through three positions, and their angles on it, in order.
// Collinear positions have none. If the first one equals the last one, it is the full circle with
// the second one opposite.
func circleThrough(a, b, c position) (o circle, at [3]float64, ok bool) {
	if a.x == c.x && a.y == c.y {
		o = circle{(a.x + b.x) / 2, (a.y + b.y) / 2, math.Hypot(a.x-b.x, a.y-b.y) / 2}
		at[0] = o.angle(a)
		return o, [3]float64{at[0], at[0] + math.Pi, at[0] + 2*math.Pi}, o.radius > 0
	}
	bx, by, cx, cy := b.x-a.x, b.y-a.y, c.x-a.x, c.y-a.y
	twice := 2 * (bx*cy - by*cx)
	bb, cc := bx*bx+by*by, cx*cx+cy*cy
	if bb == 0 || math.Abs(twice) <= 1e-8*math.Sqrt(bb*cc) {
		return circle{}, at, false
	}
	ox, oy := (cy*bb-by*cc)/twice, (bx*cc-cx*bb)/twice
	o = circle{a.x + ox, a.y + oy, math.Hypot(ox, oy)}
	at = [3]float64{o.angle(a), o.angle(b), o.angle(c)}
	turn := 2 * math.Pi
	if twice < 0 {
		turn = -turn
	}
	for i := 1; i < 3; i++ {
		for (at[i]-at[i-1])*turn < 0 {
			at[i] += turn
		}
	}
	return o, at, !math.IsInf(o.radius, 0) && !math.IsNaN(o.radius)
}

// through adds an arc after its first position: through b to c.
func (s *scanner) through(a, b, c position) bool {
	if o, at, ok := circleThrough(a, b, c); ok {
		if !s.between(o, at[0], at[1], a.z, b.z) {
			return false
		}
		s.addPosition(b)
		if !s.between(o, at[1], at[2], b.z, c.z) {
			return false
		}
	} else {
		s.addPosition(b)
	}
	s.addPosition(c)
	return true
}

// closeCircle adds the arc of a Circle from its third position back to its first one.
func (s *scanner) closeCircle(a, b, c position) bool {
	o, at, ok := circleThrough(a, b, c)
	if !ok {
		return s.wrongArc("a Circle whose positions are in a line")
	}
	end := at[0] + 2*math.Pi
	if at[1] < at[0] {
		end = at[0] - 2*math.Pi
	}
	middle := (at[2] + end) / 2
	z := (c.z + a.z) / 2
	if !s.between(o, at[2], middle, c.z, z) {
		return false
	}
	x, y := o.at(middle)
	s.addPosition(position{x, y, z})
	if !s.between(o, middle, end, z, a.z) {
		return false
	}
	s.addPosition(a)
	return true
}

// between adds the positions of a circle between two angles, without those at either end. z is
// interpolated linearly.
func (s *scanner) between(o circle, from, to, z0, z1 float64) bool {
	n := int(math.Abs(to-from)/stepAngle + 0.5)
	if s.row.computed += n; s.row.computed > maxComputed {
		return s.wrongArc("arcs of more than " + strconv.Itoa(maxComputed) + " computed positions in a feature")
	}
	for i := 1; i < n; i++ {
		part := float64(i) / float64(n)
		x, y := o.at(from + (to-from)*part)
		s.addPosition(position{x, y, z0 + (z1-z0)*part})
	}
	return true
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
