package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRankSpans(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(4, 9))
	for _, n := range sizes {
		mask := bitmap(n, func(int) bool { return rng.IntN(3) > 0 })
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
		bits, from, to := upload(r, mask), upload(r, starts), upload(r, ends)
		ranks, err := r.k.Rank(r.s, bits)
		r.ok(err)
		r.ok(r.k.RankSpans(r.s, ranks, from, to))
		if got := read(r, ranks.Total())[0]; got != before[n] {
			t.Errorf("%d bits: %d are set, want %d", n, got, before[n])
		}
		if !slices.Equal(read(r, from), wantStarts) || !slices.Equal(read(r, to), wantEnds) {
			t.Errorf("%d bits: other ranks", n)
		}
		r.ok(ranks.Free(r.s))
	}
}
