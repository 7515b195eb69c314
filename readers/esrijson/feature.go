package esrijson

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

// Members of a feature.
const (
	memberAttributes = 1 + iota
	memberGeometry
)

// feature is what was read of a feature so far. If a member is repeated, the last one counts.
type feature struct {
	kind       geoarrow.Kind // of the geometry; NoKind: null
	geometry   bool          // the member was there
	attributes bool
}

// ReadRow reads the feature at p, or in a sequence the feature or geometry.
func (s *scanner) ReadRow(p int) int {
	if s.At(p) != '{' {
		return s.FailRule(p, featureRule, "a feature object")
	}
	if s.Brackets >= s.Limits.MaxDepth {
		return s.FailDepth(p)
	}
	if s.InSequence {
		bare, end := s.isGeometry(p)
		if end < 0 {
			return -1
		}
		if bare {
			k, end := s.geometry(p, s.Brackets)
			if end >= 0 {
				s.endGeometry(k)
			}
			return end
		}
	}
	s.row = feature{}
	end := s.RowObject(p, s)
	if end >= 0 {
		s.endGeometry(s.row.kind)
	}
	return end
}

// isGeometry reports whether the object at p is a geometry and not a feature. It returns -1 if its
// JSON is malformed before that is known.
func (s *scanner) isGeometry(p int) (bare bool, end int) {
	isFeature := false
	end = s.Walk(p, s.Brackets, func(name []byte, at int) int {
		isFeature = string(name) == "attributes" || string(name) == "geometry"
		if bare = !isFeature && shapeOf(name) != noShape; bare || isFeature {
			return -1
		}
		return s.Skip(at, s.Brackets+1)
	})
	switch {
	case bare || isFeature:
		return bare, p
	case end >= 0:
		return false, s.Wrong(end-1, "", featureRule, `no Esri JSON: an object without "attributes" or a geometry`)
	}
	return false, -1
}

// Member implements jsonrows.RowReader.
func (s *scanner) Member(name []byte) byte {
	switch string(name) {
	case "attributes":
		return memberAttributes
	case "geometry":
		return memberGeometry
	}
	return jsonrows.MemberForeign
}

// ReadMember implements jsonrows.RowReader.
func (s *scanner) ReadMember(member byte, p, open int) int {
	if member == jsonrows.MemberForeign || s.Passed(p) {
		return s.Skip(p, open)
	}
	seen := &s.row.geometry
	if member == memberAttributes {
		seen = &s.row.attributes
	}
	if *seen {
		return s.Repeated(p, open)
	}
	*seen = true
	switch {
	case s.At(p) == 'n':
		return s.Literal(p, "null")
	case member == memberAttributes:
		return s.ReadMembers(p, open)
	}
	var end int
	s.row.kind, end = s.geometry(p, open)
	return end
}

// Typed implements jsonrows.RowReader: features have no type.
func (s *scanner) Typed(int) {}

// Type implements jsonrows.RowReader.
func (s *scanner) Type() (p int, valid bool) { return -1, true }
