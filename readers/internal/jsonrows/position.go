package jsonrows

import (
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
)

// FailCoordinates sets the fault: something else was expected at p, in coordinates.
func (s *Scanner) FailCoordinates(p int, want string) int {
	s.Fault = Fault{Pos: p, Want: want, Field: "geometry", Rule: s.PositionRule}
	return -1
}

// Arrays reads an array at p; do reads each element.
func (s *Scanner) Arrays(p int, do func(p int) int) int {
	p++
	if IsBlank(s.At(p)) {
		p = s.Space(p)
	}
	if s.At(p) == ']' {
		return p + 1
	}
	for {
		if s.At(p) != '[' {
			return s.FailCoordinates(p, `"[" of an array of positions`)
		}
		if p = do(p); p < 0 {
			return -1
		}
		if IsBlank(s.At(p)) {
			p = s.Space(p)
		}
		switch s.At(p) {
		case ']':
			return p + 1
		case ',':
			p++
			if IsBlank(s.At(p)) {
				p = s.Space(p)
			}
		default:
			return s.FailCoordinates(p, `"," or "]"`)
		}
	}
}

// Line reads an array of positions, and ends the line.
func (s *Scanner) Line(p int) int {
	before := len(s.Geom.X)
	p = s.Positions(p)
	if len(s.Geom.X)-before == 1 {
		s.Shapes.ShortLines++
	}
	s.Geom.EndRing()
	return p
}

// Rings reads the rings of a polygon. Rings that are not closed, or too short, are kept and counted.
func (s *Scanner) Rings(p int) int { return s.Arrays(p, s.Ring) }

// Ring reads an array of positions, and ends the ring.
func (s *Scanner) Ring(p int) int {
	first := len(s.Geom.X)
	if p = s.Positions(p); p >= 0 {
		s.EndRing(first)
	}
	return p
}

// EndRing ends the ring whose first position has an index, and counts it if it is unusual.
func (s *Scanner) EndRing(first int) {
	g := s.Geom
	last := len(g.X) - 1
	if last < first+3 {
		s.Shapes.ShortRings++
	}
	if last >= first && (g.X[first] != g.X[last] || g.Y[first] != g.Y[last]) {
		s.Shapes.UnclosedRings++
	}
	g.EndRing()
}

// Positions reads an array of positions, nearly all bytes of most files. Plain positions are read
// in bulk if the processor can. Two numbers with at most one blank at each place are read here,
// others by position.
func (s *Scanner) Positions(p int) int {
	p++
	if IsBlank(s.At(p)) {
		p = s.Space(p)
	}
	if s.At(p) == ']' {
		return p + 1
	}
	for {
		inside := true
		if s.PlainRuns {
			p, inside = positions.JSON(s.Geom, s.Q, p, positions.Most)
		}
		if inside {
			if p = s.pair(p); p < 0 {
				return -1
			}
		}
		if s.At(p) == ']' {
			return p + 1
		}
		p = s.Space(p)
		switch s.At(p) {
		case ',':
			p = s.Space(p + 1)
		case ']':
			return p + 1
		default:
			return s.FailCoordinates(p, `"," or "]"`)
		}
	}
}

// pair reads a position of two numbers, or calls Position.
func (s *Scanner) pair(p int) int {
	start := p
	if s.At(p) != '[' {
		return s.Position(start)
	}
	p++
	if s.At(p) == ' ' {
		p++
	}
	x, end := number.Float(s.Q, p)
	if end < 0 || s.At(end) != ',' {
		return s.Position(start)
	}
	p = end + 1
	if s.At(p) == ' ' {
		p++
	}
	y, end := number.Float(s.Q, p)
	if end < 0 {
		return s.Position(start)
	}
	if s.At(end) == ' ' {
		end++
	}
	if s.At(end) != ']' {
		return s.Position(start)
	}
	g := s.Geom
	g.X, g.Y = append(g.X, x), append(g.Y, y)
	return end + 1
}

// FailOrdinate sets the fault of an ordinate that number.Float refused.
func (s *Scanner) FailOrdinate(p, end int, v float64) int {
	if ^end == p && v == 0 {
		return s.FailCoordinates(p, "an ordinate, which is a number")
	}
	s.FailNumber(p, end, v, "")
	s.Fault.Field = "geometry"
	return -1
}

// PositionXYZ reads any position: two ordinates, a third, which is z, and further ones, which are
// ignored and counted.
func (s *Scanner) PositionXYZ(p int) int {
	if s.At(p) != '[' {
		return s.FailCoordinates(p, `"[" of a position`)
	}
	g := s.Geom
	for i := 0; ; i++ {
		p = s.Space(p + 1)
		v, end := number.Float(s.Q, p)
		if end < 0 {
			return s.FailOrdinate(p, end, v)
		}
		p = s.Space(end)
		switch i {
		case 0:
			g.X = append(g.X, v)
		case 1:
			g.Y = append(g.Y, v)
		case 2:
			g.AddZ(v)
		default:
			s.Shapes.IgnoredOrdinates++
		}
		switch {
		case s.At(p) == ',':
			continue
		case s.At(p) != ']':
			return s.FailCoordinates(p, `"," or "]" after an ordinate`)
		case i == 0:
			return s.FailCoordinates(p, "a second ordinate")
		}
		return p + 1
	}
}
