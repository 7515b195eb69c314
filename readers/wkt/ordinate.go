package wkt

import (
	"math"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// Numbers are those of JSON and, as in strtod(3), numbers with a plus, leading zeros, or no digit
// before or after the point; nan, inf and infinity in any case and with a sign, which a NaN loses.
// One beyond float64 is an error.

var nan = math.Float64frombits(0x7ff8000000000000)

// ordinate reads a number at p.
func (t *text) ordinate(p int) (v float64, end int) {
	v, end = number.Float(t.q, p)
	if end < 0 {
		return t.anyOrdinate(p)
	}
	return v, end
}

// anyOrdinate is ordinate for numbers that JSON does not have. It rewrites the number in JSON's
// syntax, so that only one package rounds numbers.
//
//go:noinline
func (t *text) anyOrdinate(p int) (v float64, end int) {
	start := p
	out := t.token[:0]
	if c := t.at(p); c == '-' || c == '+' {
		if p++; c == '-' {
			out = append(out, '-')
		}
	}
	if isLetter(t.at(p)) {
		return t.numberWord(start, p)
	}
	first := p
	for t.at(p) == '0' {
		p++
	}
	whole := p
	p = t.digits(p)
	digits := p - first
	if out = append(out, t.slice(whole, p)...); p == whole {
		out = append(out, '0')
	}
	if t.at(p) == '.' {
		if t.loose != nil && t.at(p+1) == '#' {
			return t.microsoft(start, p+2)
		}
		end := t.digits(p + 1)
		if digits += end - p - 1; end > p+1 {
			out = append(out, t.slice(p, end)...)
		}
		p = end
	}
	if digits == 0 {
		return 0, t.fail(p, wantNumber)
	}
	if t.at(p)|0x20 == 'e' {
		exponent := p
		if p++; t.at(p) == '-' || t.at(p) == '+' {
			p++
		}
		end := t.digits(p)
		if end == p {
			return 0, t.fail(p, "a digit of an exponent")
		}
		out = append(out, t.slice(exponent, end)...)
		p = end
	}
	n := len(out)
	out = append(out, make([]byte, number.Padding)...)
	t.token = out[:0]
	v, _ = number.Float(unsafe.Pointer(unsafe.SliceData(out[:n])), 0)
	if math.IsInf(v, 0) {
		return 0, t.wrong(start, p, "a number beyond the range of float64")
	}
	return v, p
}

const wantNumber = "a number"

// digits skips digits.
func (t *text) digits(p int) int {
	for t.at(p)-'0' < 10 {
		p++
	}
	return p
}

// numberWord reads nan or an infinity, whose sign is at start and whose letters are at p.
func (t *text) numberWord(start, p int) (v float64, end int) {
	end = t.word(p)
	word := t.slice(p, end)
	switch {
	case is(word, "NAN") && t.loose != nil && t.at(end) == '(':
		return t.payload(start, end)
	case is(word, "NAN"):
		return nan, end
	case !is(word, "INF") && !is(word, "INFINITY"):
		return 0, t.failWord(start, end, wantNumber)
	case t.at(start) == '-':
		return math.Inf(-1), end
	}
	return math.Inf(1), end
}
