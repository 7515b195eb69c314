package readers

import (
	"fmt"
	"strings"
)

// ParseError describes a defect of a file and its position. Every parser of every engine returns it
// for bad input.
type ParseError struct {
	Name   string // the catalog's name of the file
	Format string // the format's name
	Offset int64  // byte in the file, from 0
	Line   int64  // line in the file, from 1; 0 if the format has no lines
	Row    int64  // feature or record, from 0; -1 outside of rows
	Unit   string // what the format calls a row: "feature", "record", "line"
	Field  string // "geometry" or the attribute; empty where none is concerned
	Rule   string // the violated rule, such as "RFC 8259 section 7"; may be empty
	Text   string // encoding of a file whose text was recoded: Offset is one of the text as UTF-8; empty: of the file
	Mode   string // value of on_error that would read the file: "null", "repair"; empty if none would
	Err    error  // what was expected and what was found; nil inside of a LimitError, which has it
}

// Error returns "name: format: byte 18734, line 213, feature 212, geometry: what (rule); on_error:
// null reads the rest".
func (e *ParseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: byte %d", e.Name, e.Format, e.Offset)
	if e.Text != "" {
		fmt.Fprintf(&b, " of the %s text as UTF-8", e.Text)
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	if e.Row >= 0 {
		fmt.Fprintf(&b, ", %s %d", e.Unit, e.Row)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ", %s", e.Field)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Rule != "" {
		fmt.Fprintf(&b, " (%s)", e.Rule)
	}
	if e.Mode != "" {
		fmt.Fprintf(&b, "; on_error: %s reads the rest", e.Mode)
	}
	return b.String()
}

func (e *ParseError) Unwrap() error { return e.Err }

// LimitError reports input that exceeds a limit that the operator can change. The input may be well
// formed.
type LimitError struct {
	What  string // what is too large: "feature 7 of roads.geojson"
	Flag  string // the flag that sets the limit: "--max-depth"
	Limit int64  // its value
	Err   error  // the position, often a *ParseError; may be nil
}

// Error returns "what is beyond the limit 1024 of --max-depth".
func (e *LimitError) Error() string {
	s := fmt.Sprintf("%s is beyond the limit %d of %s", e.What, e.Limit, e.Flag)
	if e.Err != nil {
		s = fmt.Sprintf("%v: %s", e.Err, s)
	}
	return s
}

func (e *LimitError) Unwrap() error { return e.Err }

// OptionError reports an option of a format that is unknown or has an invalid value.
type OptionError struct {
	Option string
	Err    error
}

func (e *OptionError) Error() string { return fmt.Sprintf("options.%s: %v", e.Option, e.Err) }

func (e *OptionError) Unwrap() error { return e.Err }

// tooLarge returns the error for a batch, given its first row, that does not fit the offsets of its
// encoding.
func tooLarge(name string, row int64, err error, limits Limits) error {
	return &LimitError{
		What: fmt.Sprintf("%s: the rows from %d on (%v)", name, row, err), Flag: "--batch-rows",
		Limit: int64(limits.BatchRows),
	}
}
