package csv

import (
	"bytes"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// Defects of records that on_error: null and repair accept, and their counts.

// Rules of docs/formats/csv.md.
const (
	ruleGuess  = "guessed-geometry"
	ruleNull   = "bad-geometry"
	ruleText   = "not-in-encoding"
	ruleRagged = "ragged-record"
	ruleQuote  = "stray-quote"
	ruleMSVC   = "msvc-nan"
)

// deviates notes that field i is null because of the current fault of its geometry. It returns
// false if that is an error.
func (s *scanner) deviates(i int) bool {
	switch {
	case s.guessed && s.keep:
		s.deviate(s.fault.pos, i, ruleGuess, "geometry is null")
	case s.guessed:
		s.deviate(s.fault.pos, i, ruleGuess, "geometry is null; the columns that were taken for it are kept as text")
		s.reveal = true
	case s.nullErrors:
		s.deviate(s.fault.pos, i, ruleNull, "geometry is null")
	default:
		return false
	}
	return true
}

// deviate notes a deviation of the current record; i is the number of a field, or -1.
func (s *scanner) deviate(pos, i int, rule, done string) {
	d := readers.Deviation{Offset: s.Base + int64(pos), Row: s.row, Rule: rule, Done: done}
	if i >= 0 {
		d.Field = string(s.names[i])
	}
	s.sink.Deviate(d)
}

// nullText reads the field at p, whose text is not in the encoding, as null. It returns -1 if that
// is an error.
func (s *scanner) nullText(i, p int) int {
	if !s.fault.text || !s.nullErrors {
		return -1
	}
	s.deviate(s.fault.pos, i, ruleText, "value is null")
	u := s.sink.uses[i]
	switch {
	case u&useX != 0:
		s.x = ordinate{null: true}
	case u&useY != 0:
		s.y = ordinate{null: true}
	case u&useCell != 0:
		s.kind, s.own = 0, 0
	}
	_, end := s.text.cell(p)
	return end
}

// noteMended counts the stray quotes of field i.
func (s *scanner) noteMended(i int) {
	s.deviate(s.mended, i, ruleQuote, "a quote that is not doubled is read as text, or left out where it ends the text")
}

// isMSVC reports whether a text is NaN or infinity as Microsoft's C library wrote them until 2015:
// 1.#QNAN, -1.#IND00.
func isMSVC(b []byte) bool {
	b = bytes.TrimRight(bytes.TrimLeft(b, "+-"), "0")
	rest, found := bytes.CutPrefix(b, []byte("1.#"))
	return found && (equalFold(rest, "qnan") || equalFold(rest, "snan") || equalFold(rest, "ind"))
}

// mendedCell continues to read a quoted field c in which the quote at q is not followed by a
// delimiter, a line end or a quote:
//
//	"a "b" c",1    a "b" c    another quote ends the field before one begins
//	"a"b,1         ab         no quote follows in the field
//	"a" ,1         a          blanks
//
// All of it is on the line of the quote. Otherwise the current fault stays, as it does if the
// record then has too many or too few fields.
func (t *text) mendedCell(c cell, q int) (cell, int) {
	quotes, plain := 0, -1
	for p := q + 1; ; p++ {
		if p >= t.N && !t.EOF {
			return c, t.cut()
		}
		k := t.class[t.At(p)]
		if p >= t.N {
			k = classLineEnd
		}
		if p < t.N && t.At(p) >= 0x80 {
			c.high = true
		}
		switch {
		case k == classQuote && p > q+1 && t.At(p-1) == t.delimiter:
			k = classLineEnd // another field begins
		case k == classQuote && (quotes > 0 || plain < 0):
			quotes++
			if next := p + 1; next >= t.N && !t.EOF {
				return c, t.cut()
			} else if next >= t.N || t.class[t.At(next)]&endsField != 0 {
				c.to, c.stray, t.mended = p, true, q+1
				return c, p + 1
			}
		case k&endsField != 0 && quotes == 0 && plain < 0:
			plain = p
		}
		if k == classLineEnd {
			break
		}
	}
	if plain < 0 {
		return c, -1
	}
	c.after, c.to, t.mended = q+1, plain, q+1
	return c, plain
}

// joined returns the text of a quoted field and of what follows it, without blanks at the end.
func (t *text) joined(b []byte) []byte {
	q := bytes.IndexByte(b, t.quote)
	for q+1 < len(b) && b[q+1] == t.quote { // doubled
		q += 2
		q += bytes.IndexByte(b[q:], t.quote)
	}
	rest := bytes.TrimRight(b[q+1:], " \t")
	t.scratch = t.scratch[:0]
	for i := 0; i < q; i++ {
		t.scratch = append(t.scratch, b[i])
		if b[i] == t.quote {
			i++
		}
	}
	return t.padded(append(t.scratch, rest...))
}

// single returns the text with doubled quotes made single, and other quotes unchanged.
func (t *text) single(b []byte) []byte {
	t.scratch = t.scratch[:0]
	for i := 0; i < len(b); i++ {
		t.scratch = append(t.scratch, b[i])
		if b[i] == t.quote && i+1 < len(b) && b[i+1] == t.quote {
			i++
		}
	}
	return t.padded(t.scratch)
}

// padded copies a text to scratch, with number.Padding bytes after it.
func (t *text) padded(b []byte) []byte {
	n := len(b)
	t.scratch = append(b, make([]byte, number.Padding)...)
	return t.scratch[:n]
}
