package kml

import (
	"bytes"
	"fmt"
	"unicode"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// This file reads coordinates that are not in KML's syntax, but have one obvious reading.
// Google Earth and GDAL read most of them too.
//
//	1,2,0,3,4,0      two tuples of three: numbers of tuples between commas only
//	1,2, 3,4, 5,6    three of two: a blank after each second comma
//	1,2,0,9 3,4,0,9  two of three: the fourth numbers are dropped
//	1,2,undefined    no third number

// maxLooseBytes is the maximum length of a text that is read like this, which takes several times
// the memory.
const maxLooseBytes = 16 << 20

// ordinate is a number of a run of such numbers between commas.
type ordinate struct {
	value   float64
	missing bool // a word for a missing number, or empty
	wide    bool // blanks are next to the comma after it
}

// looseTuples are tuples that are not in KML's syntax.
type looseTuples struct {
	numbers []ordinate
	sizes   []int // of tuples; a tuple of four has a number that is dropped
	rule    string
}

// looseCoordinates reads the tuples of the element at tag, after the strict reader set the current
// fault. geom is the builder before it.
func (s *scanner) looseCoordinates(tag xmltext.Mark, geom geoarrow.Mark, most int) bool {
	fault, field := s.X.Fault, s.Field
	s.sink.Geom.Rewind(geom)
	s.X.Rewind(tag)
	s.Field = ""
	if s.X.Next() != xmltext.Start {
		return false
	}
	text, markup, ok := s.X.Value()
	if !ok {
		return false
	}
	var t looseTuples
	if markup || len(text) > maxLooseBytes || !s.looseRuns(&t, text, most) || len(t.sizes) == 0 {
		s.X.Fault, s.Field = fault, field
		return false
	}
	if len(t.sizes) > most {
		t.sizes, t.rule = t.sizes[:most], rulePoint
	}
	g := &s.sink.Geom
	at := 0
	for _, size := range t.sizes {
		tuple := t.numbers[at : at+size]
		at += size
		g.X, g.Y = append(g.X, tuple[0].value), append(g.Y, tuple[1].value)
		if size > 2 && !tuple[2].missing {
			g.AddZ(tuple[2].value)
		}
	}
	done := "read as 1 tuple"
	if n := len(t.sizes); n != 1 {
		done = fmt.Sprintf("read as %d tuples", n)
	}
	s.deviate(fault.Pos, fieldGeometry, t.rule, done)
	return true
}

// looseRuns reads runs of numbers with commas between them, and blanks between runs.
func (s *scanner) looseRuns(t *looseTuples, text []byte, most int) bool {
	var ends []int // of runs, in numbers
	for {
		text = bytes.TrimLeftFunc(text, isLooseBlank)
		if len(ends) == 0 { // a comma before the first number
			text = bytes.TrimLeftFunc(bytes.TrimPrefix(text, []byte(",")), isLooseBlank)
		}
		if len(text) == 0 {
			break
		}
		var ok bool
		if text, ok = s.looseRun(t, text); !ok {
			return false
		}
		ends = append(ends, len(t.numbers))
	}
	return t.cut(ends, most)
}

// looseRun reads a run of numbers, and returns the text after it.
func (s *scanner) looseRun(t *looseTuples, text []byte) (rest []byte, ok bool) {
	for {
		end := bytes.IndexFunc(text, func(r rune) bool { return r == ',' || isLooseBlank(r) })
		if end < 0 {
			end = len(text)
		}
		o, ok := s.looseNumber(text[:end])
		if !ok {
			return nil, false
		}
		text = text[end:]
		rest = bytes.TrimLeftFunc(text, isLooseBlank)
		comma := len(rest) > 0 && rest[0] == ','
		if comma {
			behind := rest[1:]
			next := bytes.TrimLeftFunc(behind, isLooseBlank)
			o.wide = len(rest) < len(text) || len(next) < len(behind)
			text = next
		}
		t.numbers = append(t.numbers, o)
		if !comma {
			return rest, true
		}
		if len(text) == 0 { // a comma after the last number
			t.numbers = append(t.numbers, ordinate{missing: true})
			return nil, true
		}
	}
}

// isLooseBlank reports whether a character is a blank of Unicode, or a zero-width mark that editors
// leave.
func isLooseBlank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' || r == '\u200B' }

// noNumbers are the words that programs write for a missing height.
var noNumbers = [...]string{
	"", "-", "nan", "-nan", "none", "null", "undefined", "1.#qnan", "-1.#qnan",
	"1.#ind", "-1.#ind",
}

func (s *scanner) looseNumber(text []byte) (ordinate, bool) {
	for _, word := range noNumbers {
		if len(text) == len(word) && bytes.EqualFold(text, []byte(word)) {
			return ordinate{missing: true}, true
		}
	}
	n, ok := s.numberOf(text)
	return ordinate{value: n.Float}, ok
}

// cut splits runs, which end at indices of numbers, into tuples. It returns false if there is not
// exactly one way.
func (t *looseTuples) cut(ends []int, most int) bool {
	t.rule = ruleNumbers
	pairs, triples, fours := false, false, len(ends) > 1 || most == 1
	from := 0
	for _, end := range ends {
		n := end - from
		pairs, triples, fours = pairs || n == 2, triples || n == 3, fours && n == 4
		from = end
	}
	from = 0
	for _, end := range ends {
		run := t.numbers[from:end]
		from = end
		switch n := t.cutRun(run, pairs && !triples, triples && !pairs, fours); {
		case n == 0:
			return false
		case n > 1:
			t.rule = ruleTuples
		}
	}
	if fours {
		t.rule = ruleFourth
	}
	return t.whole()
}

// cutRun cuts a run into tuples and returns how many these are; 0: there is no saying.
func (t *looseTuples) cutRun(run []ordinate, pairs, triples, fours bool) int {
	if size := spaced(run); size > 0 {
		return t.tuples(len(run), size)
	}
	n := len(run)
	if n > 3 && n%3 != 0 && run[n-1].missing { // a comma after the last tuple
		n--
	}
	switch {
	case n == 2 || n == 3:
		return t.tuples(len(run), n)
	case fours:
		return t.tuples(len(run), 4)
	case n%3 == 0 && !(pairs && n%2 == 0):
		return t.tuples(len(run), 3)
	case n%2 == 0 && !triples && n > 1:
		return t.tuples(len(run), 2)
	}
	return 0
}

// tuples adds tuples of a size that make up a run; what is left of it, a comma after the last one,
// belongs to that.
func (t *looseTuples) tuples(run, size int) int {
	n := run / size
	for range n {
		t.sizes = append(t.sizes, size)
	}
	if left := run - n*size; left > 0 {
		t.sizes[len(t.sizes)-1] += left
	}
	return n
}

// spaced returns the number of numbers in a tuple of a run whose tuples are separated by commas
// with blanks; 0: they are not.
func spaced(run []ordinate) int {
	size, last := 0, 0
	for i := range run {
		if i+1 < len(run) && !run[i].wide {
			continue
		}
		n := i + 1 - last
		last = i + 1
		switch {
		case i+1 == len(run) && n == 1 && run[i].missing: // after the last comma
		case n != 2 && n != 3, size > 0 && n != size:
			return 0
		default:
			size = n
		}
	}
	if size == len(run) {
		return 0
	}
	return size
}

// whole reports whether each tuple has a first and a second number.
func (t *looseTuples) whole() bool {
	at := 0
	for _, size := range t.sizes {
		if t.numbers[at].missing || t.numbers[at+1].missing {
			return false
		}
		at += size
	}
	return true
}
