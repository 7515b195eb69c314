package csv

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
)

// fault is the reason why the parser stopped. It is cheap until it becomes an error.
type fault struct {
	pos   int    // index in the window
	seen  int    // end of what was read, if that is later
	want  string // what was expected there, or the whole message if bare is set
	bare  bool
	cut   bool // the window ends too early: no defect so far
	depth bool // well-formed but nested beyond MaxDepth
	value bool // only a geometry is malformed: on_error: null accepts it
	text  bool // only a text is not in the encoding: on_error: null accepts it
	shape bool // a record that on_error: repair reads: ragged, or with text after a quote
	file  bool // a fault of the file: on_error: skip does not skip it
	field int  // number of the column + 1; 0: none
}

// fail sets the fault: something else was expected at p.
func (t *text) fail(p int, want string) {
	t.fault = fault{pos: p, want: want}
}

// cut sets the fault: the window ends too early.
func (t *text) cut() int {
	t.fault = fault{pos: t.N, cut: true}
	return -1
}

// error returns the fault as an error with its position in the file. row is the record's number, or
// -1.
func (t *text) error(row int64, limits readers.Limits) error {
	f := t.fault
	e := &readers.ParseError{Name: t.Src.Name, Format: "csv", Offset: t.Base + int64(f.pos), Row: row, Unit: unit}
	if f.field > 0 && f.field <= len(t.names) {
		e.Field = string(t.names[f.field-1])
	}
	line, err := t.LineAt(e.Offset)
	if err != nil {
		return err
	}
	e.Line = line
	switch {
	case row < 0 || f.file || f.depth:
	case (f.value || f.text) && !t.nullErrors:
		e.Mode = "null"
	case f.shape && !t.repair:
		e.Mode = "repair"
	}
	switch {
	case f.depth:
		return &readers.LimitError{
			What: "the nesting of brackets", Flag: "--max-depth",
			Limit: int64(limits.MaxDepth), Err: e,
		}
	case f.bare:
		e.Err = errors.New(f.want)
	default:
		found, err := t.Found(e.Offset)
		if err != nil {
			return err
		}
		e.Err = fmt.Errorf("want %s, found %s", f.want, found)
	}
	return e
}
