package wkt

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers"
)

// fault is the reason why the parser stopped. It is cheap until it becomes an error.
type fault struct {
	pos   int    // index of the defect
	seen  int    // index after the bytes that determine it; at the end of the text, more text might change that
	want  string // what was expected there, or the whole message if bare is set
	bare  bool
	depth bool // well-formed but nested beyond maxDepth
	file  bool // a fault of the file: on_error: skip does not skip it
}

// fail sets the fault: something else was expected at p.
func (t *text) fail(p int, want string) int {
	t.fault = fault{pos: p, seen: p, want: want}
	return -1
}

// failWord is fail for a word, which ends at end.
func (t *text) failWord(p, end int, want string) int {
	t.fault = fault{pos: p, seen: end, want: want}
	return -1
}

// wrong sets the fault of the text from p to end.
func (t *text) wrong(p, end int, what string) int {
	t.fault = fault{pos: p, seen: end, want: what, bare: true}
	return -1
}

// error returns the fault as an error with its position in the file.
func (s *scanner) error() error {
	if s.err != nil {
		return s.err
	}
	f := s.fault
	e := &readers.ParseError{
		Name: s.Src.Name, Format: "wkt", Offset: s.Base + int64(min(f.pos, s.N)), Row: s.row, Unit: unit,
		Field: "geometry",
	}
	var err error
	if e.Line, err = s.LineAt(e.Offset); err != nil {
		return err
	}
	if !f.depth && !f.file && !s.nulls && !s.skipErrors {
		e.Mode = "null"
	}
	switch {
	case f.depth:
		return &readers.LimitError{
			What: f.want + " of collections", Flag: "--max-depth",
			Limit: int64(s.limits.MaxDepth), Err: e,
		}
	case f.bare:
		e.Err = errors.New(f.want)
		return e
	}
	// The window may end inside of the quoted text.
	b := make([]byte, min(maxFound+1, s.End-e.Offset))
	if n, err := s.Src.ReadAt(b, e.Offset); n < len(b) {
		return fmt.Errorf("%s: reading the text at byte %d: %w", s.Src.Name, e.Offset, err)
	}
	e.Err = fmt.Errorf("want %s, found %s", f.want, found(b, "file"))
	return e
}

// maxFound bounds the text that an error quotes.
const maxFound = 40

// found describes the beginning of b for an error: a word, a character or a byte. b is the end of
// whole.
func found(b []byte, whole string) string {
	if len(b) == 0 {
		return "the end of the " + whole
	}
	n := 0
	for n < len(b) && (isLetter(b[n]) || b[n]-'0' < 10 || b[n] == '.' || b[n] == '-' || b[n] == '+' || b[n] == '_') {
		n++
	}
	switch r, size := utf8.DecodeRune(b); {
	case n > maxFound:
		return strconv.Quote(string(b[:maxFound])) + " and more"
	case n > 0:
		return strconv.Quote(string(b[:n]))
	case b[0] == '\n' || b[0] == '\r':
		return "the end of the line"
	case r != utf8.RuneError || size > 1:
		return strconv.Quote(string(r))
	}
	return fmt.Sprintf("byte 0x%02x", b[0])
}
