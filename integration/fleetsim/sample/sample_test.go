package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestZipfFollowsItsDistribution compares counts with their expectation by a chi-square test. The seed
// is fixed, so that the test always passes or always fails.
func TestZipfFollowsItsDistribution(t *testing.T) {
	const draws = 1_000_000
	for _, exponent := range []float64{0, 0.5, 0.8, 1, 1.2, 2.5} {
		for _, n := range []int{1, 2, 50, 5000} {
			z, r := NewZipf(n, exponent), rand.New(rand.NewPCG(4, uint64(n)))
			counts := make([]float64, n)
			for range draws {
				counts[z.Draw(r)]++
			}
			total := 0.0
			for k := range n {
				total += math.Pow(float64(k+1), -exponent)
			}
			chi, cells := 0.0, 0.0
			seen, expected := 0.0, 0.0
			for k := range n { // rare numbers are joined
				seen += counts[k]
				expected += draws * math.Pow(float64(k+1), -exponent) / total
				if expected >= 20 || k == n-1 && expected > 0 {
					chi += (seen - expected) * (seen - expected) / expected
					cells++
					seen, expected = 0, 0
				}
			}
			// chi-square has the mean cells-1 and the variance 2(cells-1).
			if free := cells - 1; chi > free+4.5*math.Sqrt(2*free)+1e-3 {
				t.Errorf("%d numbers, exponent %v: chi-square is %.1f with %.0f degrees of freedom", n, exponent, chi, free)
			}
		}
	}
}

func TestLogNormalHasItsMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	values := make([]float64, 100_001)
	for i := range values {
		values[i] = LogNormal(r, 2e6, 1.5)
	}
	slices.Sort(values)
	for _, test := range []struct{ quantile, want float64 }{
		{0.5, 2e6}, {0.8413, 2e6 * math.Exp(1.5)}, {0.1587, 2e6 * math.Exp(-1.5)},
	} {
		if got := values[int(test.quantile*1e5)]; math.Abs(got/test.want-1) > 0.03 {
			t.Errorf("quantile %v is %.0f, want %.0f", test.quantile, got, test.want)
		}
	}
}

func TestHistogramHasQuantilesOfAPercent(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	var h Histogram
	var all []float64
	for range 100_000 {
		v := math.Exp(r.NormFloat64()*2 - 5)
		h.Add(v)
		all = append(all, v)
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.5, 0.99, 0.999, 1} {
		want := all[int(math.Ceil(q*1e5))-1]
		if got := h.Quantile(q); math.Abs(got/want-1) > 0.0101 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if h.Len() != 100_000 || h.Max() != all[len(all)-1] || math.Abs(h.Mean()*1e5-h.Sum()) > 1e-6*h.Sum() {
		t.Errorf("%d times, at most %v, mean %v, sum %v", h.Len(), h.Max(), h.Mean(), h.Sum())
	}
	var empty Histogram
	if empty.Quantile(0.5) != 0 || empty.Mean() != 0 {
		t.Error("an empty histogram has quantiles")
	}
}
