package geojson

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

const featureRule = "RFC 7946 section 3.2"

// featureState is what was read of a Feature so far. If a member is repeated, the last one counts.
type featureState struct {
	typePos    int // of the type member's value; -1: none
	isFeature  bool
	kind       geoarrow.Kind // of the geometry that the builder holds; NoKind: null
	geometry   bool          // the member was there
	properties bool
	id         bool
}

// readFeature reads the Feature at p as a row.
func (s *scanner) readFeature(p int) int {
	if s.At(p) != '{' {
		return s.FailRule(p, featureRule, "a Feature object")
	}
	if s.Brackets >= s.Limits.MaxDepth {
		return s.FailDepth(p)
	}
	s.row = featureState{typePos: -1}
	end, f := s.RowObject(p, s), &s.row
	if end < 0 {
		if f.typePos >= 0 && !f.isFeature {
			return s.earlier(unknownType(f.typePos, "type", `"Feature"`))
		}
		return -1
	}
	if f.typePos < 0 {
		return s.Wrong(end-1, "", featureRule, `a Feature without "type"`)
	}
	if !f.isFeature {
		s.Fault = unknownType(f.typePos, "type", `"Feature"`)
		return -1
	}
	if f.kind == geoarrow.NoKind {
		s.Geom.Null()
	} else {
		s.endGeometry(f.kind)
	}
	return end
}

// Members of a Feature. The first ones have gaps after their values.
const (
	memberID = 1 + iota
	memberProperties
	memberGeometry
	memberBBox
	memberCRS
)

// Member implements jsonrows.RowReader.
func (s *scanner) Member(name []byte) byte {
	switch string(name) {
	case "type":
		return jsonrows.MemberType
	case "geometry":
		return memberGeometry
	case "properties":
		return memberProperties
	case "id":
		return memberID
	case "bbox":
		return memberBBox
	case "crs":
		return memberCRS
	}
	return jsonrows.MemberForeign
}

// Typed implements jsonrows.RowReader.
func (s *scanner) Typed(p int) { s.row.typePos, s.row.isFeature = p, true }

// Type implements jsonrows.RowReader.
func (s *scanner) Type() (p int, valid bool) { return s.row.typePos, s.row.isFeature }

// ReadMember implements jsonrows.RowReader.
func (s *scanner) ReadMember(member byte, p, open int) int {
	f := &s.row
	switch member {
	case jsonrows.MemberType:
		end := s.Skip(p, open)
		if end >= 0 {
			f.typePos, f.isFeature = p, string(s.TextAt(p, end)) == "Feature"
		}
		return end
	case memberGeometry:
		if s.Passed(p) {
			break
		}
		if f.geometry {
			return s.Repeated(p, open)
		}
		f.geometry = true
		if s.At(p) == 'n' {
			return s.Literal(p, "null")
		}
		var end int
		f.kind, end = s.geometry(p, open)
		return end
	case memberProperties:
		if s.Passed(p) {
			break
		}
		if f.properties {
			return s.Repeated(p, open)
		}
		f.properties = true
		if s.At(p) == 'n' {
			return s.Literal(p, "null")
		}
		return s.ReadMembers(p, open)
	case memberID:
		if s.Passed(p) {
			break
		}
		if f.id {
			return s.Repeated(p, open)
		}
		f.id = true
		return s.ReadID(p)
	case memberCRS:
		if s.InSequence && open == 1 {
			return s.crs(p, open)
		}
		s.Sink.Foreign = append(s.Sink.Foreign, "crs")
	}
	return s.Skip(p, open)
}
