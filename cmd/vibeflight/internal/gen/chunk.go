package gen

import (
	"math/bits"
	"strconv"
)

// chunkFeatures is how many features a chunk has, the last one excepted. Changing it changes all
// files.
const chunkFeatures = 4096

// degree in the unit of all coordinates.
const degree = 10_000_000

// chunk is a part of a file while it is written.
type chunk struct {
	text       []byte
	state      uint64     // of the random numbers
	ringAtHand []position // the last outline
}

// chunk writes a chunk of a file over b and returns it.
func (s shape) chunk(b []byte, spec Spec, number int64) []byte {
	seed := chunk{state: spec.Seed*0xD1342543DE82EF95 + uint64(number)}
	c := chunk{text: b[:0], state: seed.random()}
	for i := number * chunkFeatures; i < min((number+1)*chunkFeatures, spec.Features); i++ {
		if i > 0 {
			c.string(s.between)
		}
		s.feature(&c, i)
	}
	return c.text
}

// random returns 64 random bits: SplitMix64 (Steele, Lea and Flood 2014).
func (c *chunk) random() uint64 {
	c.state += 0x9E3779B97F4A7C15
	z := c.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a random number from 0 to n-1.
func (c *chunk) below(n int64) int64 {
	high, _ := bits.Mul64(c.random(), uint64(n))
	return int64(high)
}

// between returns a random number from low to high-1.
func (c *chunk) between(low, high int64) int64 { return low + c.below(high-low) }

func (c *chunk) string(s string)  { c.text = append(c.text, s...) }
func (c *chunk) byte(b byte)      { c.text = append(c.text, b) }
func (c *chunk) integer(v int64)  { c.text = strconv.AppendInt(c.text, v, 10) }
func (c *chunk) oneOf(s []string) { c.string(s[c.below(int64(len(s)))]) }

// fixed writes v, in units of 1e-7, truncated to a number of decimals.
func (c *chunk) fixed(v int64, decimals int) {
	b := c.whole(v)
	f := fraction(v)
	c.text = append(append(b, '.'), f[:decimals]...)
}

// shortest writes v, in units of 1e-7, as programs print a float: without zeros at the end, but one
// decimal at least.
func (c *chunk) shortest(v int64) {
	b := c.whole(v)
	f := fraction(v)
	n := len(f) - 1
	for n > 1 && f[n-1] == '0' {
		n--
	}
	c.text = append(append(b, '.'), f[:n]...)
}

// whole appends the sign and integer part of v, in units of 1e-7.
func (c *chunk) whole(v int64) []byte {
	b := c.text
	if v < 0 {
		b = append(b, '-')
		v = -v
	}
	v /= degree
	if v >= 100 {
		return strconv.AppendInt(b, v, 10)
	}
	if v >= 10 {
		b = append(b, '0'+byte(v/10))
	}
	return append(b, '0'+byte(v%10))
}

// fraction returns the 7 decimals of v, in units of 1e-7, and a zero.
func fraction(v int64) (digits [8]byte) {
	const pairs = "" +
		"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849" +
		"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"
	f := 10 * uint32(max(v, -v)%degree)
	for i, pair := range [4]uint32{f / 1000000, f / 10000 % 100, f / 100 % 100, f % 100} {
		digits[2*i], digits[2*i+1] = pairs[2*pair], pairs[2*pair+1]
	}
	return digits
}
