package geojson

import (
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// This file reads malformed rows under on_error: null and repair, if their brackets and quotes are
// balanced. Only rows that the strict reader refuses are read here.

// Rules of deviations.
const (
	ruleValue      = "bad-value"      // a property or an id that is malformed
	ruleGeometry   = "bad-geometry"   // a geometry that is malformed
	ruleProperties = "bad-properties" // properties that are not an object
	ruleKey        = "bad-key"        // a name that is not valid text
	ruleMember     = "bad-member"     // a member that no column holds and that is not JSON
	ruleFeature    = "no-feature"     // a row that is not a Feature

	ruleNaN          = "nan"               // repair: NaN, Infinity, -Infinity
	ruleSpelling     = "spelling"          // repair: a value with one obvious reading
	ruleGeometryText = "geometry-spelling" // repair: the same of a geometry
	ruleFeatureType  = "feature-type"      // repair: a Feature without its type
	ruleComma        = "trailing-comma"    // repair: a comma before a closing bracket
)

// lenientRow reads the row at p again, with null for each malformed value. To undo what the strict
// reader added to the types of columns, the chunk is read again, each row first by the probe.
func (s *scanner) lenientRow(p int) int {
	if !s.sink.careful {
		s.sink.restart = true
		return -1
	}
	why, row, at := s.fault, s.Base+int64(p), s.Base+int64(s.fault.pos)
	end := -1
	if !s.inSequence || s.At(p) == '{' {
		end = s.unit(p, s.looseSkip)
	}
	if end >= 0 {
		end = s.lenientValue(int(row - s.Base))
		if end >= 0 {
			return s.commit(end)
		}
		s.sink.Rollback()
		return -1
	}
	if s.err == nil {
		why.pos = int(at - s.Base)
		s.fault = why
	}
	return -1
}

// lenientValue reads the element of an array, or the value of a sequence, at p.
func (s *scanner) lenientValue(p int) int {
	if s.At(p) != '{' {
		return s.nullRow(p)
	}
	last := s.lastMembers(p)
	at, typed := last["type"]
	kind := ""
	if typed {
		if end := s.looseSkip(at); s.loosened < 0 {
			kind = string(s.textAt(at, end))
		}
	}
	_, hasGeometry := last["geometry"]
	_, hasProperties := last["properties"]
	switch shape := s.kindOf(kind); {
	case kind == "Feature":
		return s.lenientFeature(p, last)
	case s.repairs && (strings.EqualFold(kind, "Feature") || !typed && (hasGeometry || hasProperties)):
		s.deviate(p, "", ruleFeatureType, "read as a Feature")
		return s.lenientFeature(p, last)
	case shape != geoarrow.NoKind && (s.inSequence || s.repairs):
		if !s.inSequence {
			s.deviate(p, "", ruleFeatureType, "read as the geometry of a Feature")
		}
		k, end := s.lenientGeometry(p, s.brackets)
		if end >= 0 {
			s.endRow(k)
		}
		return end
	}
	return s.nullRow(p)
}

// kindOf returns the kind of a geometry by its name, under on_error: repair in any case.
func (s *scanner) kindOf(name string) geoarrow.Kind {
	if k := kindOfName([]byte(name)); k != geoarrow.NoKind || !s.repairs {
		return k
	}
	k, _ := foldKind(name)
	return k
}

// nullRow skips a value that is not a Feature: all of its row is null.
func (s *scanner) nullRow(p int) int {
	s.deviate(p, "", ruleFeature, "row is null")
	s.sink.Geom.Null()
	return s.looseSkip(p)
}

// endRow ends the geometry of a row; NoKind is null.
func (s *scanner) endRow(k geoarrow.Kind) {
	if k == geoarrow.NoKind {
		s.sink.Geom.Null()
	} else {
		s.endGeometry(k)
	}
}

// deviate notes a deviation at index p of the current row.
func (s *scanner) deviate(p int, field, rule, done string) {
	s.sink.Deviate(readers.Deviation{Offset: s.Base + int64(p), Row: s.feature, Field: field, Rule: rule, Done: done})
}

// object calls each with the members of the object at p, which looseSkip passed. name is nil if the
// key is malformed, and valid until the next key. each returns the index after the value, or -1. A
// comma after the last member is counted.
func (s *scanner) object(p int, counted bool, each func(name []byte, at int) int) int {
	p = s.space(p + 1)
	for s.At(p) != '}' {
		key := p
		name, at := s.key(p)
		if at < 0 {
			name, at = nil, s.looseKey(key)
		}
		if p = each(name, at); p < 0 {
			return -1
		}
		if p = s.space(p); s.At(p) == ',' {
			comma := p
			if p = s.space(p + 1); s.At(p) == '}' && counted {
				s.deviate(comma, "", ruleComma, "left out")
			}
		}
	}
	return p + 1
}

// lastMembers returns the places of the values of the object at p; of a repeated name, that of the
// last one.
func (s *scanner) lastMembers(p int) map[string]int {
	last := map[string]int{}
	s.object(p, false, func(name []byte, at int) int {
		if name != nil {
			last[string(name)] = at
		}
		return s.looseSkip(at)
	})
	return last
}

// lenientFeature reads the Feature at p, whose members are at the places in last.
func (s *scanner) lenientFeature(p int, last map[string]int) int {
	open := s.brackets + 1
	shape := geoarrow.NoKind
	end := s.object(p, true, func(name []byte, at int) (end int) {
		if name == nil {
			s.deviate(at, "", ruleKey, "member is left out")
			return s.looseSkip(at)
		}
		member := featureMember(name)
		if member != memberForeign && member != memberCRS && last[string(name)] != at {
			return s.lenientSkip(at, open)
		}
		switch member {
		case memberGeometry:
			if end = s.null(at); end < 0 {
				shape, end = s.lenientGeometry(at, open)
			}
			return end
		case memberProperties:
			return s.lenientProperties(at, open)
		case memberID:
			if _, sound := s.loose(at); sound {
				end = s.featureID(at)
			}
			if end <= 0 {
				end = s.badValue(at, "id")
			}
			return end
		case memberCRS:
			if s.inSequence && open == 1 {
				return s.crs(at, open)
			}
			s.sink.foreign = append(s.sink.foreign, "crs")
		case memberForeign:
			s.sink.foreign = append(s.sink.foreign, string(name))
		}
		return s.lenientSkip(at, open)
	})
	if end >= 0 {
		s.endRow(shape)
	}
	return end
}

// lenientSkip skips a value that no column holds, and counts it if it is not JSON.
func (s *scanner) lenientSkip(p, open int) int {
	end, sound := s.loose(p)
	if sound {
		return s.skip(p, open)
	}
	s.deviate(s.fault.pos, "", ruleMember, "left out")
	return end
}

// null skips a null at p, or returns -1.
func (s *scanner) null(p int) int {
	if end, sound := s.loose(p); sound && s.At(p) == 'n' {
		return end
	}
	return -1
}

// badValue skips a value with the current fault; its column has a null.
func (s *scanner) badValue(p int, field string) int {
	if s.fault.depth {
		return -1
	}
	s.deviate(s.fault.pos, field, ruleValue, "value is null")
	return s.looseSkip(p)
}

// lenientProperties reads the properties at p.
func (s *scanner) lenientProperties(p, open int) int {
	if end := s.null(p); end >= 0 {
		return end
	}
	switch {
	case s.At(p) != '{':
		s.deviate(p, "properties", ruleProperties, "properties are null")
		return s.looseSkip(p)
	case open >= s.limits.MaxDepth:
		return s.failDepth(p)
	}
	last := s.lastMembers(p)
	return s.object(p, true, func(name []byte, at int) int {
		switch {
		case name == nil:
			s.deviate(at, "", ruleKey, "property is left out")
			return s.looseSkip(at)
		case last[string(name)] != at:
			return s.lenientSkip(at, open+1)
		}
		c := s.sink.property(name)
		if s.sink.Refused() {
			return s.failWide(at, c.ID.Name)
		}
		if _, sound := s.loose(at); sound {
			if end := s.value(&c.Column, at, open+1); end >= 0 {
				return end
			}
		}
		if s.repairs && !s.fault.depth {
			if end := s.repairValue(&c.Column, at, open+1); end >= 0 {
				return end
			}
		}
		return s.badValue(at, c.ID.Name)
	})
}

// lenientGeometry reads the geometry at p, without its end; NoKind is null.
func (s *scanner) lenientGeometry(p, open int) (geoarrow.Kind, int) {
	var mark geometryMark
	s.sink.Geom.SetMark(&mark.mark)
	mark.shapes = s.sink.Shapes
	foreign, crs := len(s.sink.foreign), s.sum.CRS
	k, end := s.geometry(p, open)
	if end >= 0 || s.fault.depth || s.fault.file {
		return k, end
	}
	why := s.fault
	s.rewind(mark)
	s.sink.foreign, s.sum.CRS = s.sink.foreign[:foreign], crs
	end = s.looseSkip(p)
	if s.repairs {
		if k = s.repairGeometry(p, end, open); k != geoarrow.NoKind {
			s.deviate(why.pos, readers.GeometryColumn, ruleGeometryText, "read as a "+k.String())
			return k, end
		}
		s.rewind(mark)
		s.sink.foreign = s.sink.foreign[:foreign]
	}
	s.deviate(why.pos, readers.GeometryColumn, ruleGeometry, "geometry is null")
	return geoarrow.NoKind, end
}
