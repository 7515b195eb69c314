package flatgeobuf

import (
	"errors"

	"github.com/vibeflight/vibeflight/readers"
)

// Rules of deviations: the first one applies always, the others under on_error: null and repair.
const (
	ruleStray      = "stray-byte"     // a last byte of the properties that is not a column's number
	ruleValue      = "bad-value"      // a property that is malformed
	ruleSecond     = "second-value"   // a column that a feature has twice
	ruleProperties = "bad-properties" // properties that are truncated, or have no valid column number
	ruleGeometry   = "bad-geometry"
	ruleFeature    = "bad-feature" // a flatbuffer that is malformed as a whole
)

// deviation is a fault that was accepted.
type deviation struct {
	*fault
	rule, done string
}

// lenient reads a feature with null for what is malformed; only limits are errors.
func (s *scanner) lenient(at int64, body []byte) *fault {
	t, f := root(body)
	if f != nil {
		s.sink.Geom.Null()
		s.deviate(at, deviation{f, ruleFeature, "row is null"})
		return nil
	}
	if f = s.properties(&t); f != nil {
		s.sink.bad = append(s.sink.bad, deviation{f, ruleProperties, "the properties from here on are null"})
	}
	s.passed(at)
	mark, shapes := s.sink.Geom.Mark(), s.sink.Shapes
	f = s.geometry(&t)
	if f == nil || isLimit(f) {
		return f
	}
	s.sink.Geom.Rewind(mark)
	s.sink.Shapes = shapes
	s.sink.Geom.Null()
	s.deviate(at, deviation{f, ruleGeometry, "geometry is null"})
	return nil
}

// passed counts the faults of the properties of the feature at an offset.
func (s *scanner) passed(at int64) {
	for _, d := range s.sink.bad {
		s.deviate(at, d)
	}
	s.sink.bad = s.sink.bad[:0]
}

// deviate counts a deviation of the feature at an offset.
func (s *scanner) deviate(at int64, d deviation) {
	s.sink.Deviate(readers.Deviation{
		Offset: at + lengthBytes + int64(d.at), Row: s.row, Field: d.field,
		Rule: d.rule, Done: d.done,
	})
}

func isLimit(f *fault) bool {
	var limit *readers.LimitError
	return errors.As(f.err, &limit)
}
