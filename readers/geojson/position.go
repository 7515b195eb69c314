package geojson

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
)

const positionRule = "RFC 7946 section 3.1.1"

// coordinates reads the coordinates member of a geometry of kind k at p into the builder.
func (s *scanner) coordinates(k geoarrow.Kind, p int) int {
	if s.At(p) != '[' {
		return s.failCoordinates(p, "an array of coordinates")
	}
	switch k {
	case geoarrow.Point:
		if q := s.Space(p + 1); s.At(q) == ']' {
			return q + 1 // an empty Point
		}
		if s.plainRuns {
			if end, inside := positions.JSON(&s.Sink.Geom, s.Q, p, 1); !inside {
				return end
			}
		}
		return s.position(p)
	case geoarrow.LineString:
		before := len(s.Sink.Geom.X)
		p = s.positions(p)
		if len(s.Sink.Geom.X)-before == 1 {
			s.Sink.Shapes.ShortLines++
		}
		return p
	case geoarrow.MultiPoint:
		return s.positions(p)
	case geoarrow.Polygon:
		return s.rings(p)
	case geoarrow.MultiLineString:
		return s.arrays(p, (*scanner).lineOfMulti)
	}
	return s.arrays(p, (*scanner).polygonOfMulti)
}

func (s *scanner) failCoordinates(p int, want string) int {
	s.Fault = jsonrows.Fault{Pos: p, Want: want, Field: "geometry", Rule: positionRule}
	return -1
}

// arrays reads an array at p; do reads each element.
func (s *scanner) arrays(p int, do func(*scanner, int) int) int {
	p++
	if jsonrows.IsBlank(s.At(p)) {
		p = s.Space(p)
	}
	if s.At(p) == ']' {
		return p + 1
	}
	for {
		if s.At(p) != '[' {
			return s.failCoordinates(p, `"[" of an array of positions`)
		}
		if p = do(s, p); p < 0 {
			return -1
		}
		if jsonrows.IsBlank(s.At(p)) {
			p = s.Space(p)
		}
		switch s.At(p) {
		case ']':
			return p + 1
		case ',':
			p++
			if jsonrows.IsBlank(s.At(p)) {
				p = s.Space(p)
			}
		default:
			return s.failCoordinates(p, `"," or "]"`)
		}
	}
}

func (s *scanner) lineOfMulti(p int) int {
	before := len(s.Sink.Geom.X)
	p = s.positions(p)
	if len(s.Sink.Geom.X)-before == 1 {
		s.Sink.Shapes.ShortLines++
	}
	s.Sink.Geom.EndRing()
	return p
}

func (s *scanner) polygonOfMulti(p int) int {
	p = s.rings(p)
	s.Sink.Geom.EndPart()
	return p
}

// rings reads the rings of a polygon. Rings that break the rules of section 3.1.6 are kept, and
// counted.
func (s *scanner) rings(p int) int { return s.arrays(p, (*scanner).ring) }

func (s *scanner) ring(p int) int {
	g := &s.Sink.Geom
	first := len(g.X)
	if p = s.positions(p); p < 0 {
		return -1
	}
	last := len(g.X) - 1
	if last < first+3 {
		s.Sink.Shapes.ShortRings++
	}
	if last >= first && (g.X[first] != g.X[last] || g.Y[first] != g.Y[last]) {
		s.Sink.Shapes.UnclosedRings++
	}
	g.EndRing()
	return p
}

// positions reads an array of positions, nearly all bytes of most files. Plain positions are read
// in bulk if the processor can. Two numbers with at most one blank at each place are read here,
// others by position.
func (s *scanner) positions(p int) int {
	p++
	if jsonrows.IsBlank(s.At(p)) {
		p = s.Space(p)
	}
	if s.At(p) == ']' {
		return p + 1
	}
	for {
		inside := true
		if s.plainRuns {
			p, inside = positions.JSON(&s.Sink.Geom, s.Q, p, positions.Most)
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
			return s.failCoordinates(p, `"," or "]"`)
		}
	}
}

// pair reads a position of two numbers, or calls position.
func (s *scanner) pair(p int) int {
	start := p
	if s.At(p) != '[' {
		return s.position(start)
	}
	p++
	if s.At(p) == ' ' {
		p++
	}
	x, end := number.Float(s.Q, p)
	if end < 0 || s.At(end) != ',' {
		return s.position(start)
	}
	p = end + 1
	if s.At(p) == ' ' {
		p++
	}
	y, end := number.Float(s.Q, p)
	if end < 0 {
		return s.position(start)
	}
	if s.At(end) == ' ' {
		end++
	}
	if s.At(end) != ']' {
		return s.position(start)
	}
	g := &s.Sink.Geom
	g.X, g.Y = append(g.X, x), append(g.Y, y)
	return end + 1
}

// position reads any position: two ordinates, a third, which is z, and further ones, which RFC 7946
// allows to ignore.
func (s *scanner) position(p int) int {
	if s.At(p) != '[' {
		return s.failCoordinates(p, `"[" of a position`)
	}
	g := &s.Sink.Geom
	for i := 0; ; i++ {
		p = s.Space(p + 1)
		v, end := number.Float(s.Q, p)
		if end < 0 {
			return s.failOrdinate(p, end, v)
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
			s.Sink.Shapes.IgnoredOrdinates++
		}
		switch {
		case s.At(p) == ',':
			continue
		case s.At(p) != ']':
			return s.failCoordinates(p, `"," or "]" after an ordinate`)
		case i == 0:
			return s.failCoordinates(p, "a second ordinate")
		}
		return p + 1
	}
}

func (s *scanner) failOrdinate(p, end int, v float64) int {
	if ^end == p && v == 0 {
		return s.failCoordinates(p, "an ordinate, which is a number")
	}
	s.FailNumber(p, end, v, "")
	s.Fault.Field = "geometry"
	return -1
}
