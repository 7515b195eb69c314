package topojson

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

// Rules of deviations, in addition to those of package jsonrows.
const (
	ruleGeometry = "bad-geometry" // a geometry that is malformed
	ruleObject   = "no-geometry"  // a row that is not a geometry object
)

// ReadLenient reads the geometry at p, with null for each malformed value.
func (s *scanner) ReadLenient(p int) int {
	if !s.nameRow() {
		return -1
	}
	if s.At(p) != '{' {
		s.Deviate(p, "", ruleObject, "row is null")
		s.Geom.Null()
		return s.LooseSkip(p)
	}
	last, open := s.LastMembers(p), s.Brackets+1
	m := noMembers
	sound := true // the members of the geometry
	end := s.Object(p, true, func(name []byte, at int) int {
		if name == nil {
			s.Deviate(at, "", jsonrows.RuleKey, "member is left out")
			return s.LooseSkip(at)
		}
		member := s.Member(name)
		place := m.of(member)
		switch {
		case member == jsonrows.MemberForeign:
			s.Sink.Foreign = append(s.Sink.Foreign, string(name))
		case last[string(name)] != at:
		case member == memberProperties:
			return s.LenientMembers(at, open)
		case member == memberID:
			end, ok := s.Loose(at)
			if ok {
				end = s.ReadID(at)
			}
			if !ok || end < 0 {
				return s.BadValue(at, "id")
			}
			return end
		case place != nil:
			*place = at
			end, ok := s.Loose(at)
			sound = sound && ok
			return end
		}
		return s.LenientSkip(at, open)
	})
	if end < 0 {
		return -1
	}
	return s.lenientShape(&m, p, end, sound)
}

// of returns the place of a member of a geometry, or nil for any other one.
func (m *members) of(member byte) *int {
	switch member {
	case memberType:
		return &m.kind
	case memberArcs:
		return &m.arcs
	case memberCoordinates:
		return &m.coordinates
	case memberGeometries:
		return &m.geometries
	}
	return nil
}

// lenientShape reads the geometry of the row from p to end. Its members are sound if they are JSON.
func (s *scanner) lenientShape(m *members, p, end int, sound bool) int {
	var mark geoarrow.Mark
	s.Geom.SetMark(&mark)
	shapes, foreign := *s.Shapes, len(s.Sink.Foreign)
	if sound {
		if k, ok := s.shape(m, end, s.Brackets+1); ok {
			s.endGeometry(k)
			return end
		}
		if s.Failure != nil || s.Fault.Depth {
			return -1
		}
		p = s.Fault.Pos
	}
	s.Geom.Rewind(mark)
	*s.Shapes, s.Sink.Foreign = shapes, s.Sink.Foreign[:foreign]
	s.Deviate(p, readers.GeometryColumn, ruleGeometry, "geometry is null")
	s.Geom.Null()
	return end
}
