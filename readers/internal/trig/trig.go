// Package trig has trigonometric functions with the same bits on every processor.
//
// They are those of Go's package math, after the Cephes library of S. L. Moshier. Compilers for some
// processors, such as arm64, fuse products with sums, which rounds once instead of twice. Each
// product here is converted to float64, which forbids that (Go specification, "Floating-point
// operators"). On amd64 the results are those of package math.
package trig

import "math"

// Pi/4 in three parts, so that multiples of the first two are exact.
const (
	quarter1 = 7.85398125648498535156e-1
	quarter2 = 3.77489470793079817668e-8
	quarter3 = 2.69515142907905952645e-15
)

// maxAngle is the magnitude up to which an angle is reduced by the parts of Pi/4. Larger ones lose
// their fraction of a turn anyway, and are reduced by the float64 of a turn.
const maxAngle = 1 << 29

// Sincos returns the sine and the cosine of an angle in radians. Both are NaN for an infinity or NaN.
func Sincos(x float64) (sin, cos float64) {
	switch {
	case x == 0:
		return x, 1 // keeps -0
	case math.IsNaN(x) || math.IsInf(x, 0):
		return math.NaN(), math.NaN()
	}
	negative := x < 0
	x = math.Abs(x)
	if x >= maxAngle {
		x = math.Mod(x, 2*math.Pi)
	}
	octant := uint64(x * (4 / math.Pi))
	octant += octant & 1 // so that what is left is at most Pi/4 from 0
	of := float64(octant)
	z := x - float64(of*quarter1) - float64(of*quarter2) - float64(of*quarter3)
	sin, cos = series(z)
	switch octant & 7 {
	case 2:
		sin, cos = cos, -sin
	case 4:
		sin, cos = -sin, -cos
	case 6:
		sin, cos = -cos, sin
	}
	if negative {
		sin = -sin
	}
	return sin, cos
}

// series returns sine and cosine of an angle up to Pi/4.
func series(z float64) (sin, cos float64) {
	zz := float64(z * z)
	s := polynomial(zz, 1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6,
		-1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1)
	c := polynomial(zz, -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7,
		2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2)
	return z + float64(float64(z*zz)*s), 1 - float64(0.5*zz) + float64(float64(zz*zz)*c)
}

// polynomial returns a polynomial by Horner's rule, whose highest coefficient is the first one.
func polynomial(x float64, coefficients ...float64) float64 {
	sum := coefficients[0]
	for _, c := range coefficients[1:] {
		sum = float64(sum*x) + c
	}
	return sum
}

// Atan2 returns the angle of the position x, y from the x axis, in radians.
func Atan2(y, x float64) float64 {
	switch {
	case math.IsNaN(y) || math.IsNaN(x), y == 0, x == 0, math.IsInf(x, 0), math.IsInf(y, 0):
		return math.Atan2(y, x) // a constant
	}
	angle := atan(y / x)
	if x < 0 {
		if angle <= 0 {
			return angle + math.Pi
		}
		return angle - math.Pi
	}
	return angle
}

// Asin returns the angle whose sine is x, in radians; NaN for |x| > 1.
func Asin(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x == 0:
		return x // keeps -0
	case !(a <= 1):
		return math.NaN()
	}
	root := math.Sqrt(1 - float64(a*a))
	if a > 0.7 {
		return math.Copysign(math.Pi/2-atanPositive(root/a), x)
	}
	return math.Copysign(atanPositive(a/root), x)
}

// Hypot returns the length of a vector, without overflow in between.
func Hypot(p, q float64) float64 {
	p, q = math.Abs(p), math.Abs(q)
	switch {
	case math.IsInf(p, 0) || math.IsInf(q, 0):
		return math.Inf(1)
	case math.IsNaN(p) || math.IsNaN(q):
		return math.NaN()
	}
	p, q = max(p, q), min(p, q)
	if p == 0 {
		return 0
	}
	q /= p
	return p * math.Sqrt(1+float64(q*q))
}

func atan(x float64) float64 {
	switch {
	case x == 0:
		return x
	case x < 0:
		return -atanPositive(-x)
	}
	return atanPositive(x)
}

// atanPositive returns the arctangent of a positive number.
func atanPositive(x float64) float64 {
	const (
		tan3Pi8 = 2.41421356237309504880
		rest    = 6.123233995736765886130e-17 // of Pi/2 beyond its float64
	)
	switch {
	case x <= 0.66:
		return atanSmall(x)
	case x > tan3Pi8:
		return math.Pi/2 - atanSmall(1/x) + rest
	}
	return math.Pi/4 + atanSmall((x-1)/(x+1)) + 0.5*rest
}

// atanSmall is a rational approximation for [0, 0.66].
func atanSmall(x float64) float64 {
	z := float64(x * x)
	above := polynomial(z, -8.750608600031904122785e-01, -1.615753718733365076637e+01, -7.500855792314704667340e+01,
		-1.228866684490136173410e+02, -6.485021904942025371773e+01)
	below := polynomial(z, 1, 2.485846490142306297962e+01, 1.650270098316988542046e+02, 4.328810604912902668951e+02,
		4.853903996359136964868e+02, 1.945506571482613964425e+02)
	return float64(x*(float64(z*above)/below)) + x
}
