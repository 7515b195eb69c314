package kerneltest

import (
	"bytes"
	"strings"
)

// CommasOf is the mask of commas.
func CommasOf(text []byte) []uint64 {
	return Bitmap(len(text), func(i int) bool { return text[i] == ',' })
}

// WKTRow is what ParseWKT says of a row.
type WKTRow struct {
	Start, Tag, From, To int
	Valid, Body          bool
}

// WKTText is a text of WKT, read byte by byte.
type WKTText struct {
	text        []byte
	members     bool
	Open, Close []bool // EMPTY is a pair of brackets
}

// ReadWKT reads lines of WKT, as a plain reference for the kernels.
func ReadWKT(text []byte, members bool) WKTText {
	x := WKTText{text, members, make([]bool, len(text)), make([]bool, len(text))}
	for i, c := range text {
		x.Open[i], x.Close[i] = x.Open[i] || c == '(', x.Close[i] || c == ')'
		if x.word(i) == "EMPTY" && (i == 0 || !Letter(text[i-1])) {
			x.Open[i], x.Close[i+4] = true, true
		}
	}
	return x
}

// Letter reports whether c is an ASCII letter.
func Letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// White reports whether c is a blank, a tab or a line end.
func White(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Digit reports whether c is an ASCII digit.
func Digit(c byte) bool { return c >= '0' && c <= '9' }

// word is the letters at i, as capitals.
func (x WKTText) word(i int) string {
	end := i
	for end < len(x.text) && Letter(x.text[end]) {
		end++
	}
	return strings.ToUpper(string(x.text[i:end]))
}

// skip passes bytes for which ok holds.
func (x WKTText) skip(i int, ok func(byte) bool) int {
	for i < len(x.text) && ok(x.text[i]) {
		i++
	}
	return i
}

// ends reports whether byte i, outside of brackets, ends a row.
func (x WKTText) ends(i int) bool {
	c := x.text[i]
	if x.members {
		return c == ','
	}
	before := bytes.TrimRight(x.text[:i], " \t\n\r")
	return c == '\n' || c == '\r' || c == ';' && (len(before) == 0 || !Digit(before[len(before)-1]))
}

// Rows returns the rows, and not ok for a fault.
func (x WKTText) Rows() (all []WKTRow, ok bool) {
	if bytes.ContainsFunc(x.text, func(r rune) bool { return r >= 0x80 || r < ' ' && !White(byte(r)) }) {
		return nil, false
	}
	for i := 0; ; {
		for begun := i == 0; i < len(x.text) && (White(x.text[i]) || x.ends(i)); i++ {
			if x.members && x.ends(i) {
				if begun {
					return nil, false // nothing stands before the comma
				}
				begun = true
			}
		}
		if i == len(x.text) {
			return all, true
		}
		r := WKTRow{Start: i, Tag: i, From: i, To: i, Valid: true, Body: true}
		if i, ok = x.row(&r); !ok {
			return nil, false
		}
		all = append(all, r)
	}
}

// row reads the row at its start, and gives what ends it.
func (x WKTText) row(r *WKTRow) (end int, ok bool) {
	i := r.Start
	switch c := x.text[i] | 0x20; {
	case x.members:
	case c == 'n':
		if x.word(i) != "NULL" {
			return 0, false
		}
		r.Valid, r.Body = false, false
		return x.over(i + 4)
	case c == 's':
		if i, ok = x.srid(i); !ok {
			return 0, false
		}
		if r.Tag = i; bytes.ContainsAny(x.text[r.Start:i], "\n\r") {
			return 0, false
		}
	}
	depth := 0
	for ; i < len(x.text); i++ {
		switch {
		case x.Open[i]:
			if depth++; depth == 1 {
				r.From = i
			}
			if behind := x.skip(i+1, White); x.text[i] == '(' && behind < len(x.text) && x.text[behind] == ')' {
				return 0, false
			}
		case x.Close[i]:
			if depth--; depth == 0 {
				r.To = i + 1
				return x.over(i + 1)
			}
			behind := x.skip(i+1, White)
			if depth < 0 || behind == len(x.text) || !x.Close[behind] && x.text[behind] != ',' {
				return 0, false
			}
		case depth == 0 && x.ends(i):
			return 0, false
		}
	}
	return 0, false
}

// over passes blanks up to what ends a row.
func (x WKTText) over(i int) (end int, ok bool) {
	for ; i < len(x.text); i++ {
		if x.ends(i) {
			return i, true
		}
		if !White(x.text[i]) {
			return 0, false
		}
	}
	return i, true
}

// srid passes an SRID.
func (x WKTText) srid(i int) (end int, ok bool) {
	if x.word(i) != "SRID" {
		return 0, false
	}
	i = x.skip(i+4, White)
	if i == len(x.text) || x.text[i] != '=' {
		return 0, false
	}
	i = x.skip(i+1, White)
	first := i
	if i = x.skip(i, Digit); i == first {
		return 0, false
	}
	if n := strings.TrimLeft(string(x.text[first:i]), "0"); len(n) > 10 || len(n) == 10 && n > "2147483647" {
		return 0, false
	}
	i = x.skip(i, White)
	if i == len(x.text) || x.text[i] != ';' {
		return 0, false
	}
	i = x.skip(i+1, White)
	return i, i < len(x.text)
}
