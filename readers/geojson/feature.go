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
	f := featureState{typePos: -1}
	end := s.featureMembers(&f, p)
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
		s.Sink.Geom.Null()
	} else {
		s.endGeometry(f.kind)
	}
	return end
}

// featureMembers reads a Feature through its closing bracket.
func (s *scanner) featureMembers(f *featureState, p int) int {
	open := s.Brackets + 1
	guess, from := &s.Gaps[gapStart], p
	for first := true; ; first = false {
		var member byte
		at := p
		known := s.KnownGap(guess, p, from) // after a type member the guess is for another place
		if known != nil {
			if at = s.Space(p + len(known.Text)); at >= s.N {
				return s.Fail(s.N, "a value")
			}
			if member = known.Member; known.HasType {
				f.typePos, f.isFeature = from, true
			}
		} else {
			p = s.Space(p)
			if first {
				p = s.Space(p + 1)
			}
			if s.At(p) == '}' {
				return p + 1
			}
			if !first {
				if s.At(p) != ',' {
					return s.Fail(p, `"," or "}" of a Feature`)
				}
				p = s.Space(p + 1)
			}
			var name []byte
			if name, at = s.Key(p); at < 0 {
				return -1
			}
			member = featureMember(name)
			if member == memberForeign {
				s.Sink.Foreign = append(s.Sink.Foreign, string(name))
			}
		}
		if p = s.featureMemberValue(f, member, at, open); p < 0 {
			return -1
		}
		next := gapOf(member)
		if next != gapNone && known == nil && (f.typePos < 0 || f.isFeature) {
			s.LearnGap(guess, member, from, at, f.typePos > from)
		}
		if member != memberType { // a type is part of what the next guess compares
			guess, from = nil, p
			if next != gapNone {
				guess = &s.Gaps[next]
			}
		}
		if s.At(p) == '}' {
			return p + 1
		}
	}
}

// The places where gaps begin.
const (
	gapStart = iota // of the feature
	gapID           // after the member's value
	gapProperties
	gapGeometry
	gapNone // after a value of any other member, of which nothing is known
)

func gapOf(member byte) int {
	switch member {
	case memberID:
		return gapID
	case memberProperties:
		return gapProperties
	case memberGeometry:
		return gapGeometry
	}
	return gapNone
}

const (
	memberType       = 't'
	memberGeometry   = 'g'
	memberProperties = 'p'
	memberID         = 'i'
	memberBBox       = 'b'
	memberCRS        = 'c'
	memberForeign    = 'f'
)

func featureMember(name []byte) byte {
	switch string(name) {
	case "type":
		return memberType
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
	return memberForeign
}

func (s *scanner) featureMemberValue(f *featureState, member byte, p, open int) int {
	switch member {
	case memberType:
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
		return s.featureID(p)
	case memberCRS:
		if s.InSequence && open == 1 {
			return s.crs(p, open)
		}
		s.Sink.Foreign = append(s.Sink.Foreign, "crs")
	}
	return s.Skip(p, open)
}

// featureID reads an id, which is a string or a number; null counts as absent.
func (s *scanner) featureID(p int) int {
	c := s.At(p)
	switch {
	case c == 'n':
		return s.Literal(p, "null")
	case c != '"' && c != '-' && c-'0' > 9:
		s.Fault = jsonrows.Fault{Pos: p, Want: "a string or a number", Field: "id", Rule: featureRule}
		return -1
	}
	k := s.Sink
	if k.ID == nil {
		k.ID = k.Column(geoarrow.RoleFeatureID, []byte("id"))
		if k.Refused() {
			k.ID = nil
			return s.FailWide(p, "id")
		}
	}
	return s.Value(k.ID, p, 0)
}
