package restrict

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/catalog/internal/nearest"
	"github.com/vibeflight/vibeflight/catalog/scan"
)

// Error is the error of a table whose rules can't be applied. The client does not get the table,
// and learns no more than that. The reason is for the operator's log.
type Error struct {
	Name   string // of the entry
	Reason error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: the rules for this table can't be applied; the server's log has the reason", e.Name)
}

// OptionsError is the error of a client that sets the options of a restricted table. Other options
// may give columns other names, which the rules do not know.
type OptionsError struct{ Name string }

func (e *OptionsError) Error() string {
	return fmt.Sprintf("%s: its options are the operator's: rows or columns of it are restricted", e.Name)
}

// ErrUnreadable is the error of a restricted table whose file can't be read. Places and texts in the
// file are not the client's to know.
var ErrUnreadable = errors.New("the file of this table can't be read; the server's log has the reason")

// FilterError is the error of a filter that a caller requests and that can't be applied. If Err or
// what it wraps has a method At() int, this is the byte of the filter that the error is about.
type FilterError struct {
	Filter string
	Err    error
}

// Error is the reason with the line of the filter, and a mark below the place:
//
//	where: byte 10: syntax error at or near ">"
//	  pop_est > > 5
//	            ^
func (e *FilterError) Error() string {
	var placed interface{ At() int }
	if !errors.As(e.Err, &placed) || placed.At() < 0 || placed.At() > len(e.Filter) {
		return fmt.Sprintf("where: %v", e.Err)
	}
	line, mark := lineAt(e.Filter, placed.At())
	return fmt.Sprintf("where: byte %d: %v\n  %s\n  %s^", placed.At(), e.Err, line, mark)
}

func (e *FilterError) Unwrap() error { return e.Err }

// maxLine is how many characters of a line are shown in front of a place in it, and after it.
const maxLine = 60

// lineAt returns the line of a text that has byte at, or its part around it, and as many spaces as
// characters precede it.
func lineAt(text string, at int) (line, mark string) {
	for at < len(text) && at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	before, after := text[:at], text[at:]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	first, rest := []rune(before), []rune(strings.TrimSuffix(after, "\r"))
	first, rest = first[max(0, len(first)-maxLine):], rest[:min(len(rest), maxLine)]
	line = strings.ReplaceAll(string(first)+string(rest), "\t", " ")
	return line, strings.Repeat(" ", len(first))
}

// NoColumn returns the error for a name that no column of a table has.
func NoColumn(name string, columns []string) error {
	return &scan.UnknownColumnError{Column: name, Nearest: nearest.Name(name, columns)}
}
