package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

func TestTally(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 20000} {
		for _, kinds := range []int{1, 3, 256} {
			values := make([]kernels.TypeKind, n)
			for i := range values {
				values[i] = kernels.TypeKind(255 - rng.IntN(kinds))
			}
			among := bitmap(n, func(int) bool { return rng.IntN(3) > 0 })
			for _, mask := range [][]uint64{nil, among} {
				want := make([]int64, kernels.TallyValues)
				for i, v := range values {
					if mask == nil || mask[i/64]>>(i%64)&1 != 0 {
						want[v]++
					}
				}
				counts := poisoned[int64](r, kernels.TallyValues)
				r.ok(kernels.Tally(r.k, r.s, upload(r, values), upload(r, mask), counts))
				sameItems(t, fmt.Sprintf("%d values of %d kinds", n, kinds), read(r, counts), want)
			}
		}
	}
}

func TestTallyRefuses(t *testing.T) {
	r := open(t)
	values := upload(r, make([]byte, 65))
	if kernels.Tally(r.k, r.s, values, poisoned[uint64](r, 1), poisoned[int64](r, kernels.TallyValues)) == nil {
		t.Error("a word of the mask too few: no error")
	}
	if kernels.Tally(r.k, r.s, values, kernels.Mask{}, poisoned[int64](r, 255)) == nil {
		t.Error("a count too few: no error")
	}
}
