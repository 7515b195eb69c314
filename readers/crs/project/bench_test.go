package project

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/readers/crs"
)

// positionsIn returns random longitudes and latitudes in UTM zone 32.
func positionsIn(n int, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 6+6*rng.Float64(), 84*rng.Float64()
	}
	return x, y
}

func epsg(code int) crs.ID { return crs.ID{Authority: "EPSG", Code: fmt.Sprint(code)} }

// BenchmarkApply measures positions by one core: with the processor's vectors, and without.
func BenchmarkApply(b *testing.B) {
	const n = 1 << 16
	x, y := positionsIn(n, 1)
	toX, toY := make([]float64, n), make([]float64, n)
	for _, to := range []int{3857, 32632} {
		forward, _ := Between(epsg(4326), epsg(to))
		forward.Apply(x, y, toX, toY)
		inverse, _ := Between(epsg(to), epsg(4326))
		for name, t := range map[string]*Transformation{"to": forward, "from": inverse} {
			fx, fy := x, y
			if t == inverse {
				fx, fy = toX, toY
			}
			outX, outY := make([]float64, n), make([]float64, n)
			for target, step := range stepsOfTargets() {
				b.Run(fmt.Sprintf("%s-%d/%s", name, to, target), func(b *testing.B) {
					b.SetBytes(16 * n)
					for range b.N {
						step(&t.steps[0], fx, fy, outX, outY)
					}
					b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpositions/s")
				})
			}
		}
	}
}
