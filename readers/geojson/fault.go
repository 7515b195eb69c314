package geojson

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

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

// wrong says that what stands at p is well-formed JSON but breaks a rule of GeoJSON.
func (s *scanner) wrong(p int, field, rule, what string) int {
	s.fault = fault{pos: p, want: what, bare: true, field: field, rule: rule}
	return -1
}

func (s *scanner) failDepth(p int) int {
	s.fault = fault{pos: p, depth: true, want: "the nesting", bare: true}
	return -1
}

// cut reports whether the fault is that the window ends, and fill would bring more.
func (s *scanner) cut() bool { return s.fault.pos >= s.n && !s.eof }

// error makes the fault an error with its place in the file.
func (s *scanner) error() error {
	if s.err != nil {
		return s.err
	}
	f := s.fault
	pos := min(f.pos, s.n)
	e := &readers.ParseError{
		Name: s.src.Name, Format: "geojson", Offset: s.base + int64(pos), Row: -1, Unit: "feature",
		Field: f.field, Rule: f.rule,
	}
	if s.inRow {
		e.Row = s.feature
	}
	line, err := s.lineAt(e.Offset)
	if err != nil {
		return err
	}
	e.Line = line
	if f.depth {
		return &readers.LimitError{What: "the nesting of brackets", Flag: "--max-depth", Limit: int64(s.limits.MaxDepth), Err: e}
	}
	if f.bare {
		e.Err = errors.New(f.want)
	} else {
		found, err := s.found(e.Offset)
		if err != nil {
			return err
		}
		e.Err = fmt.Errorf("want %s, found %s", f.want, found)
	}
	return e
}

// mostFound bounds the text that an error quotes.
const mostFound = 40

// found says what stands at offset off. It reads the file again, because the window may end inside of it.
func (s *scanner) found(off int64) (string, error) {
	b := make([]byte, min(mostFound, s.window.end-off))
	if len(b) == 0 {
		return "the end of the file", nil
	}
	if n, err := s.src.ReadAt(b, off); n < len(b) {
		return "", fmt.Errorf("%s: reading what stands at byte %d: %w", s.src.Name, off, err)
	}
	if b[0] == '"' {
		if end := bytes.IndexByte(b[1:], '"'); end >= 0 && utf8.Valid(b[:end+2]) {
			return string(b[:end+2]), nil
		}
	}
	if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
		return fmt.Sprintf("%q", string(r)), nil
	}
	return fmt.Sprintf("byte 0x%02x", b[0]), nil
}

// lineAt counts the lines of the file before offset off, from 1. It reads the file again: errors are rare.
func (s *scanner) lineAt(off int64) (int64, error) {
	line := int64(1)
	buf := make([]byte, min(windowBytes, off))
	for at := int64(0); at < off; {
		if err := s.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := s.src.ReadAt(buf[:min(int64(len(buf)), off-at)], at)
		if n == 0 {
			return 0, fmt.Errorf("%s: counting lines: %w", s.src.Name, err)
		}
		line += int64(bytes.Count(buf[:n], []byte{'\n'}))
		at += int64(n)
	}
	return line, nil
}
