package esrijson

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// coordinates reads the points, paths or rings at p into the builder.
func (s *scanner) coordinates(p int) int {
	if s.At(p) != '[' {
		return s.FailCoordinates(p, "an array of coordinates")
	}
	s.geom.lines, s.ends, s.arcs.Computed = 0, s.ends[:0], 0
	switch s.geom.shape {
	case multipoint:
		return s.Positions(p)
	case polyline:
		return s.Arrays(p, s.path)
	}
	return s.Arrays(p, s.ring)
}

// path reads a path. Its end is added before the next one, since a single path is a LineString,
// which has no parts.
func (s *scanner) path(p int) int {
	b := s.Geom
	if s.geom.lines > 0 {
		b.EndRing()
	}
	s.geom.lines++
	first := len(b.X)
	if p = s.line(p); len(b.X) == first+1 {
		s.Shapes.ShortLines++
	}
	return p
}

// line reads the positions of a path or ring.
func (s *scanner) line(p int) int {
	if s.geom.curved {
		return s.curvedPath(p)
	}
	return s.Positions(p)
}

// ring reads a ring. One without positions is no ring.
func (s *scanner) ring(p int) int {
	first := len(s.Geom.X)
	if p = s.line(p); p >= 0 && len(s.Geom.X) > first {
		s.EndRing(first)
		s.ends = append(s.ends, len(s.Geom.X))
	}
	return p
}

// position reads any position:
//
//	[x, y]    [x, y, z]    [x, y, z, m]    [x, y, m] with hasM and without hasZ
//
// z and m may be "NaN" or null. Further ordinates are ignored, and counted.
func (s *scanner) position(p int) int {
	if s.At(p) != '[' {
		return s.FailCoordinates(p, `"[" of a position`)
	}
	b, g := s.Geom, &s.geom
	for i := 0; ; i++ {
		var v float64
		var end int
		p = s.Space(p + 1)
		if i < 2 {
			if v, end = number.Float(s.Q, p); end < 0 {
				return s.FailOrdinate(p, end, v)
			}
		} else if v, end = s.ordinate(p); end < 0 {
			return -1
		}
		p = s.Space(end)
		switch {
		case i == 0:
			b.X = append(b.X, v)
		case i == 1:
			b.Y = append(b.Y, v)
		case i == 2 && !g.thirdM:
			b.AddZ(v)
			g.extra, g.hasZs = true, true
		case i == 2 || i == 3 && !g.thirdM:
			b.AddM(v)
			g.extra, g.hasMs = true, true
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

// endCoordinates gives the coordinates in the builder their kind.
func (s *scanner) endCoordinates(end int, m *mark) (geoarrow.Kind, int) {
	switch s.geom.shape {
	case multipoint:
		return geoarrow.MultiPoint, end
	case polyline:
		if s.geom.lines <= 1 {
			return geoarrow.LineString, end
		}
		s.Geom.EndRing()
		return geoarrow.MultiLineString, end
	}
	return s.endPolygon(end, m)
}
