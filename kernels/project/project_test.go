package project_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kproject "github.com/vibeflight/vibeflight/kernels/project"
	"github.com/vibeflight/vibeflight/readers/crs"
	"github.com/vibeflight/vibeflight/readers/crs/project"
)

// pairs are systems with every step, alone and after another one.
var pairs = [][2]string{
	{"4326", "3857"},
	{"3857", "4326"},
	{"4326", "32632"},
	{"32632", "4326"},
	{"4258", "25833"},
	{"26901", "4269"},
	{"3857", "32718"},
	{"32601", "3857"},
	{"32760", "32701"},
}

func between(t testing.TB, pair [2]string) *project.Transformation {
	p, ok := project.Between(crs.ID{Authority: "EPSG", Code: pair[0]}, crs.ID{Authority: "EPSG", Code: pair[1]})
	if !ok {
		t.Fatalf("no transformation from %s to %s", pair[0], pair[1])
	}
	return p
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// positions are random ones of a system, and some that are not on the earth, or not numbers.
func positions(system string, n int, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	dx, dy := 400.0, 91.0
	if system != "4326" && system != "4258" {
		dx, dy = 2.1e7, 1.2e7
	}
	special := []float64{
		0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 90, -90, 180, -180, 180.0000000001, 45,
		math.MaxFloat64, math.SmallestNonzeroFloat64, 5e5, 1e7, 20037508.342789244, 1e300, 600, 1e-300,
	}
	pick := func(d float64) float64 {
		switch rng.IntN(50) {
		case 0:
			return special[rng.IntN(len(special))]
		case 1:
			return math.Float64frombits(rng.Uint64())
		case 2, 3, 4:
			return d * rng.NormFloat64() * math.Pow(2, -float64(rng.IntN(60)))
		}
		return d * (2*rng.Float64() - 1)
	}
	x, y = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = pick(dx), pick(dy)
	}
	return x, y
}

// Both engines give the same bits. VIBEFLIGHT_POSITIONS is how many positions of each pair are tried.
func TestPositionsAreThoseOfTheCPU(t *testing.T) {
	r := kerneltest.Open(t)
	n := 20_000
	if text := os.Getenv("VIBEFLIGHT_POSITIONS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for i, pair := range pairs {
		p := between(t, pair)
		x, y := positions(pair[0], n, uint64(i))
		bx, by := kerneltest.Upload(r, x), kerneltest.Upload(r, y)
		r.OK(kproject.Positions(r.Set, r.Stream, bx, by, p))
		gx, gy := kerneltest.Read(r, bx), kerneltest.Read(r, by)
		wx, wy := make([]float64, n), make([]float64, n)
		p.Apply(x, y, wx, wy)
		for k := range x {
			if !same(gx[k], wx[k]) || !same(gy[k], wy[k]) {
				t.Fatalf("%s: position %v %v: got %v %v, want %v %v", pair, x[k], y[k], gx[k], gy[k], wx[k], wy[k])
			}
		}
		t.Logf("%s: %d positions with the same bits", pair, n)
	}
}

func TestPositionsOfOtherLengths(t *testing.T) {
	r := kerneltest.Open(t)
	p := between(t, pairs[2])
	for _, n := range []int{0, 1, 255, 256, 257} {
		x, y := positions("4326", n, 1)
		bx, by := kerneltest.Upload(r, x), kerneltest.Upload(r, y)
		r.OK(kproject.Positions(r.Set, r.Stream, bx, by, p))
		wx, wy := make([]float64, n), make([]float64, n)
		p.Apply(x, y, wx, wy)
		for k, v := range kerneltest.Read(r, by) {
			if !same(v, wy[k]) {
				t.Fatalf("%d positions: y of %d is %v, want %v", n, k, v, wy[k])
			}
		}
	}
	x, y := kerneltest.Upload(r, make([]float64, 2)), kerneltest.Upload(r, make([]float64, 3))
	if err := kproject.Positions(r.Set, r.Stream, x, y, p); err == nil {
		t.Error("no error for 2 x and 3 y")
	}
}

// BenchmarkPositions measures positions in device memory.
func BenchmarkPositions(b *testing.B) {
	r := kerneltest.Open(b)
	const n = 1 << 22
	for _, pair := range pairs[:4] {
		b.Run(fmt.Sprintf("%s-%s", pair[0], pair[1]), func(b *testing.B) {
			p := between(b, pair)
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = 500000+float64(i%6)*1e4, float64(i%8)*1e6
				if pair[0] == "4326" {
					x[i], y[i] = float64(i%6), float64(i%80)
				}
			}
			bx, by := kerneltest.Upload(r, x), kerneltest.Upload(r, y)
			b.ResetTimer()
			b.SetBytes(32 * n)
			for range b.N {
				r.OK(kproject.Positions(r.Set, r.Stream, bx, by, p))
				r.OK(r.Stream.Synchronize())
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpositions/s")
		})
	}
}
