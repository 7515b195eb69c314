package geojson

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
)

// fault is why the parser stopped. It costs nothing until it becomes an error.
type fault struct {
	pos   int    // index in the window; n or beyond: the window ends too early
	want  string // what was expected there, or what is wrong where bare is set
	bare  bool
	field string
	rule  string
	depth bool // not malformed but nested beyond MaxDepth
	file  bool // of the file: on_error: skip does not pass it
	wide  bool // not malformed but one column beyond MaxColumns; file is set too
}

// fail says that something else was expected at p.
func (s *scanner) fail(p int, want string) int {
	s.fault = fault{pos: p, want: want}
	return -1
}

func (s *scanner) failRule(p int, rule, want string) int {
	s.fault = fault{pos: p, want: want, rule: rule}
	return -1
}

// wrong says that what is at p is well-formed JSON but breaks a rule of GeoJSON.
func (s *scanner) wrong(p int, field, rule, what string) int {
	s.fault = fault{pos: p, want: what, bare: true, field: field, rule: rule}
	return -1
}

func (s *scanner) failDepth(p int) int {
	s.fault = fault{pos: p, depth: true, want: "the nesting", bare: true}
	return -1
}

// failWide says that the name at p is that of one column too many.
func (s *scanner) failWide(p int, field string) int {
	s.fault = fault{pos: p, bare: true, field: field, file: true, wide: true}
	return -1
}

// cut reports whether the fault is that the window ends, and fill would bring more.
func (s *scanner) cut() bool { return s.fault.pos >= s.N && !s.EOF }

// error makes the fault an error with its place in the file.
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

// cutAt returns the index of the line feed at which the row of a sequence seems to be cut off,
// whose fault shows at pos, or -1: where a value is missing, what is found in its place is the next
// record.
func (s *scanner) cutAt(pos int) int {
	why, row := s.fault, int(s.rowOffset-s.Base)
	if !s.inSequence || !s.inRow || row < 0 || row > pos || why.depth || why.file {
		return -1
	}
	end := s.skip(row, anyDepth)
	s.fault = why
	if end >= 0 {
		return -1 // its JSON is sound
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

// mode returns the value of on_error that would read the rest of the current row, "" if none would:
// a row beyond --max-feature-bytes is an error under all of them.
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
