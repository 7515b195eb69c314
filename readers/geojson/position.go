package geojson

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
)

const positionRule = "RFC 7946 section 3.1.1"

// coordinates reads the coordinates member of a geometry of kind k at p into the builder.
func (s *scanner) coordinates(k geoarrow.Kind, p int) int {
	if s.At(p) != '[' {
		return s.FailCoordinates(p, "an array of coordinates")
	}
	switch k {
	case geoarrow.Point:
		if q := s.Space(p + 1); s.At(q) == ']' {
			return q + 1 // an empty Point
		}
		if s.PlainRuns {
			if end, inside := positions.JSON(s.Geom, s.Q, p, 1); !inside {
				return end
			}
		}
		return s.PositionXYZ(p)
	case geoarrow.LineString:
		before := len(s.Geom.X)
		p = s.Positions(p)
		if len(s.Geom.X)-before == 1 {
			s.Shapes.ShortLines++
		}
		return p
	case geoarrow.MultiPoint:
		return s.Positions(p)
	case geoarrow.Polygon:
		return s.Rings(p)
	case geoarrow.MultiLineString:
		return s.Arrays(p, s.Line)
	}
	return s.Arrays(p, s.polygonOfMulti)
}

func (s *scanner) polygonOfMulti(p int) int {
	p = s.Rings(p)
	s.Geom.EndPart()
	return p
}
