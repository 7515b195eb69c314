package gpkg

import (
	"errors"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
	"github.com/vibeflight/vibeflight/readers/source"
)

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

// faultOf returns the error for a fault of the database; row is -1 outside of rows.
func faultOf(src *source.File, row int64, err error) error {
	var f *sqlite.Fault
	if !errors.As(err, &f) {
		return err
	}
	return errorAt(src, f.Offset, row, f.Err)
}

// errorAt returns the error for a defect at an offset of the file; row is -1 outside of rows.
func errorAt(src *source.File, offset, row int64, what error) *readers.ParseError {
	return &readers.ParseError{
		Name: src.Name, Format: formatName, Offset: min(offset, src.Size), Row: row, Unit: unit, Err: what,
	}
}
