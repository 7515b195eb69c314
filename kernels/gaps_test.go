package kernels_test

import "testing"

func TestLongestGap(t *testing.T) {
	r := open(t)
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
			longest := poisoned[int64](r, 1)
			r.ok(r.k.LongestGap(r.s, upload(r, starts), next, longest))
			if got := read(r, longest)[0]; got != want {
				t.Errorf("%d spans, span %d the longest: got %d, want %d", n, at, got, want)
			}
		}
	}
	if r.k.LongestGap(r.s, upload(r, []int64{1}), 2, poisoned[int64](r, 2)) == nil {
		t.Error("two elements for one: no error")
	}
}
