package esrijson

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

// Rules of deviations, in addition to those of package jsonrows.
const (
	ruleGeometry     = "bad-geometry"      // a geometry that is malformed
	ruleFeature      = "no-feature"        // a row that is not a feature
	ruleGeometryText = "geometry-spelling" // repair: a geometry with one obvious reading
)

// ReadLenient reads the feature at p, or in a sequence the feature or geometry, with null for each
// malformed value.
func (s *scanner) ReadLenient(p int) int {
	if s.At(p) != '{' {
		return s.nullRow(p)
	}
	if s.InSequence {
		switch name := s.firstKnown(p); {
		case name == "":
			return s.nullRow(p)
		case shapeOf([]byte(name)) != noShape:
			k, end := s.lenientGeometry(p, s.Brackets)
			if end >= 0 {
				s.endGeometry(k)
			}
			return end
		}
	}
	last := s.LastMembers(p)
	open := s.Brackets + 1
	kind := geoarrow.NoKind
	end := s.Object(p, true, func(name []byte, at int) (end int) {
		if name == nil {
			s.Deviate(at, "", jsonrows.RuleKey, "member is left out")
			return s.LooseSkip(at)
		}
		member := s.Member(name)
		switch {
		case member == jsonrows.MemberForeign:
			s.Sink.Foreign = append(s.Sink.Foreign, string(name))
		case last[string(name)] != at:
		case member == memberAttributes:
			return s.LenientMembers(at, open)
		default:
			if end = s.Null(at); end < 0 {
				kind, end = s.lenientGeometry(at, open)
			}
			return end
		}
		return s.LenientSkip(at, open)
	})
	if end >= 0 {
		s.endGeometry(kind)
	}
	return end
}

// firstKnown returns the name of the first member of the object at p that a feature or a geometry
// has, or "": it tells which of them the object is.
func (s *scanner) firstKnown(p int) (first string) {
	s.Object(p, false, func(name []byte, at int) int {
		if first == "" && isRowMember(string(name)) {
			first = string(name)
		}
		return s.LooseSkip(at)
	})
	return first
}

// nullRow skips a value that is not a feature: all of its row is null.
func (s *scanner) nullRow(p int) int {
	s.Deviate(p, "", ruleFeature, "row is null")
	s.Geom.Null()
	return s.LooseSkip(p)
}

// lenientGeometry reads the geometry at p, without its end; NoKind is null.
func (s *scanner) lenientGeometry(p, open int) (geoarrow.Kind, int) {
	var m mark
	s.Geom.SetMark(&m.mark)
	m.shapes = *s.Shapes
	foreign := len(s.Sink.Foreign)
	k, end := s.geometry(p, open)
	if end >= 0 || s.Fault.Depth || s.Fault.File {
		return k, end
	}
	why := s.Fault
	undo := func() {
		s.Geom.Rewind(m.mark)
		*s.Shapes, s.Sink.Foreign = m.shapes, s.Sink.Foreign[:foreign]
	}
	undo()
	end = s.LooseSkip(p)
	if s.Repairs {
		noName := func(string) string { return "" }
		written, _, ok := jsonrows.Rewrite(s.Text(p, end), noName)
		if ok && s.In(written, func() bool {
			var after int
			k, after = s.geometry(0, open)
			return after == len(written)
		}) {
			s.Deviate(why.Pos, readers.GeometryColumn, ruleGeometryText, "read as a "+k.String())
			return k, end
		}
		undo()
	}
	s.Deviate(why.Pos, readers.GeometryColumn, ruleGeometry, "geometry is null")
	return geoarrow.NoKind, end
}
