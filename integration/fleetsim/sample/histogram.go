package sample

import "math"

const (
	lowest  = 1e-6 // seconds; shorter times count as this one
	growth  = 0.01 // width of a bucket in relation to its lower end
	buckets = 2600 // up to 1.7e5 seconds
)

var perBucket = 1 / math.Log1p(growth)

// Histogram counts times in buckets of one percent, so that quantiles are exact to half a percent.
// The zero value is empty.
type Histogram struct {
	n       int
	sum     float64
	max     float64
	buckets [buckets]uint32
}

// Add counts a time in seconds.
func (h *Histogram) Add(seconds float64) {
	h.n++
	h.sum += seconds
	h.max = max(h.max, seconds)
	i := 0
	if seconds > lowest {
		i = min(buckets-1, int(math.Log(seconds/lowest)*perBucket))
	}
	h.buckets[i]++
}

// Len returns the number of times.
func (h *Histogram) Len() int { return h.n }

// Sum returns the sum of all times.
func (h *Histogram) Sum() float64 { return h.sum }

// Mean returns the mean, or 0 without times.
func (h *Histogram) Mean() float64 { return h.sum / float64(max(1, h.n)) }

// Max returns the longest time.
func (h *Histogram) Max() float64 { return h.max }

// Quantile returns the time that the share q of all times does not exceed, or 0 without times.
func (h *Histogram) Quantile(q float64) float64 {
	rank, seen := int(math.Ceil(q*float64(h.n))), 0
	if h.n == 0 {
		return 0
	}
	for i, n := range h.buckets {
		seen += int(n)
		if seen >= max(1, rank) {
			return min(h.max, lowest*math.Exp((float64(i)+0.5)/perBucket))
		}
	}
	return h.max
}
