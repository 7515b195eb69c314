package project

import "math"

// Operations on the bits of doubles, for the generated steps.

func bitwise(a, b float64, f func(a, b uint64) uint64) float64 {
	return math.Float64frombits(f(math.Float64bits(a), math.Float64bits(b)))
}

func and(a, b float64) float64 {
	return bitwise(a, b, func(a, b uint64) uint64 { return a & b })
}

func or(a, b float64) float64 {
	return bitwise(a, b, func(a, b uint64) uint64 { return a | b })
}

func xor(a, b float64) float64 {
	return bitwise(a, b, func(a, b uint64) uint64 { return a ^ b })
}

func addInt(a, b float64) float64 {
	return bitwise(a, b, func(a, b uint64) uint64 { return a + b })
}

func subInt(a, b float64) float64 {
	return bitwise(a, b, func(a, b uint64) uint64 { return a - b })
}

func shl(a float64, n int) float64 { return math.Float64frombits(math.Float64bits(a) << n) }

func shr(a float64, n int) float64 { return math.Float64frombits(math.Float64bits(a) >> n) }

func isNaN(a, b float64) bool { return math.IsNaN(a) || math.IsNaN(b) }

func choose(condition bool, a, b float64) float64 {
	if condition {
		return a
	}
	return b
}
