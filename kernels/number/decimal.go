package number

import (
	"math"
	"strconv"
)

// decimalDigits is a number as it is decimalDigits: +-0.digits * 10^power.
type decimalDigits struct {
	negative bool
	digits   []byte // from the first that is not 0 on
	power    int
}

// ReadNumber reads the number that b begins with, of any length: what decimal.cuh leaves undecided.
// length counts its bytes; if there is none, those before the first that can't continue one. Beyond
// float64 the value is an infinity.
func ReadNumber(b []byte, g Grammar) (v float64, length int, ok bool) {
	d, i, ok := scanNumber(b, g)
	if !ok {
		return math.NaN(), i, false
	}
	return d.float64(), i, true
}

// scanNumber reads the text of the number that b begins with.
func scanNumber(b []byte, g Grammar) (d decimalDigits, length int, ok bool) {
	at := func(i int) byte {
		if i < len(b) {
			return b[i]
		}
		return 0
	}
	i := 0
	d.negative = at(0) == '-'
	if d.negative || at(0) == '+' && g == GrammarLenient {
		i++
	}
	integer := i
	for ; isDigit(at(i)); i++ {
		if g == GrammarJSON && i == integer+1 && b[integer] == '0' {
			return d, i, false
		}
		d.add(b[i])
	}
	d.power = len(d.digits)
	count := i - integer
	if g == GrammarJSON && count == 0 {
		return d, i, false
	}
	if at(i) == '.' {
		i++
		fraction := i
		for ; isDigit(at(i)); i++ {
			d.add(b[i])
			if len(d.digits) == 0 {
				d.power--
			}
		}
		count += i - fraction
		if count == 0 || g == GrammarJSON && i == fraction {
			return d, i, false
		}
	}
	if count == 0 {
		return d, i, false
	}
	if at(i)|0x20 != 'e' {
		return d, i, true
	}
	i++
	sign := at(i)
	if sign == '-' || sign == '+' {
		i++
	}
	first, power := i, 0
	const most = 1 << 56 // no text is long enough to make up for such an exponent
	for ; isDigit(at(i)); i++ {
		if power < most {
			power = 10*power + int(b[i]-'0')
		}
	}
	if sign == '-' {
		power = -power
	}
	d.power += power
	return d, i, i > first
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// IsLetter reports whether c is an ASCII letter.
func IsLetter(c byte) bool { return (c|0x20)-'a' < 26 }

// add appends a digit.
func (d *decimalDigits) add(digit byte) {
	if digit != '0' || len(d.digits) > 0 {
		d.digits = append(d.digits, digit)
	}
}

// float64 rounds d.
func (d decimalDigits) float64() float64 {
	text := make([]byte, 0, len(d.digits)+16)
	if d.negative {
		text = append(text, '-')
	}
	text = append(append(text, "0."...), d.digits...)
	// Beyond these powers the number is 0 or an infinity, and strconv cuts exponents of more than
	// five digits.
	text = strconv.AppendInt(append(text, '0', 'e'), int64(min(max(d.power, -9999), 9999)), 10)
	v, _ := strconv.ParseFloat(string(text), 64) // the one error is that of an infinity
	return v
}
