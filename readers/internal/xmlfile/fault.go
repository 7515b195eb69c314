package xmlfile

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// Expect sets the fault: something else was expected at p. It returns false.
func (s *Scanner) Expect(p int, field, rule, want string) bool {
	s.X.Fault = xmltext.FaultAt{Pos: p, Want: want, Rule: rule}
	s.Field, s.OfFile = field, false
	return false
}

// Wrong says that what is at p is well-formed XML but breaks a rule of the format. It gives
// false.
func (s *Scanner) Wrong(p int, field, rule, what string) bool {
	s.X.Fault = xmltext.FaultAt{Pos: p, Want: what, Bare: true, Rule: rule}
	s.Field, s.OfFile = field, false
	return false
}

// Wide sets the fault: the row at an offset of the file has one column too many. It returns false.
func (s *Scanner) Wide(off int64) bool {
	s.Wrong(int(off-s.Base), "", "", "")
	s.OfFile, s.wide = true, true
	return false
}

// Error returns the failure as an error. A fault gets its position in the file and the number of
// its feature, or -1.
func (s *Scanner) Error(format string, feature int64) error {
	if s.Failed != nil {
		return s.Failed
	}
	f := s.X.Fault
	if f.Long {
		return s.TooLong(f.Pos)
	}
	e := &readers.ParseError{
		Name: s.Src.Name, Format: format, Offset: s.Base + int64(min(f.Pos, s.N)), Row: feature,
		Unit: "feature", Field: s.Field, Rule: f.Rule,
		Text: s.Src.Encoding,
	}
	var err error
	if e.Line, err = s.LineAt(e.Offset); err != nil {
		return err
	}
	if f.Depth {
		return &readers.LimitError{
			What: "the nesting of elements", Flag: "--max-depth",
			Limit: int64(s.X.MaxDepth), Err: e,
		}
	}
	if s.wide {
		return readers.TooManyColumns(s.maxColumns, e)
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
