package number_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// A hundred million random decimals on a device, a fifth of a million on the emulation: each has
// the bits that strconv gives it.
func TestHundredMillionDecimals(t *testing.T) {
	r := kerneltest.Open(t)
	total, slice := 100_000_000, 4_000_000
	if testing.Short() || r.Set.Device().Info().Emulated {
		total, slice = 200_000, 100_000
	}
	undecided := 0
	for from := 0; from < total; from += slice {
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) {
			x, want := randomDecimals(uint64(from), min(slice, total-from))
			undecided += comparedFloats(&kerneltest.Rig{TB: t, Set: r.Set, Stream: r.Stream}, x, want)
		})
	}
	t.Logf("%d decimals on %s: none differs from strconv, %d were undecided", total,
		r.Set.Device().Info().Name, undecided)
}

// randomDecimals gives count random decimals between commas, and their values.
func randomDecimals(seed uint64, count int) (*kerneltest.Tokens, []float64) {
	parts := make([]kerneltest.Tokens, runtime.GOMAXPROCS(0))
	want := make([]float64, count)
	var all sync.WaitGroup
	for p := range parts {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(p)))
			var token []byte
			for i := p * count / len(parts); i < (p+1)*count/len(parts); i++ {
				token = kerneltest.AppendDecimal(token[:0], rng)
				parts[p].Add(string(token), ",")
				want[i], _ = strconv.ParseFloat(string(token), 64) // the one error is that of an infinity
			}
		})
	}
	all.Wait()
	var x kerneltest.Tokens
	for _, part := range parts {
		base := int64(len(x.Text))
		x.Text = append(x.Text, part.Text...)
		for i := range part.Starts {
			x.Starts, x.Ends = append(x.Starts, base+part.Starts[i]), append(x.Ends, base+part.Ends[i])
		}
	}
	return &x, want
}

// comparedFloats parses the tokens and compares bits; it says how many were undecided.
func comparedFloats(r *kerneltest.Rig, x *kerneltest.Tokens, want []float64) (undecided int) {
	r.Helper()
	before, after := kerneltest.ParseFloats(r, x, knumber.GrammarJSON)
	for i, v := range after.Out {
		if math.Float64bits(v) != math.Float64bits(want[i]) || kerneltest.Bit(after.Valid,
			i) == math.IsInf(want[i], 0) {
			r.Fatalf("token %d, %q: got %v, valid %v, want %v", i, x.Token(i), v,
				kerneltest.Bit(after.Valid, i), want[i])
		}
	}
	return len(kerneltest.SetBits(before.Undecided, 0))
}
