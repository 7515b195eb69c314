package number

import (
	"math"
	"math/big"
	"math/bits"
	"unsafe"
)

// Kind is the lexical class of a number: what its text says, whatever its value. 1.0 and 1e3 are
// Real.
type Kind uint8

// Kinds of numbers. All but Real are integers: without fraction and exponent.
const (
	Int32  Kind = iota // -2^31 to 2^31-1
	Int64              // -2^63 to 2^63-1, beyond Int32
	Uint64             // 2^63 to 2^64-1
	Huge               // below -2^63 or beyond 2^64-1
	Real               // with a fraction, an exponent, or both
)

// Num is a number with its class.
type Num struct {
	Kind     Kind
	Negative bool    // a minus is written, before a 0 too
	Int      uint64  // magnitude of an Int32, Int64 or Uint64
	Float    float64 // the correctly rounded value, of every kind: that of -0 is negative zero
}

// Number reads the number that starts at byte p of the buffer at q, with the same end and errors as
// [Float]: after an error only n.Float means something.
func Number(q unsafe.Pointer, p int) (n Num, end int) {
	start := p
	if byteAt(q, p) == '-' {
		n.Negative = true
		p++
	}
	w := digits(q, p)
	k := leading(w)
	end = p + int(k)
	if byteAt(q, end) == '.' {
		n.Kind = Real
		// Up to 7 digits without the point, found as Float finds them: a quotient of two integers
		// that a float64 holds is rounded once.
		integer := ^uint64(0) >> ((64 - 8*k) & 63)
		first := w&integer | digits(q, p+1)&^integer
		count := leading(first)
		after := p + 1 + int(count)
		if k-1 < 7 && count-k-1 < 7-k && byteAt(q, after)|0x20 != 'e' && (w&0xFF != 0 || k == 1) {
			n.Float = signed(float64(int64(value(first<<((64-8*count)&63))))/exactTens[(count-k)&31], n.Negative)
			return n, after
		}
		n.Float, end = Float(q, start)
		return n, end
	}
	if k == 8 {
		rest := digits(q, end)
		more := leading(rest)
		if more == 8 {
			return numberRare(q, start)
		}
		n.Int = value(w)*tens[more&7] + value(rest<<8<<((56-8*more)&63))
		end += int(more)
		n.Kind, n.Int = classify(n.Int, n.Negative)
		if byteAt(q, end) == '.' {
			n.Kind, n.Int = Real, 0
			n.Float, end = Float(q, start)
			return n, end
		}
	} else {
		n.Int = value(w << 8 << ((56 - 8*k) & 63))
	}
	if k == 0 || byteAt(q, end)|0x20 == 'e' || w&0xFF == 0 && k > 1 {
		return numberRare(q, start)
	}
	n.Float = signed(float64(int64(n.Int)), n.Negative)
	return n, end
}

// numberRare is Number for every text.
//
//go:noinline
func numberRare(q unsafe.Pointer, p int) (n Num, end int) {
	d, end := scan(q, p)
	if end < 0 {
		return Num{}, end
	}
	n = Num{Kind: Real, Negative: d.negative, Float: d.float(q, p, end)}
	if math.IsInf(n.Float, 0) {
		return n, ^p
	}
	if d.integer {
		n.Kind, n.Int = d.class(q, end)
	}
	return n, end
}

// class returns the kind and magnitude of an integer whose text ends at end.
func (d *decimal) class(q unsafe.Pointer, end int) (Kind, uint64) {
	u := d.mantissa
	if d.exponent == 1 { // the 20th digit is the last one of the text
		high, low := bits.Mul64(u, 10)
		low, carry := bits.Add64(low, uint64(byteAt(q, end-1)-'0'), 0)
		if high+carry != 0 {
			return Huge, 0
		}
		u = low
	}
	if d.exponent > 1 {
		return Huge, 0
	}
	return classify(u, d.negative)
}

// classify returns the kind of an integer of this magnitude, with it. Huge has none.
func classify(u uint64, negative bool) (Kind, uint64) {
	limit := uint64(math.MaxInt64) // of int64; its upper half is the one of int32
	if negative {
		limit++
	}
	switch {
	case u <= limit>>32:
		return Int32, u
	case u <= limit:
		return Int64, u
	case negative:
		return Huge, 0
	}
	return Uint64, u
}

// ExactUint tells whether a float64 holds u.
func ExactUint(u uint64) bool {
	return bits.Len64(u)-bits.TrailingZeros64(u) <= 53
}

// Exact tells whether a float64 holds the integer that the decimal digits spell, of which there
// must be one or more. A minus in front changes nothing.
func Exact(integer []byte) bool {
	const mostDigits = 309 // of the largest float64
	if integer[0] == '-' {
		integer = integer[1:]
	}
	if len(integer) > mostDigits {
		return false
	}
	v, ok := new(big.Int).SetString(string(integer), 10)
	return ok && v.BitLen() <= 1024 && v.BitLen()-int(v.TrailingZeroBits()) <= 53
}

func signed(v float64, negative bool) float64 {
	if negative {
		return -v
	}
	return v
}
