package esrijson

import (
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/internal/curve"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/trig"
)

// curvedPath reads a path or ring of curvePaths or curveRings, without its end: positions, and curves
// from the position before to their first one.
//
//	{"c": [end, through]}                                                     circular arc
//	{"b": [end, control, control]}                                            Bézier curve
//	{"a": [end, center, minor, clockwise [, rotation, half axis, ratio]]}     elliptic arc, or a circular one
func (s *scanner) curvedPath(p int) int {
	first := len(s.Geom.X)
	p = s.Space(p + 1)
	for s.At(p) != ']' {
		if len(s.Geom.X) > first {
			if s.At(p) != ',' {
				return s.FailCoordinates(p, `"," or "]"`)
			}
			p = s.Space(p + 1)
		}
		if s.At(p) == '{' && len(s.Geom.X) > first {
			p = s.curve(p)
		} else {
			p = s.position(p)
		}
		if p < 0 {
			return -1
		}
		p = s.Space(p)
	}
	return p + 1
}

// curve reads a curve object, which has one member.
func (s *scanner) curve(p int) int {
	kind := byte(0)
	var at int
	end := s.Walk(p, 0, func(name []byte, value int) int {
		if len(name) != 1 || name[0]-'a' > 'c'-'a' || kind != 0 {
			return s.FailRule(value, geometryRule, `one of "a", "b" and "c" of a curve`)
		}
		kind, at = name[0], value
		return s.Skip(value, 0)
	})
	if end < 0 {
		return -1
	}
	if kind == 0 || s.At(at) != '[' {
		return s.FailRule(p, geometryRule, "a curve object")
	}
	from := s.last()
	to, at := s.takePosition(at + 1)
	ok := true
	switch {
	case at < 0:
	case kind == 'a':
		at, ok = s.ellipse(from, to, at)
	default:
		var one, two curve.Position
		if one, at = s.takeNext(at); kind == 'b' && at >= 0 {
			two, at = s.takeNext(at)
		}
		if at < 0 {
			break
		}
		if kind == 'b' {
			ok = s.arcs.Bezier(from, one, two, to)
		} else {
			ok = s.through(from, one, to)
		}
	}
	switch {
	case at < 0:
		return -1
	case !ok:
		return s.Wrong(p, "geometry", "", fmt.Sprintf("curves of more than %d computed positions", curve.MaxComputed))
	}
	if at = s.Space(at); s.At(at) != ']' {
		return s.FailRule(at, geometryRule, `"]" of a curve`)
	}
	return end
}

// last returns the last position in the builder.
func (s *scanner) last() curve.Position {
	n := len(s.Geom.X) - 1
	p := curve.Position{X: s.Geom.X[n], Y: s.Geom.Y[n], Z: nan, M: nan}
	if len(s.Geom.Z) > n {
		p.Z = s.Geom.Z[n]
	}
	if len(s.Geom.M) > n {
		p.M = s.Geom.M[n]
	}
	return p
}

// takePosition reads the position at p, after blanks, and leaves it out of the builder.
func (s *scanner) takePosition(p int) (curve.Position, int) {
	end := s.position(s.Space(p))
	if end < 0 {
		return curve.Position{}, -1
	}
	at, b := s.last(), s.Geom
	n := len(b.X) - 1
	b.X, b.Y, b.Z, b.M = b.X[:n], b.Y[:n], b.Z[:min(n, len(b.Z))], b.M[:min(n, len(b.M))]
	return at, end
}

// takeNext is takePosition after a comma.
func (s *scanner) takeNext(p int) (curve.Position, int) {
	if p = s.Space(p); s.At(p) != ',' {
		return curve.Position{}, s.FailRule(p, geometryRule, `"," and a position of a curve`)
	}
	return s.takePosition(p + 1)
}

// addComputed adds a position of a curve.
func (s *scanner) addComputed(p curve.Position) {
	b := s.Geom
	b.X, b.Y = append(b.X, p.X), append(b.Y, p.Y)
	if s.geom.hasZs {
		b.AddZ(p.Z)
	}
	if s.geom.hasMs {
		b.AddM(p.M)
	}
}

// through adds an arc through a position. Of a circle, whose ends are one position, it adds both
// halves: the position is opposite of them.
func (s *scanner) through(from, half, to curve.Position) bool {
	half.Z, half.M = (from.Z+to.Z)/2, (from.M+to.M)/2
	if from.X != to.X || from.Y != to.Y {
		return s.arcs.Arc(from, half, to)
	}
	e := curve.Ellipse{X: (from.X + half.X) / 2, Y: (from.Y + half.Y) / 2}
	if e.Major = trig.Hypot(from.X-e.X, from.Y-e.Y); e.Major == 0 {
		s.arcs.Add(to)
		return true
	}
	e.Minor = e.Major
	return s.arcs.Ellipse(e, from, to, curve.WholeTurn)
}

// ellipse reads the rest of an elliptic arc from p on, and adds it.
func (s *scanner) ellipse(from, to curve.Position, p int) (end int, ok bool) {
	center, p := s.takeNext(p)
	if p < 0 {
		return -1, true
	}
	var v [5]float64 // minor, clockwise, rotation, half axis, ratio
	n := 0
	for p = s.Space(p); s.At(p) == ','; n++ {
		if n == len(v) {
			return s.FailRule(p, geometryRule, `"]" of a curve`), true
		}
		p = s.Space(p + 1)
		var end int
		if v[n], end = number.Float(s.Q, p); end < 0 {
			return s.FailOrdinate(p, end, v[n]), true
		}
		p = s.Space(end)
	}
	if n != 2 && n != len(v) {
		return s.FailRule(p, geometryRule, "two or five numbers of an arc"), true
	}
	e := curve.Ellipse{X: center.X, Y: center.Y, Rotation: v[2], Major: v[3], Minor: v[3] * v[4]}
	if n == 2 {
		e.Major = trig.Hypot(from.X-center.X, from.Y-center.Y)
		e.Minor = e.Major
	}
	if !(e.Major > 0 && e.Minor > 0) {
		s.arcs.Add(to)
		return p, true
	}
	return p, s.arcs.Ellipse(e, from, to, extent(&e, from, to, v[1] != 0))
}

// extent returns the extent of an arc that turns clockwise or not.
func extent(e *curve.Ellipse, from, to curve.Position, clockwise bool) curve.Extent {
	if from.X == to.X && from.Y == to.Y {
		return curve.WholeTurn
	}
	turn := e.Angle(to) - e.Angle(from)
	if (turn < 0) == clockwise == (math.Abs(turn) <= math.Pi) {
		return curve.MinorArc
	}
	return curve.MajorArc
}
