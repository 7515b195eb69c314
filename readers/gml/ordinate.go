package gml

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
)

const blanks = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

func isBlank(c byte) bool { return c <= ' ' && 1<<c&uint64(blanks) != 0 }

func byteAt(q unsafe.Pointer, p int) byte { return *(*byte)(unsafe.Add(q, p)) }

// Reasons why a text is not an ordinate; ordinate returns their complements.
const (
	noNumber = iota
	beyondFloat64
)

// wantNumber returns what was expected where ordinate failed.
func wantNumber(why int) string {
	if why == beyondFloat64 {
		return "an ordinate within the range of float64"
	}
	return "an ordinate, which is a number"
}

// ordinate reads the number at p of the text of n bytes at q, up to a blank or the end of the text:
// a double of XML Schema (part 2, section 3.2.5) that is finite. A negative end is the complement
// of a reason.
func (s *scanner) ordinate(q unsafe.Pointer, p, n int) (v float64, end int) {
	v, end = number.Float(q, p)
	if end >= 0 && (end == n || end < n && isBlank(byteAt(q, end))) {
		return v, end
	}
	last := p
	for last < n && !isBlank(byteAt(q, last)) {
		last++
	}
	v, why := s.double(unsafe.Slice((*byte)(unsafe.Add(q, p)), last-p))
	if why >= 0 {
		return 0, ^why
	}
	return v, last
}

// double reads a whole text as a finite double of XML Schema: in addition to JSON's syntax, a plus,
// leading zeros, and no digit before or after the point. It rewrites the number in JSON's syntax,
// so that only one package rounds numbers. why is -1, or the reason for a failure.
func (s *scanner) double(text []byte) (v float64, why int) {
	out, rest := s.digits[:0], text
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		if rest[0] == '-' {
			out = append(out, '-')
		}
		rest = rest[1:]
	}
	mantissa, exponent := rest, []byte(nil)
	if i := bytes.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent = rest[:i], rest[i:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	if len(whole)+len(fraction) == 0 {
		return 0, noNumber
	}
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		whole = []byte{'0'}
	}
	if out = append(out, whole...); len(fraction) > 0 {
		out = append(append(out, '.'), fraction...)
	}
	out = append(out, exponent...)
	n := len(out)
	s.digits = append(out, make([]byte, number.Padding)...)
	v, end := number.Float(unsafe.Pointer(unsafe.SliceData(s.digits)), 0)
	switch {
	case end == n:
		return v, -1
	case math.IsInf(v, 0) && number.Skip(unsafe.Pointer(unsafe.SliceData(s.digits)), 0) == n:
		return 0, beyondFloat64
	}
	return 0, noNumber
}
