package geom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// ringFacts is RingFacts, a ring at a time.
func ringFacts(x, y []float64, rings []int64) (f kgeom.RingFact) {
	for i := range len(rings) - 1 {
		xs, ys := x[rings[i]:rings[i+1]], y[rings[i]:rings[i+1]]
		if len(xs) < 4 {
			f.Few++
		}
		if len(xs) == 1 {
			f.Single++
		}
		if n := len(xs); n > 0 && (xs[0] != xs[n-1] || ys[0] != ys[n-1]) {
			f.Unclosed++
		}
	}
	return f
}

func TestRingFacts(t *testing.T) {
	r := kerneltest.Open(t)
	nan, zero := math.NaN(), math.Copysign(0, -1)
	tests := []struct {
		name  string
		x, y  []float64
		rings []int64
		want  kgeom.RingFact
	}{
		{"none", nil, nil, []int64{0}, kgeom.RingFact{}},
		{"empty", nil, nil, []int64{0, 0}, kgeom.RingFact{Few: 1}},
		{"closed", []float64{1, 2, 3, 1}, []float64{1, 2, 2, 1}, []int64{0, 4}, kgeom.RingFact{}},
		{"open by x", []float64{1, 2, 3, 4}, []float64{1, 2, 2, 1}, []int64{0, 4}, kgeom.RingFact{Unclosed: 1}},
		{"open by y", []float64{1, 2, 3, 1}, []float64{1, 2, 2, 2}, []int64{0, 4}, kgeom.RingFact{Unclosed: 1}},
		{"short", []float64{1, 2, 1}, []float64{1, 2, 1}, []int64{0, 3}, kgeom.RingFact{Few: 1}},
		{"one position", []float64{1}, []float64{1}, []int64{0, 1}, kgeom.RingFact{Few: 1, Single: 1}},
		{"two zeros", []float64{0, 2, 3, zero}, []float64{zero, 2, 2, 0}, []int64{0, 4}, kgeom.RingFact{}},
		{"NaN", []float64{nan, 2, 3, nan}, []float64{1, 2, 2, 1}, []int64{0, 4}, kgeom.RingFact{Unclosed: 1}},
	}
	for _, tt := range tests {
		facts := kerneltest.Poisoned[kgeom.RingFact](r, 1)
		r.OK(kgeom.RingFacts(r.Set, r.Stream, kerneltest.Upload(r, tt.x), kerneltest.Upload(r, tt.y),
			kerneltest.Upload(r, tt.rings), facts))
		if got := kerneltest.Read(r, facts)[0]; got != tt.want || got != ringFacts(tt.x, tt.y, tt.rings) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	for _, m := range []int{1, 31, 255, 256, 257, 5000} {
		rng := rand.New(rand.NewPCG(uint64(m), 5))
		rings := []int64{0}
		for range m {
			rings = append(rings, rings[len(rings)-1]+int64(rng.IntN(8)))
		}
		x, y := make([]float64, rings[m]), make([]float64, rings[m])
		for i := range x {
			x[i], y[i] = float64(rng.IntN(2)), float64(rng.IntN(2))
		}
		facts := kerneltest.Poisoned[kgeom.RingFact](r, 1)
		r.OK(kgeom.RingFacts(r.Set, r.Stream, kerneltest.Upload(r, x), kerneltest.Upload(r, y),
			kerneltest.Upload(r, rings), facts))
		if got, want := kerneltest.Read(r, facts)[0], ringFacts(x, y, rings); got != want {
			t.Errorf("%d rings: %+v, want %+v", m, got, want)
		}
	}
	x, facts := kerneltest.Upload(r, make([]float64, 4)), kerneltest.Poisoned[kgeom.RingFact](r, 1)
	rings := kerneltest.Upload(r, []int64{0, 4})
	// nothing outside of the buffers is touched
	r.OK(kgeom.RingFacts(r.Set, r.Stream, x, x, kerneltest.Upload(r, []int64{-5, 2, 9, 1, math.MaxInt64}), facts))
	for name, err := range map[string]error{
		"lengths":   kgeom.RingFacts(r.Set, r.Stream, x, x.Slice(0, 3), rings, facts),
		"no offset": kgeom.RingFacts(r.Set, r.Stream, x, x, rings.Slice(0, 0), facts),
		"no facts":  kgeom.RingFacts(r.Set, r.Stream, x, x, rings, facts.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
