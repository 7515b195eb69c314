package geojson

import (
	"bytes"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
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
		return s.failRule(p, featureRule, "a Feature object")
	}
	if s.brackets >= s.limits.MaxDepth {
		return s.failDepth(p)
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
		return s.wrong(end-1, "", featureRule, `a Feature without "type"`)
	}
	if !f.isFeature {
		s.fault = unknownType(f.typePos, "type", `"Feature"`)
		return -1
	}
	if f.kind == geoarrow.NoKind {
		s.sink.Geom.Null()
	} else {
		s.endGeometry(f.kind)
	}
	return end
}

// featureMembers reads a Feature through its closing bracket.
//
// Most writers put the same bytes between the values of every feature. The bytes before an id, a
// geometry or properties in the last features are compared as a whole. If they are equal, their
// grammar needs no check.
func (s *scanner) featureMembers(f *featureState, p int) int {
	open := s.brackets + 1
	guess, from := &s.gaps[gapStart], p
	for first := true; ; first = false {
		var member byte
		at := p
		known := s.known(guess, p, from) // after a type member the guess is for another place
		if known != nil {
			if at = s.space(p + len(known.text)); at >= s.N {
				return s.fail(s.N, "a value")
			}
			if member = known.member; known.hasType {
				f.typePos, f.isFeature = from, true
			}
		} else {
			p = s.space(p)
			if first {
				p = s.space(p + 1)
			}
			if s.At(p) == '}' {
				return p + 1
			}
			if !first {
				if s.At(p) != ',' {
					return s.fail(p, `"," or "}" of a Feature`)
				}
				p = s.space(p + 1)
			}
			var name []byte
			if name, at = s.key(p); at < 0 {
				return -1
			}
			member = featureMember(name)
			if member == memberForeign {
				s.sink.foreign = append(s.sink.foreign, string(name))
			}
		}
		if p = s.featureMemberValue(f, member, at, open); p < 0 {
			return -1
		}
		next := gapOf(member)
		if next != gapNone && known == nil && (f.typePos < 0 || f.isFeature) {
			s.learn(guess, member, from, at, f.typePos > from)
		}
		if member != memberType { // a type is part of what the next guess compares
			guess, from = nil, p
			if next != gapNone {
				guess = &s.gaps[next]
			}
		}
		if s.At(p) == '}' {
			return p + 1
		}
	}
}

// gap is the bytes between two values of a Feature: from its start or the end of the previous value
// to the value of member.
type gap struct {
	text    string
	member  byte
	hasType bool // it has a type member
}

// gaps are the last two that began at the same place.
type gaps [2]gap

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

// known finds the gap at p, if the gaps begin at p.
func (s *scanner) known(g *gaps, p, from int) *gap {
	if g == nil || p != from {
		return nil
	}
	for i := range g {
		if g[i].member != 0 && s.Has(p, g[i].text) {
			return &g[i]
		}
	}
	return nil
}

// learn keeps a gap for the next features.
func (s *scanner) learn(g *gaps, member byte, from, at int, hasType bool) {
	if g != nil && at-from <= maxPredicted {
		g[0], g[1] = gap{text: string(s.Text(from, at)), member: member, hasType: hasType}, g[0]
	}
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
		end := s.skip(p, open)
		if end >= 0 {
			f.typePos, f.isFeature = p, string(s.textAt(p, end)) == "Feature"
		}
		return end
	case memberGeometry:
		if s.passed(p) {
			break
		}
		if f.geometry {
			return s.repeated(p, open)
		}
		f.geometry = true
		if s.At(p) == 'n' {
			return s.literal(p, "null")
		}
		var end int
		f.kind, end = s.geometry(p, open)
		return end
	case memberProperties:
		if s.passed(p) {
			break
		}
		if f.properties {
			return s.repeated(p, open)
		}
		f.properties = true
		if s.At(p) == 'n' {
			return s.literal(p, "null")
		}
		return s.properties(p, open)
	case memberID:
		if s.passed(p) {
			break
		}
		if f.id {
			return s.repeated(p, open)
		}
		f.id = true
		return s.featureID(p)
	case memberCRS:
		if s.inSequence && open == 1 {
			return s.crs(p, open)
		}
		s.sink.foreign = append(s.sink.foreign, "crs")
	}
	return s.skip(p, open)
}

// featureID reads an id, which is a string or a number; null counts as absent.
func (s *scanner) featureID(p int) int {
	c := s.At(p)
	switch {
	case c == 'n':
		return s.literal(p, "null")
	case c != '"' && c != '-' && c-'0' > 9:
		s.fault = fault{pos: p, want: "a string or a number", field: "id", rule: featureRule}
		return -1
	}
	k := s.sink
	if k.id == nil {
		k.id = k.Column(geoarrow.RoleFeatureID, []byte("id"))
		if k.Refused() {
			k.id = nil
			return s.failWide(p, "id")
		}
	}
	return s.value(k.id, p, 0)
}

// properties reads the properties object at p. open is the number of brackets around it.
func (s *scanner) properties(p, open int) int {
	if s.At(p) != '{' {
		s.fault = fault{pos: p, want: "an object or null", field: "properties", rule: featureRule}
		return -1
	}
	if open >= s.limits.MaxDepth {
		return s.failDepth(p)
	}
	p++
	open++
	guess := &s.sink.start
	for first := true; ; first = false {
		c := guess.next
		if c != nil && (s.Word(p)^guess.lo)&guess.loMask|(s.Word(p+8)^guess.hi)&guess.hiMask == 0 &&
			(guess.rest == "" || s.Has(p+16, guess.rest)) {
			p = s.space(p + guess.n)
		} else {
			at := s.space(p)
			if s.At(at) == '}' {
				return at + 1
			}
			if !first {
				if s.At(at) != ',' {
					return s.fail(at, `"," or "}" of the properties`)
				}
				at = s.space(at + 1)
			}
			name, value := s.key(at)
			if value < 0 {
				if name != nil {
					s.fault.field = string(name)
				}
				return -1
			}
			if c = s.sink.property(name); s.sink.Refused() {
				return s.failWide(at, c.ID.Name)
			}
			guess.learn(c, s.Text(p, value))
			p = value
		}
		if s.passes && s.passed(p) {
			p = s.skip(p, open)
		} else {
			p = s.value(&c.Column, p, open)
		}
		if p < 0 {
			if s.fault.field == "" {
				s.fault.field = c.ID.Name
			}
			return -1
		}
		guess = &c.after
	}
}

// passed reports whether the value at p is replaced by a later one of the same name.
func (s *scanner) passed(p int) bool {
	return s.passes && s.replaced[s.Base+int64(p)]
}

// findReplaced fills replaced with the values of the Feature at p that a later one of the same name
// replaces. The fault stays.
func (s *scanner) findReplaced(p int) {
	why := s.fault
	s.replaced = map[int64]bool{}
	properties := -1
	s.replacedIn(p, func(name []byte, at int) {
		if bytes.Equal(name, []byte("properties")) && s.At(at) == '{' {
			properties = at
		} else if bytes.Equal(name, []byte("properties")) {
			properties = -1
		}
	})
	if properties >= 0 {
		s.replacedIn(properties, func([]byte, int) {})
	}
	s.fault = why
}

// replacedIn does it for one object, which is valid or cut by the window.
func (s *scanner) replacedIn(p int, each func(name []byte, at int)) {
	last := map[string]int64{}
	for p = s.space(p + 1); s.At(p) == '"'; {
		name, at := s.key(p)
		if at < 0 {
			return
		}
		if before, ok := last[string(name)]; ok {
			s.replaced[before] = true
		}
		last[string(name)] = s.Base + int64(at)
		each(name, at)
		if p = s.skip(at, 0); p < 0 {
			return
		}
		if p = s.space(p); s.At(p) != ',' {
			return
		}
		p = s.space(p + 1)
	}
}
