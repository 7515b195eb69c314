package trig

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// numbers calls f with numbers of all magnitudes, and with special ones.
func numbers(f func(a, b float64)) {
	special := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, 0.66, 0.7, 2, math.Pi, math.Pi / 4, math.Inf(1), math.Inf(-1), math.NaN(),
		math.MaxFloat64, math.SmallestNonzeroFloat64, maxAngle - 1,
	}
	for _, a := range special {
		for _, b := range special {
			f(a, b)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		f(r.NormFloat64(), r.NormFloat64())
		f(r.NormFloat64()*1e6, math.Exp(r.NormFloat64()*30))
		f(r.Float64()*2-1, r.NormFloat64()*math.Exp(-r.Float64()*300))
	}
}

// TestAsMath compares with package math, which is not fused on amd64.
func TestAsMath(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("package math has other bits on this processor")
	}
	same := func(what string, a, b, got, want float64) {
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s of %v, %v: got %v, want %v", what, a, b, got, want)
		}
	}
	numbers(func(a, b float64) {
		if t.Failed() {
			return
		}
		if math.Abs(a) < maxAngle {
			sin, cos := Sincos(a)
			wantSin, wantCos := math.Sincos(a)
			same("sine", a, b, sin, wantSin)
			same("cosine", a, b, cos, wantCos)
		}
		same("arctangent", a, b, Atan2(a, b), math.Atan2(a, b))
		same("arcsine", a, b, Asin(a), math.Asin(a))
		same("length", a, b, Hypot(a, b), math.Hypot(a, b))
	})
}

// TestSameBits has the results of one processor for all others.
func TestSameBits(t *testing.T) {
	sum := uint64(14695981039346656037) // FNV-1a over the bits
	add := func(v float64) {
		if math.IsNaN(v) {
			v = math.NaN()
		}
		sum = (sum ^ math.Float64bits(v)) * 1099511628211
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		a, b := float64(r.Float64()*20)-10, float64(r.Float64()*20)-10
		sin, cos := Sincos(a)
		add(sin)
		add(cos)
		add(Atan2(a, b))
		add(Asin(a / 10))
		add(Hypot(a, b))
	}
	for _, a := range []float64{math.Pi, 3 * math.Pi / 4, -100 * math.Pi, 1e300} {
		sin, cos := Sincos(a)
		add(sin)
		add(cos)
	}
	if want := uint64(0xf962064b5fd95f6a); sum != want {
		t.Errorf("the sum of the results is %#x, want %#x", sum, want)
	}
}
