package number

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"
)

// Padding is how many zero bytes must be readable after the last byte of a buffer. They also end a
// number that ends the text.
const Padding = 64

// Float reads the number that starts at byte p of the buffer at q.
//
//	end >= 0  the index after the number; v is its correctly rounded value, -0 and -0.0 are negative zero
//	end < 0   v is 0: ^end is the index of the first byte that cannot continue a number, which for truncated
//	          text is the
//	          first byte beyond it
//	          v is an infinity: the number is beyond float64, ^end is p. [Skip] tells where such a number ends
//
// A number that ends where the text so far ends may go on in the text to come, an infinity too:
// "e-300" may follow 400 digits. It allocates only for numbers of more than 19 digits that are next
// to the middle of two float64.
func Float(q unsafe.Pointer, p int) (v float64, end int) {
	// Usual numbers have 1 to 8 digits, a point, and digits: up to 19 in all. Without the point the
	// digits are
	//
	//	text    -122.4194155,    p is after the sign, n = 3
	//	head     122.4194        bytes p to p+8, the first n of them are the integer part
	//	shifted  22.41941        bytes p+1 to p+9
	//	first    12241941        the first n of head, the others of shifted: 8 digits, no load depends on n
	//	second   55,             bytes p+9 to p+17
	start := p
	var sign uint64
	if byteAt(q, p) == '-' {
		sign = 1 << 63
		p++
	}
	head := digits(q, p)
	n := uint64(8) // which lowest gives too; apart, it costs the others no conditional move
	if others := nondigits(head); others != 0 {
		n = lowest(others)
	} else if byteAt(q, p+8) != '.' || byteAt(q, p+9)-'0' > 9 {
		return floatRare(q, start)
	}
	if n == 0 || head&0xFF == 0 && n > 1 {
		return floatRare(q, start)
	}
	if next := byteAt(q, p+int(n)); next != '.' {
		if next|0x20 == 'e' {
			return floatRare(q, start)
		}
		v = float64(int64(value(head << ((64 - 8*n) & 63))))
		return math.Float64frombits(math.Float64bits(v) | sign), p + int(n)
	}
	integer := ^uint64(0) >> ((64 - 8*n) & 63)
	first := head&integer | digits(q, p+1)&^integer
	var mantissa, count uint64
	if others := nondigits(first); others != 0 {
		count = lowest(others)
		if count == n {
			return floatRare(q, start)
		}
		mantissa = value(first << ((64 - 8*count) & 63))
	} else {
		second := digits(q, p+9)
		if others := nondigits(second); others != 0 {
			k := lowest(others)
			count = 8 + k
			mantissa = value(first)*tens[k&7] + value(second<<8<<((56-8*k)&63))
		} else {
			third := digits(q, p+17)
			k := leading(third)
			if k > 3 {
				return floatRare(q, start)
			}
			count = 16 + k
			mantissa = (value(first)*1e8+value(second))*tens[k&7] + value(third<<8<<((56-8*k)&63))
		}
	}
	end = p + int(count) + 1
	if byteAt(q, end)|0x20 == 'e' {
		return floatRare(q, start)
	}
	if mantissa < 1<<53 {
		v = float64(int64(mantissa)) / exactTens[(count-n)&31]
		return math.Float64frombits(math.Float64bits(v) | sign), end
	}
	return math.Float64frombits(eiselLemire(mantissa, -int(count-n)) | sign), end
}

// floatRare is Float for every text.
//
//go:noinline
func floatRare(q unsafe.Pointer, p int) (v float64, end int) {
	d, end := scan(q, p)
	if end < 0 {
		return 0, end
	}
	v = d.float(q, p, end)
	if math.IsInf(v, 0) {
		return v, ^p
	}
	return v, end
}

// Skip finds the end of the number that starts at byte p of the buffer at q without its value. As
// with [Float], a negative end is the complement of the index of the offending byte; a number
// beyond float64 is not an error.
func Skip(q unsafe.Pointer, p int) (end int) {
	_, end = scan(q, p)
	return end
}

func byteAt(q unsafe.Pointer, p int) byte { return *(*byte)(unsafe.Add(q, p)) }

// digits loads 8 bytes, the first one lowest. A digit becomes its value, 0 to 9, any other byte
// more.
func digits(q unsafe.Pointer, p int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(q, p))[:]) ^ 0x3030303030303030
}

// nondigits sets the high bit of each byte of w that is not a digit, up to the first of these at
// least.
//
//	w    0A 1E 05 02   of "25.:": ':' is 3A, '.' is 2E
//	sum  80 94 7B 78   + 76: at least 80 where the byte is 0A to 89
//	| w  80 80 00 00   the high bits, and of w those from 80 on. A byte from 8A on carries, but only above itself
func nondigits(w uint64) uint64 { return (w + 0x7676767676767676 | w) & 0x8080808080808080 }

// lowest returns the index of the lowest byte whose high bit is set, or 8.
func lowest(highBits uint64) uint64 { return uint64(bits.TrailingZeros64(highBits)) >> 3 }

// leading counts the digits at the low end of w, 0 to 8.
func leading(w uint64) uint64 { return lowest(nondigits(w)) }

// value returns the number that 8 digits spell, the first one in the lowest byte: pairs, then
// fours, then all, two at a time in one multiplication. After Lemire 2021, section 7.
func value(w uint64) uint64 {
	const mask = 0x000000FF000000FF
	w = w*10 + w>>8
	return (w&mask*0x000F424000000064 + w>>16&mask*0x0000271000000001) >> 32
}

// tens are powers of ten up to 10^7.
var tens = [8]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// exactTens are the powers of ten that a float64 holds exactly, up to 10^22.
var exactTens = [32]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}
