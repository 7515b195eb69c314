package nesting

import (
	"math"
	"math/big"
)

// spot is a position.
type spot struct{ x, y float64 }

// turn returns the exact sign of the area of the triangle a, b, p: positive if p is to the left of
// the line from a to b, 0 if on it. A position that is not finite is on every line.
//
// Nearly always the sign of the rounded area is certain, by the bound of Shewchuk, "Adaptive
// Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates" (1997), section 4.3.
// Otherwise the area is computed exactly, and exact is true.
func turn(a, b, p spot) (sign int, exact bool) {
	// The conversions prevent fused multiply-add, so that the sign is the same on every processor.
	left, right := float64((a.x-p.x)*(b.y-p.y)), float64((a.y-p.y)*(b.x-p.x))
	area, size := left-right, math.Abs(left)+math.Abs(right)
	if size > minSize && size <= math.MaxFloat64 && math.Abs(area) > turnBound*size {
		if area > 0 {
			return 1, false
		}
		return -1, false
	}
	for _, v := range [...]float64{a.x, a.y, b.x, b.y, p.x, p.y} {
		if v-v != 0 {
			return 0, false
		}
	}
	return exactProduct(a.x, p.x, b.y, p.y).Cmp(exactProduct(a.y, p.y, b.x, p.x)), true
}

const (
	turnBound = (3 + 16*0x1p-53) * 0x1p-53
	minSize   = 0x1p-960 // below it, products lose bits
)

// exactProduct returns (a-b)·(c-d). A difference of doubles has at most 2,099 bits.
func exactProduct(a, b, c, d float64) *big.Float {
	const bits = 2112
	difference := func(a, b float64) *big.Float {
		return new(big.Float).SetPrec(bits).Sub(big.NewFloat(a), big.NewFloat(b))
	}
	return new(big.Float).SetPrec(2*bits).Mul(difference(a, b), difference(c, d))
}
