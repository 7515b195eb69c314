package number

import (
	"math"
	"strconv"
	"unsafe"
)

// maxDigits is how many decimal digits a uint64 holds, whatever they are.
const maxDigits = 19

// maxExponent is where a written exponent stops to grow. No text is long enough for its digits to
// make up for such a one.
const maxExponent = 1 << 56

// decimal is a number as written: mantissa * 10^exponent.
type decimal struct {
	mantissa uint64 // its first 19 significant digits, or all
	exponent int
	written  int  // the exponent after "e"
	cut      bool // a digit beyond the mantissa is not zero
	negative bool
	integer  bool // without fraction and exponent
}

// scan reads the number that starts at byte p of the buffer at q. A negative end is the complement
// of the index of the first byte that cannot continue a number.
func scan(q unsafe.Pointer, p int) (d decimal, end int) {
	if byteAt(q, p) == '-' {
		d.negative = true
		p++
	}
	start := p
	var point int // digits after the point
	d.mantissa, p = run(q, p, 0)
	if p == start {
		return decimal{}, ^p
	}
	if p > start+1 && byteAt(q, start) == '0' {
		return decimal{}, ^(start + 1)
	}
	count := p - start
	d.integer = true
	if byteAt(q, p) == '.' {
		d.integer = false
		after := p + 1
		d.mantissa, p = run(q, after, d.mantissa)
		if p == after {
			return decimal{}, ^p
		}
		point = p - after
		count += point
	}
	d.exponent = -point
	if count > maxDigits {
		d.truncate(q, start, p)
	}
	if byteAt(q, p)|0x20 != 'e' {
		return d, p
	}
	d.integer = false
	p++
	sign := byteAt(q, p)
	if sign == '-' || sign == '+' {
		p++
	}
	first := p
	for ; byteAt(q, p)-'0' <= 9; p++ {
		if d.written < maxExponent {
			d.written = 10*d.written + int(byteAt(q, p)-'0')
		}
	}
	if p == first {
		return decimal{}, ^p
	}
	if sign == '-' {
		d.written = -d.written
	}
	d.exponent += d.written
	return d, p
}

// run appends the digits from byte p on to mantissa, which overflows if they are too many, and
// gives the index after them.
func run(q unsafe.Pointer, p int, mantissa uint64) (uint64, int) {
	for {
		w := digits(q, p)
		n := leading(w)
		if n < 8 {
			return mantissa*tens[n] + value(w<<8<<(56-8*n)), p + int(n)
		}
		mantissa = mantissa*1e8 + value(w)
		p += 8
	}
}

// truncate reads the digits in [start, end), with or without a point, again: 19 of them, from the
// first that is not zero on.
func (d *decimal) truncate(q unsafe.Pointer, start, end int) {
	d.mantissa, d.exponent = 0, 0
	significant, after := 0, 0
	for p := start; p < end; p++ {
		c := byteAt(q, p)
		if c == '.' {
			after = 1
			continue
		}
		if significant == maxDigits {
			d.exponent += 1 - after
			d.cut = d.cut || c != '0'
			continue
		}
		d.exponent -= after
		d.mantissa = 10*d.mantissa + uint64(c-'0')
		if d.mantissa != 0 {
			significant++
		}
	}
}

// float rounds d, which is the text from start to end.
func (d *decimal) float(q unsafe.Pointer, start, end int) float64 {
	var sign uint64
	if d.negative {
		sign = 1 << 63
	}
	if !d.cut && d.mantissa < 1<<53 && -22 <= d.exponent && d.exponent <= 22 {
		v := float64(int64(d.mantissa))
		if d.exponent < 0 {
			v /= exactTens[-d.exponent&31]
		} else {
			v *= exactTens[d.exponent&31]
		}
		return math.Float64frombits(math.Float64bits(v) | sign)
	}
	b := eiselLemire(d.mantissa, d.exponent)
	// The value is between the mantissa and the next one: if both round to the same, so does it.
	if d.cut && b != eiselLemire(d.mantissa+1, d.exponent) {
		return d.undecided(unsafe.Slice((*byte)(unsafe.Add(q, start)), end-start))
	}
	return math.Float64frombits(b | sign)
}

// undecided rounds d by all the digits of its text. The value tells of an infinity, so the error
// need not.
func (d *decimal) undecided(text []byte) float64 {
	const most = 10000 // strconv truncates exponents after five digits, even if as many zeros compensate
	if -most < d.written && d.written < most {
		v, _ := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 64)
		return v
	}
	// mantissa * 10^exponent with the rest of the digits after the point: the exponent is one that
	// float64 has.
	plain := make([]byte, 0, len(text)+24)
	if d.negative {
		plain = append(plain, '-')
	}
	significant := 0
	for _, c := range text {
		switch {
		case c|0x20 == 'e':
			plain = append(plain, 'e')
			plain = strconv.AppendInt(plain, int64(d.exponent), 10)
			v, _ := strconv.ParseFloat(string(plain), 64)
			return v
		case c == '-', c == '.', c == '0' && significant == 0:
			continue
		}
		plain = append(plain, c)
		if significant++; significant == maxDigits {
			plain = append(plain, '.')
		}
	}
	panic("number: an exponent without its letter")
}
