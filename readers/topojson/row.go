package topojson

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

// Members of a geometry.
const (
	memberType = 1 + iota
	memberArcs
	memberProperties
	memberID
	memberCoordinates
	memberGeometries
	memberBBox
)

// row is what was read of a row so far. If a member is repeated, the last one counts.
type row struct {
	members    members
	properties bool
	id         bool
}

// members are the places of the values of a geometry's members; -1: none.
type members struct{ kind, arcs, coordinates, geometries int }

var noMembers = members{-1, -1, -1, -1}

// ReadRow reads the geometry at p.
func (s *scanner) ReadRow(p int) int {
	if s.At(p) != '{' {
		return s.FailRule(p, geometryRule, "a geometry object")
	}
	if s.Brackets >= s.Limits.MaxDepth {
		return s.FailDepth(p)
	}
	if s.RowNumber != s.current {
		s.used += s.inRow
	}
	s.row, s.current, s.inRow = row{members: noMembers}, s.RowNumber, 0
	if !s.nameRow() {
		return -1
	}
	end := s.RowObject(p, s)
	if end < 0 {
		return -1
	}
	k, ok := s.shape(&s.row.members, end, s.Brackets+1)
	if !ok {
		if s.Fault.Field == "" {
			s.Fault.Field = "geometry"
		}
		return -1
	}
	s.endGeometry(k)
	return end
}

// nameRow gives an object of the topology its name as its id.
func (s *scanner) nameRow() bool {
	if s.layer.objects == nil {
		return true
	}
	c := s.IDColumn(int(s.RowOffset - s.Base))
	if c == nil {
		return false
	}
	c.Pad(s.Sink.Rows)
	c.AddText([]byte(s.layer.nameAt(s.RowOffset)))
	return true
}

// Member implements jsonrows.RowReader.
func (s *scanner) Member(name []byte) byte {
	switch string(name) {
	case "type":
		return memberType
	case "arcs":
		return memberArcs
	case "properties":
		return memberProperties
	case "id":
		if s.layer.objects == nil { // otherwise its name is the id
			return memberID
		}
	case "coordinates":
		return memberCoordinates
	case "geometries":
		return memberGeometries
	case "bbox":
		return memberBBox
	}
	return jsonrows.MemberForeign
}

// ReadMember implements jsonrows.RowReader.
func (s *scanner) ReadMember(member byte, p, open int) int {
	m := &s.row.members
	switch member {
	case memberType:
		m.kind = p
	case memberArcs:
		m.arcs = p
	case memberCoordinates:
		m.coordinates = p
	case memberGeometries:
		m.geometries = p
	case memberProperties:
		if s.Passed(p) {
			break
		}
		if s.row.properties {
			return s.Repeated(p, open)
		}
		s.row.properties = true
		if s.At(p) == 'n' {
			return s.Literal(p, "null")
		}
		return s.ReadMembers(p, open)
	case memberID:
		if s.Passed(p) {
			break
		}
		if s.row.id {
			return s.Repeated(p, open)
		}
		s.row.id = true
		return s.ReadID(p)
	}
	return s.Skip(p, open)
}

// Typed implements jsonrows.RowReader: rows have many types.
func (s *scanner) Typed(int) {}

// Type implements jsonrows.RowReader.
func (s *scanner) Type() (p int, valid bool) { return -1, true }

// endGeometry ends the geometry of a row, or of a collection; NoKind is null.
func (s *scanner) endGeometry(k geoarrow.Kind) {
	switch k {
	case geoarrow.NoKind:
		s.Geom.Null()
	case geoarrow.GeometryCollection:
		s.Geom.EndCollection()
	default:
		s.Geom.End(k)
	}
}
