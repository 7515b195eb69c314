package list_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	klist "github.com/vibeflight/vibeflight/kernels/list"
)

func TestRankSpans(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(4, 9))
	for _, n := range kerneltest.Sizes {
		mask := kerneltest.Bitmap(n, func(int) bool { return rng.IntN(3) > 0 })
		before := make([]int64, n+1)
		for i := range n {
			before[i+1] = before[i] + int64(mask[i/64]>>(i%64)&1)
		}
		var starts, ends, wantStarts, wantEnds []int64
		for range 1 + n/50 {
			a, b := rng.IntN(n+1), rng.IntN(n+1)
			starts, ends = append(starts, int64(a)), append(ends, int64(b))
			wantStarts, wantEnds = append(wantStarts, before[a]), append(wantEnds, before[b])
		}
		bits, from, to := kerneltest.Upload(r, mask), kerneltest.Upload(r, starts), kerneltest.Upload(r, ends)
		ranks, err := klist.Rank(r.Set, r.Stream, bits)
		r.OK(err)
		r.OK(klist.RankSpans(r.Set, r.Stream, ranks, from, to))
		if got := kerneltest.Read(r, ranks.Total())[0]; got != before[n] {
			t.Errorf("%d bits: %d are set, want %d", n, got, before[n])
		}
		if !slices.Equal(kerneltest.Read(r, from), wantStarts) || !slices.Equal(kerneltest.Read(r, to), wantEnds) {
			t.Errorf("%d bits: other ranks", n)
		}
		r.OK(ranks.Free(r.Stream))
	}
}
