// Package sqltext knows the texts of SQL: where a statement ends, which tables it names, and how to
// show the place of an error. It reads the tokens of DuckDB, which are those of PostgreSQL.
package sqltext

import "strings"

// Statement is a statement of a text, without the semicolon at its end.
type Statement struct {
	Text string
	Line int // of the statement's first line in the whole text, from 1
}

// Splitter divides a text into statements while it arrives.
type Splitter struct {
	text string // what follows the last complete statement
	from int    // the byte of text from which it is scanned on
	line int    // the lines before text
}

// Add adds text, and returns the statements that it completes. Empty ones are left out.
func (s *Splitter) Add(text string) []Statement {
	s.text += text
	var found []Statement
	for {
		end := s.scan()
		if end < 0 {
			return found
		}
		if one, ok := s.cut(end); ok {
			found = append(found, one)
		}
		s.text, s.from = s.text[end+1:], 0
	}
}

// Rest returns the statement that has no semicolon, if there is one, and forgets it.
func (s *Splitter) Rest() (Statement, bool) {
	one, ok := s.cut(len(s.text))
	s.text, s.from = "", 0
	return one, ok
}

// Skip counts lines that are no part of a statement.
func (s *Splitter) Skip(lines int) { s.line += lines }

// Pending returns the text of the statement that is not complete.
func (s *Splitter) Pending() string { return s.text }

// Empty reports whether no statement has begun.
func (s *Splitter) Empty() bool { return strings.TrimSpace(s.text) == "" }

// scan returns the byte of the next semicolon that ends a statement, or -1.
func (s *Splitter) scan() int {
	for s.from < len(s.text) {
		t := next(s.text, s.from)
		switch {
		case t.kind == other && s.text[t.start] == ';':
			return t.start
		case !t.closed || t.end == len(s.text):
			return -1 // more text may belong to it: -- and E' have two characters
		}
		s.from = t.end
	}
	return -1
}

// cut returns the statement in the first bytes of the text, and counts its lines.
func (s *Splitter) cut(end int) (Statement, bool) {
	text := s.text[:end]
	start := 0 // of the first token that is no comment
	blank := true
	for start < len(text) {
		t := next(text, start)
		if t.kind != space && t.kind != comment {
			blank = false
			break
		}
		start = t.end
	}
	line := s.line + strings.Count(text[:start], "\n") + 1
	one := Statement{Text: strings.TrimRight(text[start:], " \t\r\n"), Line: line}
	s.line += strings.Count(text, "\n")
	return one, !blank
}

// Split returns the statements of a whole text.
func Split(text string) []Statement {
	var s Splitter
	found := s.Add(text)
	if last, ok := s.Rest(); ok {
		found = append(found, last)
	}
	return found
}
