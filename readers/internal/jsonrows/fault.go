package jsonrows

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
)

// Fault is the reason why the parser stopped. It is cheap until it becomes an error.
type Fault struct {
	Pos   int    // index in the window; n or more: the window ends too early
	Want  string // what was expected there, or the whole message if Bare is set
	Bare  bool
	Field string
	Rule  string
	Depth bool // well-formed but nested beyond MaxDepth
	File  bool // a fault of the file: on_error: skip does not skip it
	Wide  bool // well-formed but one column beyond MaxColumns; File is also set
}

// Fail sets the fault: something else was expected at p.
func (s *Scanner) Fail(p int, want string) int {
	s.Fault = Fault{Pos: p, Want: want}
	return -1
}

// FailRule is Fail with the rule of the standard that says so.
func (s *Scanner) FailRule(p int, rule, want string) int {
	s.Fault = Fault{Pos: p, Want: want, Rule: rule}
	return -1
}

// Wrong sets the fault: the JSON at p is well-formed but breaks a rule of the format.
func (s *Scanner) Wrong(p int, field, rule, what string) int {
	s.Fault = Fault{Pos: p, Want: what, Bare: true, Field: field, Rule: rule}
	return -1
}

// FailDepth sets the fault: the bracket at p is one too many.
func (s *Scanner) FailDepth(p int) int {
	s.Fault = Fault{Pos: p, Depth: true, Want: "the nesting", Bare: true}
	return -1
}

// FailWide sets the fault: the name at p is of one column too many.
func (s *Scanner) FailWide(p int, field string) int {
	s.Fault = Fault{Pos: p, Bare: true, Field: field, File: true, Wide: true}
	return -1
}

// Cut reports whether the fault is only the end of the window, and fill would read more.
func (s *Scanner) Cut() bool { return s.Fault.Pos >= s.N && !s.EOF }

// Error returns the fault as an error with its position in the file.
func (s *Scanner) Error() error {
	if s.Failure != nil {
		return s.Failure
	}
	f := s.Fault
	pos := min(f.Pos, s.N)
	if end := s.cutAt(pos); end >= 0 {
		pos, f = end, Fault{Want: "the record is cut off at the end of its line", Bare: true, Field: f.Field}
	}
	e := &readers.ParseError{
		Name: s.Src.Name, Format: s.Format, Offset: s.Base + int64(pos), Row: -1, Unit: s.Unit,
		Field: f.Field, Rule: f.Rule,
	}
	if s.InRow {
		e.Row = s.RowNumber
	}
	line, err := s.LineAt(e.Offset)
	if err != nil {
		return err
	}
	e.Line = line
	if f.Depth {
		return &readers.LimitError{
			What: "the nesting of brackets", Flag: "--max-depth",
			Limit: int64(s.Limits.MaxDepth), Err: e,
		}
	}
	if f.Wide {
		return readers.TooManyColumns(s.Limits.MaxColumns, e)
	}
	if f.Bare {
		e.Err = errors.New(f.Want)
	} else {
		found, err := s.Found(e.Offset)
		if err != nil {
			return err
		}
		e.Err = fmt.Errorf("want %s, found %s", f.Want, found)
	}
	if s.InRow && !f.File {
		e.Mode = s.mode()
	}
	return e
}

// cutAt returns the index of the line feed at which a row of a sequence seems to be cut off, or -1.
// The fault shows only at pos, because the next record is found in place of the missing value.
func (s *Scanner) cutAt(pos int) int {
	why, row := s.Fault, int(s.RowOffset-s.Base)
	if !s.InSequence || !s.InRow || row < 0 || row > pos || why.Depth || why.File {
		return -1
	}
	end := s.Skip(row, AnyDepth)
	s.Fault = why
	if end >= 0 {
		return -1 // its JSON is well-formed
	}
	blanks := pos
	for blanks > row && IsBlank(s.At(blanks-1)) {
		blanks--
	}
	for p := row; p < pos; p++ {
		if next := s.At(p + 1); s.At(p) == '\n' && (p >= blanks || next == '{' || next == RecordSeparator) {
			return p
		}
	}
	return -1
}

// mode returns the value of on_error that would read the rest of the current row, or "": a row
// beyond --max-feature-bytes is an error under all of them.
func (s *Scanner) mode() string {
	why := s.Fault
	defer func() { s.Fault, s.Failure = why, nil }()
	for _, repairs := range []bool{false, true} {
		p := s.MoveTo(s.RowOffset)
		if p < 0 || s.InSequence && s.At(p) != '{' {
			return ""
		}
		s.Repairs = repairs
		switch end := s.Complete(p, s.LooseSkip); {
		case end >= 0 && repairs:
			return "repair"
		case end >= 0:
			return "null"
		case s.Failure != nil:
			return ""
		}
	}
	return ""
}
