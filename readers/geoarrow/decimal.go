package geoarrow

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// decimalBytes is the size of a decimal128: two words, the lower one first, in two's complement.
const decimalBytes = 16

// DecimalView returns the bytes of a buffer of decimal128 as values, without a copy. The buffer
// must be aligned to 8 bytes, as those of AsBytes are.
func DecimalView(b []byte) []decimal128.Num {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*decimal128.Num)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/decimalBytes)
}

// DecimalBytes returns values as bytes, without a copy.
func DecimalBytes(v []decimal128.Num) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*decimalBytes)
}

// Int128Float returns the float64 nearest to an integer, ties to even, and whether it is exact.
func Int128Float(n decimal128.Num) (v float64, exact bool) {
	sign := 1.0
	if n.Sign() < 0 {
		n, sign = n.Negate(), -1
	}
	high, low := uint64(n.HighBits()), n.LowBits()
	// The top 64 bits; the last one is set if any lower bit is. A float64 has 53 bits, so that bit
	// only decides ties.
	//
	//	high  0000001xxxxxxxxx   low  xxxxxxyyyyyyyyyy
	//	top         1xxxxxxxxxxxxxxx, and whether any y is set
	shift := 64 - bits.LeadingZeros64(high)
	top, rest := low, uint64(0)
	if shift > 0 {
		top, rest = high<<(64-shift)|low>>shift, low<<(64-shift)
	}
	if rest != 0 {
		top |= 1
	}
	exact = rest == 0 && bits.Len64(top)-bits.TrailingZeros64(top) <= 53
	return sign * math.Ldexp(float64(top), shift), exact
}

// widenDecimals converts integers of up to 38 digits.
func widenDecimals(in []decimal128.Num, to arrow.DataType) (out []byte, rounded int64, ok bool) {
	if to.ID() != arrow.FLOAT64 {
		return nil, 0, false
	}
	floats := make([]float64, len(in))
	for i, n := range in {
		v, exact := Int128Float(n)
		if !exact {
			rounded++
		}
		floats[i] = v
	}
	return AsBytes(floats), rounded, true
}

// toDecimals converts integers, which all fit.
func toDecimals[S int32 | int64 | uint64](in []S) []byte {
	out := make([]decimal128.Num, len(in))
	for i, v := range in {
		high := int64(0)
		if v < 0 {
			high = -1
		}
		out[i] = decimal128.New(high, uint64(v))
	}
	return DecimalBytes(out)
}

// decimalRange is valueRange for decimals.
func (c *Column) decimalRange() (least, greatest decimal128.Num, ok bool) {
	for i, v := range DecimalView(c.Values) {
		switch {
		case !c.valid(i):
		case !ok:
			least, greatest, ok = v, v, true
		case v.Less(least):
			least = v
		case v.Greater(greatest):
			greatest = v
		}
	}
	return least, greatest, ok
}
