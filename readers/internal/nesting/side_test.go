package nesting

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// slowTurn returns the sign of the area in fractions.
func slowTurn(a, b, p spot) int {
	of := func(v, w float64) *big.Rat {
		return new(big.Rat).Sub(new(big.Rat).SetFloat64(v), new(big.Rat).SetFloat64(w))
	}
	left := new(big.Rat).Mul(of(a.x, p.x), of(b.y, p.y))
	return left.Cmp(new(big.Rat).Mul(of(a.y, p.y), of(b.x, p.x)))
}

func TestTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		number func() float64
	}{
		{"small integers", func() float64 { return float64(rng.IntN(5)) }},
		{"near 0.5", func() float64 { return 0.5 + float64(rng.IntN(9))*0x1p-53 }},
		{"projected", func() float64 { return 5e6 + float64(rng.IntN(3)) + float64(rng.IntN(3))*0x1p-30 }},
		{"denormal", func() float64 { return float64(rng.IntN(5)) * 0x1p-1074 }},
		{"small products", func() float64 { return float64(rng.IntN(5)-2) * 0x1p-530 }},
		{"largest", func() float64 { return float64(rng.IntN(3)-1) * math.MaxFloat64 }},
		{"any size", func() float64 { return math.Ldexp(float64(rng.IntN(9)-4), rng.IntN(2000)-1000) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			exact := 0
			for range 2000 {
				a, b, p := spot{c.number(), c.number()}, spot{c.number(), c.number()}, spot{c.number(), c.number()}
				got, slow := turn(a, b, p)
				if want := slowTurn(a, b, p); got != want {
					t.Fatalf("turn(%v, %v, %v): got %d, want %d", a, b, p, got, want)
				}
				if slow {
					exact++
				}
			}
			if exact == 0 {
				t.Error("every sign was certain: nothing hard was asked")
			}
		})
	}
}

func TestTurnIsFiniteOnly(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for i := range 6 {
			o := [6]float64{0, 0, 1, 0, 0, 1}
			o[i] = v
			if sign, _ := turn(spot{o[0], o[1]}, spot{o[2], o[3]}, spot{o[4], o[5]}); sign != 0 {
				t.Errorf("%v: got %d, want 0", o, sign)
			}
		}
	}
}
