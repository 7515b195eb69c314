package number

import (
	"math/bits"
)

// Powers of ten beyond these make every mantissa below 2^64 zero or an infinity.
const (
	minPower = -342
	maxPower = 308
)

const (
	fractionBits = 52
	infinity     = 0x7FF << fractionBits
)

// eiselLemire returns the bit pattern of the float64 next to mantissa * 10^power, ties to even, for
// every mantissa and power.
//
// The product of the mantissa, shifted left to 64 bits, with the first 64 or 128 bits of the power
// of five is exact enough in all cases: Lemire 2021, section 5, with the proof of Mushtak and
// Lemire 2022 that no case is left over.
func eiselLemire(mantissa uint64, power int) uint64 {
	if mantissa == 0 || power < minPower {
		return 0
	}
	if power > maxPower {
		return infinity
	}
	zeros := bits.LeadingZeros64(mantissa)
	mantissa <<= uint(zeros) & 63
	five := &fives[power-minPower]
	high, low := bits.Mul64(mantissa, five[0])
	// bits of high below those of the result, one for rounding, and one if the top bit is 0
	const spare = 64 - fractionBits - 3
	if high&(1<<spare-1) == 1<<spare-1 {
		more, _ := bits.Mul64(mantissa, five[1])
		var carry uint64
		low, carry = bits.Add64(low, more, 0)
		high += carry
	}
	top := int(high >> 63)
	m := high >> (uint(top+spare) & 63)
	// 217706/65536 is log2(10), close enough for these powers: Lemire 2021, section 8.
	exponent := 217706*power>>16 + 63 + top - zeros + 1023
	if exponent <= 0 {
		if exponent <= -63 {
			return 0
		}
		// Subnormal. No tie is possible: it would need a small power, which gives no value as small
		// as this. A mantissa that rounds up to 2^52 is the smallest normal number, as its bits say
		// by themselves.
		m >>= uint(1-exponent) & 63
		return (m + m&1) >> 1
	}
	// A tie is possible only for these powers, where 5^power or its inverse divides a mantissa:
	// Lemire 2021, section 9.
	if low <= 1 && -4 <= power && power <= 23 && m&3 == 1 && m<<(uint(top+spare)&63) == high {
		m--
	}
	m = (m + m&1) >> 1
	// m has 53 bits, or is 2^53 after rounding: its top bit adds one to the exponent, and so does
	// the carry.
	b := uint64(exponent-1)<<fractionBits + m
	if b >= infinity {
		return infinity
	}
	return b
}
