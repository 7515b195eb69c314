package sqltext

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/vibeflight/vibeflight/catalog/nearest"
)

// Error is an error in a statement, with its place.
type Error struct {
	Err       error  // without its place
	Statement string // the text that the place is in
	Byte      int    // of the statement; -1: unknown
	Line      int    // of the statement's first line in the input, from 1
	Input     string // what the statement is read from, before the line; empty: the command line
	Hint      string // what to do next; empty: the error says it
}

// Error is `line 2: syntax error at or near "FORM"`, without the line if the place is unknown.
func (e *Error) Error() string {
	text := e.Err.Error()
	if n := e.line(); n > 0 {
		text = "line " + strconv.Itoa(n) + ": " + text
	}
	if e.Input != "" {
		text = e.Input + ": " + text
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// line returns the line of the place in the input, 0 if it is unknown.
func (e *Error) line() int {
	if e.Byte < 0 || e.Byte > len(e.Statement) {
		return 0
	}
	return e.Line + strings.Count(e.Statement[:e.Byte], "\n")
}

// shown is the most characters of a line that Lines returns.
const shown = 76

// Lines returns the line of the statement that has the mistake, and below it a caret at the place.
func (e *Error) Lines() []string {
	if e.line() == 0 {
		return nil
	}
	start := strings.LastIndexByte(e.Statement[:e.Byte], '\n') + 1
	line, _, _ := strings.Cut(e.Statement[start:], "\n")
	before := []rune(strings.ReplaceAll(e.Statement[start:e.Byte], "\t", " "))
	all := []rune(strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", " "))
	at, first := len(before), 0
	if first = max(0, min(at-shown/2, len(all)-shown)); first > 0 {
		all, at = all[first:], at-first
		all[0] = '…'
	}
	if len(all) > shown {
		all = append(all[:shown-1:shown-1], '…')
	}
	width := runewidth.StringWidth(string(all[:min(at, len(all))]))
	return []string{"  " + string(all), "  " + strings.Repeat(" ", width) + "^"}
}

// unknown matches the errors that name what is missing, but not its place.
var unknown = regexp.MustCompile(
	`^(?:no entry|no table|no SQL table|Table with name) "?([^"]+?)"?(?: does not exist|;|$)`)

// Locate returns the byte of a statement that an error without a place is about, or -1: it looks for
// the table that does not exist.
func Locate(statement, message string) int {
	m := unknown.FindStringSubmatch(message)
	if m == nil || !utf8.ValidString(statement) {
		return -1
	}
	return find(statement, m[1])
}

// WordAt returns the word at a byte of a text, or "".
func WordAt(text string, at int) string {
	if at < 0 || at >= len(text) || !begins(text[at:]) {
		return ""
	}
	return text[at : at+wordLength(text[at:])]
}

// place is how a server begins the error of a statement whose place it knows.
var place = regexp.MustCompile(`^byte ([0-9]+) of the query: `)

// Explain adds the place in a statement to an error, if the error or its text has one, and what to do
// next. line is that of the statement in the input.
func Explain(err error, statement string, line int, input string) error {
	if err == nil {
		return nil
	}
	e := &Error{Err: err, Statement: statement, Byte: -1, Line: line, Input: input}
	var placed interface{ Place() int }
	if errors.As(err, &placed) && placed.Place() >= 0 {
		e.Byte = placed.Place()
	} else if m := place.FindStringSubmatch(err.Error()); m != nil {
		e.Byte, _ = strconv.Atoi(m[1]) // digits
		e.Err = errors.New(err.Error()[len(m[0]):])
	} else {
		e.Byte = Locate(statement, err.Error())
	}
	if e.Byte < 0 {
		if input == "" {
			return err
		}
		return fmt.Errorf("%s: %w", input, err)
	}
	e.Hint = hint(e)
	return e
}

// starts are the words with which a statement or a clause begins.
var starts = []string{
	"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "WITH", "VALUES", "DESCRIBE", "SHOW",
	"SUMMARIZE", "EXPLAIN", "JOIN", "LEFT", "RIGHT", "UNION", "BETWEEN", "DISTINCT", "INTERSECT", "EXCEPT",
}

// hint returns what to do about a syntax error, or "".
func hint(e *Error) string {
	text := e.Err.Error()
	switch {
	case strings.HasSuffix(text, "at end of input"):
		return "the statement is not complete"
	case !strings.HasPrefix(text, "syntax error"):
		return ""
	}
	for _, at := range []int{e.Byte, lastWord(e.Statement, e.Byte)} {
		typed := strings.ToUpper(WordAt(e.Statement, at))
		if typed == "" || slices.Contains(starts, typed) {
			continue
		}
		near := nearest.Close(typed, starts)
		for _, word := range starts {
			if near == "" && sameLetters(typed, word) {
				near = word
			}
		}
		if near != "" {
			return "did you mean " + near + "?"
		}
	}
	return ""
}

// sameLetters reports whether two words differ in the order of their letters alone: FORM and FROM.
func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return string(x) == string(y)
}

// lastWord returns the start of the word before a byte, or -1: "SELECT a FORM t" fails at t.
func lastWord(text string, end int) int {
	found := -1
	for at := 0; at < end; {
		t := next(text, at)
		if t.kind == word && t.end <= end {
			found = t.start
		}
		at = t.end
	}
	return found
}
