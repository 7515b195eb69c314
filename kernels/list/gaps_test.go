package list_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	klist "github.com/vibeflight/vibeflight/kernels/list"
)

func TestLongestGap(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range []int{0, 1, 2, 31, 32, 33, 255, 256, 257, 5000} {
		for _, at := range []int{0, 1, n / 2, n - 1, -1} { // which is the longest; -1: all are alike
			starts, next, want := make([]int64, n), int64(1<<40), int64(0)
			for i := range starts {
				starts[i] = next
				gap := int64(i % 3)
				if i == at {
					gap = 1 << 33
				}
				next, want = next+gap, max(want, gap)
			}
			longest := kerneltest.Poisoned[int64](r, 1)
			r.OK(klist.LongestGap(r.Set, r.Stream, kerneltest.Upload(r, starts), next, longest))
			if got := kerneltest.Read(r, longest)[0]; got != want {
				t.Errorf("%d spans, span %d the longest: got %d, want %d", n, at, got, want)
			}
		}
	}
	if klist.LongestGap(r.Set, r.Stream, kerneltest.Upload(r, []int64{1}), 2, kerneltest.Poisoned[int64](r, 2)) == nil {
		t.Error("two elements for one: no error")
	}
}
