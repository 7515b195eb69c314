package geojson

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

// document reads a whole file.
func (s *scanner) document() bool {
	p := s.Begin("GeoJSON", "RFC 7946 section 11")
	if p < 0 {
		return false
	}
	if s.At(p) == jsonrows.RecordSeparator {
		s.InSequence = true
		if p = s.Blank(p); p < 0 {
			return false
		}
	}
	switch c := s.At(p); {
	case s.InSequence && p < s.N:
		return s.Sequence(p, true)
	case c == '[':
		s.Brackets = 1
		if q := s.Blank(p + 1); q >= 0 && s.At(q) == ']' {
			s.Wrong(q, "", "", "an array without a Feature")
			return false
		} else if p = q; p < 0 {
			return false
		}
		return s.OnlyBlanks(s.Array(p), "the array")
	case c == '{':
		return s.rootObject(p)
	}
	s.Fail(p, "a GeoJSON object")
	return false
}

// rootValue starts again with the Feature or geometry at off, which is the whole file or the first
// value of a sequence.
func (s *scanner) rootValue(off int64) bool {
	p := s.MoveTo(off)
	if p < 0 {
		s.Failure = s.Window.Err
		return false
	}
	clear(s.Sum.Foreign)
	s.Brackets, s.InSequence = 0, true
	s.Sum.CRS = geoarrow.CRS84
	return s.Sequence(p, s.sequence)
}

// sequenceRow reads the Feature or geometry at p.
func (s *scanner) sequenceRow(p int) int {
	if s.BeginsTyped(p) && !s.Passes {
		return s.readFeature(p)
	}
	if s.At(p) != '{' {
		return s.FailRule(p, "RFC 8142 section 2", "a Feature or a geometry")
	}
	kind, at, end := s.typeOf(p)
	switch {
	case end < 0:
		// The defect may not be one of JSON itself: the reader of the value reports it with its
		// position.
		first := s.Fault
		if s.Cut() || kind != "Feature" && kindOfName([]byte(kind)) == geoarrow.NoKind {
			return -1
		}
		if s.readValue(kind, p) < 0 && s.Fault.Pos > first.Pos {
			s.Fault = first
		}
		return -1
	case at < 0:
		return s.Wrong(end-1, "", "RFC 7946 section 3", `no GeoJSON: an object without "type"`)
	case kind == "Feature", kindOfName([]byte(kind)) != geoarrow.NoKind:
		return s.readValue(kind, p)
	}
	s.Fault = unknownType(at, "", "a Feature or a geometry")
	return -1
}

func (s *scanner) readValue(kind string, p int) int {
	if kind == "Feature" {
		return s.readFeature(p)
	}
	k, end := s.geometry(p, 0)
	if end >= 0 {
		s.endGeometry(k)
	}
	return end
}

// typeOf finds the type member of the object at p. It returns its text, its place, and the end of
// the object.
func (s *scanner) typeOf(p int) (kind string, at, end int) {
	at = -1
	p = s.Space(p + 1)
	for first := true; s.At(p) != '}'; first = false {
		if !first {
			if s.At(p) != ',' {
				return kind, at, s.Fail(p, `"," or "}"`)
			}
			p = s.Space(p + 1)
		}
		name, value := s.Key(p)
		if value < 0 {
			return kind, at, -1
		}
		isType := string(name) == "type"
		if p = s.Skip(value, jsonrows.AnyDepth); p < 0 { // the reader of the value counts brackets
			return kind, at, -1
		}
		if isType {
			kind, at = string(s.TextAt(value, p)), value
		}
		p = s.Space(p)
	}
	return kind, at, p + 1
}

// crs reads the crs member of the 2008 specification. The last one counts, except that all of a
// sequence must agree.
func (s *scanner) crs(p, open int) int {
	end := s.Skip(p, open)
	if end < 0 {
		return -1
	}
	crs := s.CRSMember(p, end)
	if s.Inside { // the first parse saw it
		return end
	}
	if s.InSequence && (s.onlyCRS || s.Counted) && crs != s.Sum.CRS {
		s.Wrong(p, "crs", "", fmt.Sprintf("a second CRS, %q next to %q", crs, s.Sum.CRS))
		s.Fault.File = true
		return -1
	}
	s.Sum.CRS = crs
	return end
}
