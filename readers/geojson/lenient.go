package geojson

import (
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

// This file reads malformed rows under on_error: null and repair, if their brackets and quotes are
// balanced. Only rows that the strict reader refuses are read here.

// Rules of deviations, in addition to those of package jsonrows.
const (
	ruleGeometry     = "bad-geometry"      // a geometry that is malformed
	ruleFeature      = "no-feature"        // a row that is not a Feature
	ruleGeometryText = "geometry-spelling" // repair: a geometry with one obvious reading
	ruleFeatureType  = "feature-type"      // repair: a Feature without its type
)

// ReadLenient reads the element of an array, or the value of a sequence, at p.
func (s *scanner) ReadLenient(p int) int {
	if s.At(p) != '{' {
		return s.nullRow(p)
	}
	last := s.LastMembers(p)
	at, typed := last["type"]
	kind := ""
	if typed {
		if end := s.LooseSkip(at); s.Loosened < 0 {
			kind = string(s.TextAt(at, end))
		}
	}
	_, hasGeometry := last["geometry"]
	_, hasProperties := last["properties"]
	switch shape := s.kindOf(kind); {
	case kind == "Feature":
		return s.lenientFeature(p, last)
	case s.Repairs && (strings.EqualFold(kind, "Feature") || !typed && (hasGeometry || hasProperties)):
		s.Deviate(p, "", ruleFeatureType, "read as a Feature")
		return s.lenientFeature(p, last)
	case shape != geoarrow.NoKind && (s.InSequence || s.Repairs):
		if !s.InSequence {
			s.Deviate(p, "", ruleFeatureType, "read as the geometry of a Feature")
		}
		k, end := s.lenientGeometry(p, s.Brackets)
		if end >= 0 {
			s.endRow(k)
		}
		return end
	}
	return s.nullRow(p)
}

// kindOf returns the kind of a geometry by its name, under on_error: repair in any case.
func (s *scanner) kindOf(name string) geoarrow.Kind {
	if k := kindOfName([]byte(name)); k != geoarrow.NoKind || !s.Repairs {
		return k
	}
	return foldKind(name)
}

// nullRow skips a value that is not a Feature: all of its row is null.
func (s *scanner) nullRow(p int) int {
	s.Deviate(p, "", ruleFeature, "row is null")
	s.Geom.Null()
	return s.LooseSkip(p)
}

// endRow ends the geometry of a row; NoKind is null.
func (s *scanner) endRow(k geoarrow.Kind) {
	if k == geoarrow.NoKind {
		s.Geom.Null()
	} else {
		s.endGeometry(k)
	}
}

// lenientFeature reads the Feature at p, whose members are at the places in last.
func (s *scanner) lenientFeature(p int, last map[string]int) int {
	open := s.Brackets + 1
	shape := geoarrow.NoKind
	end := s.Object(p, true, func(name []byte, at int) (end int) {
		if name == nil {
			s.Deviate(at, "", jsonrows.RuleKey, "member is left out")
			return s.LooseSkip(at)
		}
		member := s.Member(name)
		if member != jsonrows.MemberForeign && member != memberCRS && last[string(name)] != at {
			return s.LenientSkip(at, open)
		}
		switch member {
		case memberGeometry:
			if end = s.Null(at); end < 0 {
				shape, end = s.lenientGeometry(at, open)
			}
			return end
		case memberProperties:
			return s.LenientMembers(at, open)
		case memberID:
			if _, sound := s.Loose(at); sound {
				end = s.ReadID(at)
			}
			if end <= 0 {
				end = s.BadValue(at, "id")
			}
			return end
		case memberCRS:
			if s.InSequence && open == 1 {
				return s.crs(at, open)
			}
			s.Sink.Foreign = append(s.Sink.Foreign, "crs")
		case jsonrows.MemberForeign:
			s.Sink.Foreign = append(s.Sink.Foreign, string(name))
		}
		return s.LenientSkip(at, open)
	})
	if end >= 0 {
		s.endRow(shape)
	}
	return end
}

// lenientGeometry reads the geometry at p, without its end; NoKind is null.
func (s *scanner) lenientGeometry(p, open int) (geoarrow.Kind, int) {
	var mark geometryMark
	s.Geom.SetMark(&mark.mark)
	mark.shapes = *s.Shapes
	foreign, crs := len(s.Sink.Foreign), s.Sum.CRS
	k, end := s.geometry(p, open)
	if end >= 0 || s.Fault.Depth || s.Fault.File {
		return k, end
	}
	why := s.Fault
	s.rewind(mark)
	s.Sink.Foreign, s.Sum.CRS = s.Sink.Foreign[:foreign], crs
	end = s.LooseSkip(p)
	if s.Repairs {
		if k = s.repairGeometry(p, end, open); k != geoarrow.NoKind {
			s.Deviate(why.Pos, readers.GeometryColumn, ruleGeometryText, "read as a "+k.String())
			return k, end
		}
		s.rewind(mark)
		s.Sink.Foreign = s.Sink.Foreign[:foreign]
	}
	s.Deviate(why.Pos, readers.GeometryColumn, ruleGeometry, "geometry is null")
	return geoarrow.NoKind, end
}

// repairGeometry reads the malformed geometry from p to end, without its end.
func (s *scanner) repairGeometry(p, end, open int) (k geoarrow.Kind) {
	written, _, ok := jsonrows.Rewrite(s.Text(p, end), kindName)
	if ok && s.In(written, func() bool {
		k, end = s.geometry(0, open)
		return end == len(written)
	}) {
		return k
	}
	return geoarrow.NoKind
}

// kindName returns the name of a kind of geometry that is spelled in any case, or "".
func kindName(name string) string {
	if k := foldKind(name); k != geoarrow.NoKind {
		return k.String()
	}
	return ""
}

// foldKind returns the kind of a geometry by its name in any case.
func foldKind(name string) geoarrow.Kind {
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		if strings.EqualFold(name, k.String()) {
			return k
		}
	}
	return geoarrow.NoKind
}
