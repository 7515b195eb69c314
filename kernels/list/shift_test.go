package list_test

import (
	"math"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	klist "github.com/vibeflight/vibeflight/kernels/list"
)

func TestShiftOffsets(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range []int{0, 1, 31, 255, 256, 257, 3000} {
		for _, by := range []int32{0, 1, math.MaxInt32 - 3000} {
			from, want := make([]int32, n), make([]int32, n)
			for i := range from {
				from[i], want[i] = int32(i), int32(i)+by
			}
			to := kerneltest.Poisoned[int32](r, n)
			r.OK(klist.ShiftOffsets(r.Set, r.Stream, kerneltest.Upload(r, from), by, to))
			if got := kerneltest.Read(r, to); !slices.Equal(got, want) {
				t.Fatalf("%d offsets by %d: %v", n, by, got)
			}
		}
		if klist.ShiftOffsets(r.Set, r.Stream, kerneltest.Poisoned[int32](r, n), 0,
			kerneltest.Poisoned[int32](r, n+1)) == nil {
			t.Errorf("%d into %d: no error", n, n+1)
		}
	}
}
