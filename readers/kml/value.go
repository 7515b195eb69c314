package kml

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// flag reads an xsd:boolean into a leading column of integers. Of several the last one counts, or
// the first one.
func (s *scanner) flag(column int, first bool) bool {
	p := s.X.P
	b, _, ok := s.X.Value()
	if !ok {
		return false
	}
	v := s.keep(bytes.TrimSpace(b))
	if len(v.text) == 0 || first && s.row.has(column) {
		return true
	}
	one, ok := booleanOf(v.text)
	if !ok {
		return s.Expect(p+leadingBlanks(b), leading[column].name, "KML 2.3, boolean", "0 or 1") || s.nullValue()
	}
	v.kind, v.num = integer, number.Num{Kind: number.Int32, Int: one, Float: float64(one)}
	s.row.set(column, v)
	return true
}

// leadingBlanks returns the number of blanks at the start of a text.
func leadingBlanks(b []byte) int { return len(b) - len(bytes.TrimLeft(b, " \t\r\n")) }

// booleanOf reads 0, 1, false or true, in any case, like GDAL.
func booleanOf(b []byte) (one uint64, ok bool) {
	switch {
	case string(b) == "1", bytes.EqualFold(b, []byte("true")):
		return 1, true
	case string(b) == "0", bytes.EqualFold(b, []byte("false")):
		return 0, true
	}
	return 0, false
}

// integer reads an integer into a leading column. Of several the last one counts, or the first one.
func (s *scanner) integer(column int, first bool) bool {
	v, ok := s.typed(geoarrow.FactInt32, []byte(leading[column].name))
	if ok && v.kind != null && !(first && s.row.has(column)) {
		s.row.set(column, v)
	}
	return ok
}

// typed reads the text of an element as a value of some kind; blanks are null. Without kinds it is
// text.
func (s *scanner) typed(kinds geoarrow.FactKinds, field []byte) (value, bool) {
	p := s.X.P
	b, _, ok := s.X.Value()
	if !ok || kinds == 0 {
		return s.keep(b), ok
	}
	p += leadingBlanks(b)
	v := s.keep(bytes.TrimSpace(b))
	if len(v.text) == 0 {
		return value{}, true
	}
	if kinds == geoarrow.FactBool {
		one, ok := booleanOf(v.text)
		if !ok {
			return value{}, s.Expect(p, string(field), dataRule, "true or false, which the schema says") ||
				s.nullValue()
		}
		v.kind, v.num.Int = boolean, one
		return v, true
	}
	v.kind = integer
	if v.num, ok = s.numberOf(v.text); ok {
		return v, true
	}
	if kinds == geoarrow.FactFloat {
		if v.num, ok = unmeasured(v.text); ok {
			return v, true
		}
	}
	return value{}, s.Expect(p, string(field), dataRule,
		"a number within the range of float64, which the schema says") || s.nullValue()
}

// nullValue makes the value with the current fault null, if on_error says so.
func (s *scanner) nullValue() bool {
	if s.nulls {
		s.deviate(s.X.Fault.Pos, s.Field, ruleValue, doneNull)
		s.Field = ""
	}
	return s.nulls
}

// canonicalNaN is the only NaN of a table.
var canonicalNaN = math.Float64frombits(0x7ff8000000000000)

// unmeasured reads the values of xsd:double that are not finite.
func unmeasured(b []byte) (number.Num, bool) {
	n := number.Num{Kind: number.Real}
	switch {
	case bytes.EqualFold(b, []byte("nan")):
		n.Float = canonicalNaN
	case bytes.EqualFold(b, []byte("inf")):
		n.Float = math.Inf(1)
	case bytes.EqualFold(b, []byte("-inf")):
		n.Float = math.Inf(-1)
	default:
		return n, false
	}
	return n, true
}

// numberOf reads a whole text as a number of XML Schema: with a plus, leading zeros, or no digit on
// one side of the point.
func (s *scanner) numberOf(b []byte) (number.Num, bool) {
	end := 0
	s.digits, end = strict(s.digits[:0], b)
	if end < len(b) || end == 0 {
		return number.Num{}, false
	}
	n := len(s.digits)
	s.digits = append(s.digits, make([]byte, number.Padding)...)
	v, end := number.Number(unsafe.Pointer(&s.digits[0]), 0)
	return v, end == n
}

// strict appends the number at the start of b in JSON's syntax, and returns its length in b, 0 if
// there is none.
func strict(dst, b []byte) (out []byte, end int) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		if b[i] == '-' {
			dst = append(dst, '-')
		}
		i++
	}
	from := i
	i = digits(b, i)
	any := i > from
	for from < i-1 && b[from] == '0' {
		from++
	}
	if dst = append(dst, b[from:i]...); !any {
		dst = append(dst, '0')
	}
	if i < len(b) && b[i] == '.' {
		from = i
		i = digits(b, i+1)
		if i > from+1 {
			any = true
			dst = append(dst, b[from:i]...)
		} else if any { // "5." has no fraction to write
			dst = append(dst, '.', '0')
		}
	}
	if !any {
		return dst, 0
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		k := i + 1
		if k < len(b) && (b[k] == '-' || b[k] == '+') {
			k++
		}
		if last := digits(b, k); last > k {
			dst = append(dst, b[i:last]...)
			i = last
		}
	}
	return dst, i
}

// digits skips digits.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}
