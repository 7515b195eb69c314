package list_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	klist "github.com/vibeflight/vibeflight/kernels/list"
)

// gathers compares Gather with the plain way; values are n elements.
func gathers[T kernels.Element](r *kerneltest.Rig, rng *rand.Rand, n, m int) {
	r.Helper()
	from, index, want := make([]T, n), make([]int64, m), make([]T, m)
	for i := range from {
		from[i] = T(rng.IntN(255) + 1)
	}
	for i := range index {
		index[i] = rng.Int64N(int64(n)+4) - 2
		if i%7 == 0 {
			index[i] = []int64{-1, math.MinInt64, math.MaxInt64, int64(n), 0, int64(n) - 1}[rng.IntN(6)]
		}
		if index[i] >= 0 && index[i] < int64(n) {
			want[i] = from[index[i]]
		}
	}
	out := kerneltest.Poisoned[T](r, m)
	r.OK(klist.Gather(r.Set, r.Stream, kerneltest.Upload(r, from), kerneltest.Upload(r, index), out))
	if got := kerneltest.Read(r, out); !slices.Equal(got, want) {
		r.Fatalf("%d of %d elements %T: %v, want %v", m, n, want, got, want)
	}
	if m > 0 && klist.Gather(r.Set, r.Stream, kerneltest.Upload(r, from), kerneltest.Upload(r, index),
		out.Slice(0, m-1)) == nil {
		r.Error("indexes and elements: no error")
	}
}

func TestGather(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 5000} {
		gathers[int64](r, rng, n, n)
		gathers[int32](r, rng, n, rng.IntN(2*n+1))
		gathers[uint8](r, rng, n, rng.IntN(2*n+1))
		gathers[float64](r, rng, n, 300)
	}
}

func TestNarrowInt32(t *testing.T) {
	r := kerneltest.Open(t)
	tests := []struct {
		name string
		in   int64
		want int32
	}{
		{"zero", 0, 0},
		{"negative", -7, -7},
		{"the largest", math.MaxInt32, math.MaxInt32},
		{"beyond", math.MaxInt32 + 1, math.MaxInt32},
		{"far beyond", math.MaxInt64, math.MaxInt32},
		{"the smallest", math.MinInt32, math.MinInt32},
		{"below", math.MinInt32 - 1, math.MinInt32},
		{"far below", math.MinInt64, math.MinInt32},
	}
	for _, n := range []int{0, 1, 8, 255, 256, 257, 3000} {
		in := make([]int64, n)
		for i := range in {
			in[i] = tests[i%len(tests)].in
		}
		out := kerneltest.Poisoned[int32](r, n)
		r.OK(klist.NarrowInt32(r.Set, r.Stream, kerneltest.Upload(r, in), out))
		for i, got := range kerneltest.Read(r, out) {
			if tt := tests[i%len(tests)]; got != tt.want {
				t.Fatalf("%s: %d, want %d", tt.name, got, tt.want)
			}
		}
		if klist.NarrowInt32(r.Set, r.Stream, kerneltest.Upload(r, in), kerneltest.Poisoned[int32](r, n+1)) == nil {
			t.Errorf("%d into %d: no error", n, n+1)
		}
	}
}
