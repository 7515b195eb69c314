package gpkg

import "github.com/vibeflight/vibeflight/readers"

// Rules of deviations: the first one applies always, the others under on_error: null and repair.
const (
	ruleSRS      = "other-srs"    // a geometry whose srs_id is not that of its column
	ruleValue    = "bad-value"    // a value that its column does not hold
	ruleRecord   = "bad-record"   // a record with invalid sizes or serial types
	ruleGeometry = "bad-geometry" // a geometry that is malformed or not read
)

// deviate returns the error for a fault at a byte of the current payload, unless it is only
// counted.
func (s *scanner) deviate(at int, field, rule, done string, what error) error {
	offset := s.offset(at)
	if !s.nulls {
		e := errorAt(s.src, offset, s.row, what)
		e.Field, e.Mode = field, "null"
		return e
	}
	s.sink.Deviate(readers.Deviation{Offset: offset, Row: s.row, Field: field, Rule: rule, Done: done})
	return nil
}
