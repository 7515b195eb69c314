package kml

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// expect says that something else was expected at p. It gives false.
func (s *scanner) expect(p int, field, rule, want string) bool {
	s.x.Fault = xmltext.FaultAt{Pos: p, Want: want, Rule: rule}
	s.field = field
	return false
}

// wrong says that what stands at p is well-formed XML but breaks a rule of KML. It gives false.
func (s *scanner) wrong(p int, field, rule, what string) bool {
	s.x.Fault = xmltext.FaultAt{Pos: p, Want: what, Bare: true, Rule: rule}
	s.field = field
	return false
}

// error makes the fault an error with its place in the file.
func (s *scanner) error() error {
	if s.err != nil {
		return s.err
	}
	f := s.x.Fault
	if f.Long {
		return s.TooLong(f.Pos)
	}
	e := &readers.ParseError{
		Name: s.Src.Name, Format: formatName, Offset: s.Base + int64(min(f.Pos, s.N)), Row: -1, Unit: "feature", Field: s.field, Rule: f.Rule,
	}
	if s.inRow {
		e.Row = s.feature
	}
	var err error
	if e.Line, err = s.LineAt(e.Offset); err != nil {
		return err
	}
	if f.Depth {
		return &readers.LimitError{What: "the nesting of elements", Flag: "--max-depth", Limit: int64(s.limits.MaxDepth), Err: e}
	}
	e.Err = errors.New(f.Want)
	if !f.Bare {
		found, err := s.Found(e.Offset)
		if err != nil {
			return err
		}
		e.Err = fmt.Errorf("want %s, found %s", f.Want, found)
	}
	return e
}
