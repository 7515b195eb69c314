package csv

import (
	"bytes"
	"math"
	"slices"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// trim removes blanks at both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// isBlank reports whether c may surround a number.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// number reads a text that is a number from its first byte to its last:
//
//	number  = [ "+" | "-" ] ( digits [ point [ digits ] ] | point digits ) [ "e" [ "+" | "-" ] digits ] |
//	        "nan" | [ "-" ] "inf"
//	point   = "." | "," by option; letters in any case
//
// -0 is a float, since integers have no negative zero and programs print it only for floats. An
// attribute is not a number if it has leading zeros, as identifiers do, or is beyond int64 or
// float64. An ordinate may have leading zeros, and an integer of any size becomes float64.
func (t *text) number(b []byte, ordinate bool) (n number.Num, ok bool) {
	if t.comma || ordinate && t.commaPoints {
		return t.numberWith(b, ordinate, ',')
	}
	return t.numberWith(b, ordinate, '.')
}

// numberWith is number with a given decimal separator.
func (t *text) numberWith(b []byte, ordinate bool, point byte) (n number.Num, ok bool) {
	if v, ok := special(b); ok {
		return number.Num{Kind: number.Real, Float: v}, true
	}
	if !t.asJSON(b, ordinate, point) {
		return number.Num{}, false
	}
	n, end := number.Number(unsafe.Pointer(unsafe.SliceData(t.digits)), 0)
	if end != len(t.digits)-number.Padding || !ordinate && (n.Kind == number.Uint64 || n.Kind == number.Huge) {
		return number.Num{}, false
	}
	if n.Int == 0 && n.Negative {
		n.Kind = number.Real
	}
	return n, true
}

// special returns the value of a number without digits.
func special(b []byte) (v float64, ok bool) {
	switch {
	case equalFold(b, "nan"):
		return math.Float64frombits(0x7ff8000000000000), true
	case equalFold(b, "inf"):
		return math.Inf(1), true
	case equalFold(b, "-inf"):
		return math.Inf(-1), true
	}
	return 0, false
}

// asJSON writes a number to digits in the syntax of package number, followed by padding.
func (t *text) asJSON(b []byte, zeros bool, point byte) bool {
	d := t.digits[:0]
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		if b[0] == '-' {
			d = append(d, '-')
		}
		b = b[1:]
	}
	integer := leadingDigits(b)
	b = b[len(integer):]
	before := len(integer)
	for len(integer) > 1 && integer[0] == '0' {
		if !zeros {
			return false
		}
		integer = integer[1:]
	}
	if before == 0 {
		d = append(d, '0')
	}
	d = append(d, integer...)
	if len(b) > 0 && b[0] == point {
		fraction := leadingDigits(b[1:])
		b = b[1+len(fraction):]
		if before+len(fraction) == 0 {
			return false
		}
		d = append(append(d, '.'), fraction...)
		if len(fraction) == 0 {
			d = append(d, '0')
		}
	} else if before == 0 {
		return false
	}
	if len(b) > 0 && b[0]|0x20 != 'e' {
		return false
	}
	d = append(d, b...)
	d = slices.Grow(d, number.Padding)
	clear(d[len(d) : len(d)+number.Padding])
	t.digits = d[:len(d)+number.Padding]
	return true
}

func leadingDigits(b []byte) []byte {
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return b[:n]
}

// boolean reads true and false, in any case. 0 and 1 are numbers; yes, no, on, off and letters are
// words, since a column of F may be one of sexes, and N a hemisphere.
func boolean(b []byte) (v, ok bool) {
	switch {
	case equalFold(b, "true"):
		return true, true
	case equalFold(b, "false"):
		return false, true
	}
	return false, false
}

// nullWords mean that there is no geometry or no ordinate, in any case: those of spreadsheets
// (NA, N/A,
// #N/A, -), of Python (None, nan) and of databases (null, \N).
var nullWords = [...]string{"null", "nan", "na", "n/a", "none", `\n`, "#n/a", "-"}

// nullLike reports whether the text of a geometry or an ordinate is one of nullWords. As
// attributes such words are text.
func nullLike(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if len(b) > len("none") {
		return false
	}
	for _, word := range nullWords {
		if equalFold(b, word) {
			return true
		}
	}
	return false
}

// equalFold reports whether b equals word, which is in lower case, ignoring case.
func equalFold(b []byte, word string) bool {
	return len(b) == len(word) && bytes.EqualFold(b, []byte(word))
}
