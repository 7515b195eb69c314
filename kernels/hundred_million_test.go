package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// A hundred million random decimals on a card, a fifth of a million on the emulation: each has the
// bits that strconv gives it.
func TestHundredMillionDecimals(t *testing.T) {
	r := open(t)
	total, slice := 100_000_000, 4_000_000
	if testing.Short() || r.k.Device().Info().Emulated {
		total, slice = 200_000, 100_000
	}
	undecided := 0
	for from := 0; from < total; from += slice {
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) {
			x, want := randomDecimals(uint64(from), min(slice, total-from))
			undecided += comparedFloats(&rig{TB: t, k: r.k, s: r.s}, x, want)
		})
	}
	t.Logf("%d decimals on %s: none differs from strconv, %d were undecided", total,
		r.k.Device().Info().Name, undecided)
}

// randomDecimals gives count random decimals between commas, and their values.
func randomDecimals(seed uint64, count int) (*tokens, []float64) {
	parts := make([]tokens, runtime.GOMAXPROCS(0))
	want := make([]float64, count)
	var all sync.WaitGroup
	for p := range parts {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(p)))
			var token []byte
			for i := p * count / len(parts); i < (p+1)*count/len(parts); i++ {
				token = appendDecimal(token[:0], rng)
				parts[p].add(string(token), ",")
				want[i], _ = strconv.ParseFloat(string(token), 64) // the one error is that of an infinity
			}
		})
	}
	all.Wait()
	var x tokens
	for _, part := range parts {
		base := int64(len(x.text))
		x.text = append(x.text, part.text...)
		for i := range part.starts {
			x.starts, x.ends = append(x.starts, base+part.starts[i]), append(x.ends, base+part.ends[i])
		}
	}
	return &x, want
}

// comparedFloats parses the tokens and compares bits; it says how many were undecided.
func comparedFloats(r *rig, x *tokens, want []float64) (undecided int) {
	r.Helper()
	before, after := parseFloats(r, x, kernels.GrammarJSON)
	for i, v := range after.out {
		if math.Float64bits(v) != math.Float64bits(want[i]) || bit(after.valid, i) == math.IsInf(want[i], 0) {
			r.Fatalf("token %d, %q: got %v, valid %v, want %v", i, x.token(i), v, bit(after.valid, i), want[i])
		}
	}
	return len(setBits(before.undecided, 0))
}
