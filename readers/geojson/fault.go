package geojson

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
)

// fault is the reason why the parser stopped. It is cheap until it becomes an error.
type fault struct {
	pos   int    // index in the window; n or more: the window ends too early
	want  string // what was expected there, or the whole message if bare is set
	bare  bool
	field string
	rule  string
	depth bool // well-formed but nested beyond MaxDepth
	file  bool // a fault of the file: on_error: skip does not skip it
	wide  bool // well-formed but one column beyond MaxColumns; file is also set
}

// fail sets the fault: something else was expected at p.
func (s *scanner) fail(p int, want string) int {
	s.fault = fault{pos: p, want: want}
	return -1
}

func (s *scanner) failRule(p int, rule, want string) int {
	s.fault = fault{pos: p, want: want, rule: rule}
	return -1
}

// wrong sets the fault: the JSON at p is well-formed but breaks a rule of GeoJSON.
func (s *scanner) wrong(p int, field, rule, what string) int {
	s.fault = fault{pos: p, want: what, bare: true, field: field, rule: rule}
	return -1
}

func (s *scanner) failDepth(p int) int {
	s.fault = fault{pos: p, depth: true, want: "the nesting", bare: true}
	return -1
}

// failWide sets the fault: the name at p is of one column too many.
func (s *scanner) failWide(p int, field string) int {
	s.fault = fault{pos: p, bare: true, field: field, file: true, wide: true}
	return -1
}

// cut reports whether the fault is only the end of the window, and fill would read more.
func (s *scanner) cut() bool { return s.fault.pos >= s.N && !s.EOF }

// error returns the fault as an error with its position in the file.
func (s *scanner) error() error {
	if s.err != nil {
		return s.err
	}
	f := s.fault
	pos := min(f.pos, s.N)
	if end := s.cutAt(pos); end >= 0 {
		pos, f = end, fault{want: "the record is cut off at the end of its line", bare: true, field: f.field}
	}
	e := &readers.ParseError{
		Name: s.Src.Name, Format: "geojson", Offset: s.Base + int64(pos), Row: -1, Unit: "feature",
		Field: f.field, Rule: f.rule,
	}
	if s.inRow {
		e.Row = s.feature
	}
	line, err := s.LineAt(e.Offset)
	if err != nil {
		return err
	}
	e.Line = line
	if f.depth {
		return &readers.LimitError{
			What: "the nesting of brackets", Flag: "--max-depth",
			Limit: int64(s.limits.MaxDepth), Err: e,
		}
	}
	if f.wide {
		return readers.TooManyColumns(s.limits.MaxColumns, e)
	}
	if f.bare {
		e.Err = errors.New(f.want)
	} else {
		found, err := s.Found(e.Offset)
		if err != nil {
			return err
		}
		e.Err = fmt.Errorf("want %s, found %s", f.want, found)
	}
	if s.inRow && !f.file {
		e.Mode = s.mode()
	}
	return e
}

// cutAt returns the index of the line feed at which a row of a sequence seems to be cut off, or -1.
// The fault shows only at pos, because the next record is found in place of the missing value.
func (s *scanner) cutAt(pos int) int {
	why, row := s.fault, int(s.rowOffset-s.Base)
	if !s.inSequence || !s.inRow || row < 0 || row > pos || why.depth || why.file {
		return -1
	}
	end := s.skip(row, anyDepth)
	s.fault = why
	if end >= 0 {
		return -1 // its JSON is well-formed
	}
	blanks := pos
	for blanks > row && isBlank(s.At(blanks-1)) {
		blanks--
	}
	for p := row; p < pos; p++ {
		if next := s.At(p + 1); s.At(p) == '\n' && (p >= blanks || next == '{' || next == recordSeparator) {
			return p
		}
	}
	return -1
}

// mode returns the value of on_error that would read the rest of the current row, or "": a row
// beyond --max-feature-bytes is an error under all of them.
func (s *scanner) mode() string {
	why := s.fault
	defer func() { s.fault, s.err = why, nil }()
	for _, repairs := range []bool{false, true} {
		p := s.MoveTo(s.rowOffset)
		if p < 0 || s.inSequence && s.At(p) != '{' {
			return ""
		}
		s.repairs = repairs
		switch end := s.unit(p, s.looseSkip); {
		case end >= 0 && repairs:
			return "repair"
		case end >= 0:
			return "null"
		case s.err != nil:
			return ""
		}
	}
	return ""
}
