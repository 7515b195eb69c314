package extent

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAdd compares the bits of boxes with those of a loop over positions: with NaN, infinities and
// both zeros, of every length around those of a step, at every place of a vector.
func TestAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	odd := []float64{
		math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, math.MaxFloat64, 5e-324,
		math.Float64frombits(0x7FF0000000000001), math.Float64frombits(0xFFF8000000000001),
	}
	memory := make([]float64, 2*200)
	for round := range 12_000 {
		for i := range memory {
			memory[i] = r.NormFloat64() * 90
			if round%3 > 0 && r.IntN(4) == 0 {
				memory[i] = odd[r.IntN(len(odd))]
			}
			if round%5 == 0 {
				memory[i] = math.Abs(memory[i])
			}
		}
		n, at := r.IntN(100), r.IntN(8)
		x, y := memory[at:at+n], memory[200+at:200+at+n]
		b := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		if r.IntN(3) == 0 {
			b = Box{-r.Float64(), odd[3+r.IntN(2)], r.Float64(), odd[3+r.IntN(2)]}
		}
		got, want := Add(b, x, y), addPlain(b, x, y)
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("%v and\n%v\n%v\ngot  %v\nwant %v", b, x, y, got, want)
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	x, y := make([]float64, 65536), make([]float64, 65536)
	for i := range x {
		x[i], y[i] = 90*rand.Float64(), 90*rand.Float64()
	}
	for _, how := range []struct {
		name string
		add  func(Box, []float64, []float64) Box
	}{{"assembly", Add}, {"plain", addPlain}} {
		b.Run(how.name, func(b *testing.B) {
			b.SetBytes(int64(16 * len(x)))
			box := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
			for b.Loop() {
				box = how.add(box, x, y)
			}
		})
	}
}
