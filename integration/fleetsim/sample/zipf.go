// Package sample draws from the distributions of the simulation and summarizes what it measures.
package sample

import (
	"math"
	"math/rand/v2"
)

// Zipf draws numbers from 0 to n-1, of which k has a probability in proportion to (k+1)^-exponent.
// Any exponent from 0, which is uniform, is possible. A draw takes a constant time by the alias
// method (Vose 1991).
type Zipf struct {
	own   []uint32 // probability of the number itself, in 2^-32
	alias []int32  // what is drawn otherwise
}

// NewZipf prepares draws. n is positive.
func NewZipf(n int, exponent float64) *Zipf {
	p, total := make([]float64, n), 0.0
	for k := range p {
		p[k] = math.Pow(float64(k+1), -exponent)
		total += p[k]
	}
	z := &Zipf{make([]uint32, n), make([]int32, n)}
	var small, large []int32
	for k := range p {
		p[k] *= float64(n) / total
		if p[k] < 1 {
			small = append(small, int32(k))
		} else {
			large = append(large, int32(k))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		z.own[s], z.alias[s] = uint32(min(p[s]*(1<<32), math.MaxUint32)), l
		p[l] -= 1 - p[s]
		if p[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, k := range append(small, large...) { // all but rounding errors
		z.own[k], z.alias[k] = math.MaxUint32, k
	}
	return z
}

// Draw returns a number.
func (z *Zipf) Draw(r *rand.Rand) int {
	k := r.IntN(len(z.own))
	if r.Uint32() < z.own[k] {
		return k
	}
	return int(z.alias[k])
}

// LogNormal draws from a log-normal distribution by its median and the deviation of the logarithm.
func LogNormal(r *rand.Rand, median, sigma float64) float64 {
	return median * math.Exp(sigma*r.NormFloat64())
}
