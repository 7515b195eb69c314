package list_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	klist "github.com/vibeflight/vibeflight/kernels/list"
)

func TestTally(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 20000} {
		for _, kinds := range []int{1, 3, 256} {
			values := make([]kgeom.TypeKind, n)
			for i := range values {
				values[i] = kgeom.TypeKind(255 - rng.IntN(kinds))
			}
			among := kerneltest.Bitmap(n, func(int) bool { return rng.IntN(3) > 0 })
			for _, mask := range [][]uint64{nil, among} {
				want := make([]int64, klist.TallyValues)
				for i, v := range values {
					if mask == nil || mask[i/64]>>(i%64)&1 != 0 {
						want[v]++
					}
				}
				counts := kerneltest.Poisoned[int64](r, klist.TallyValues)
				r.OK(klist.Tally(r.Set, r.Stream, kerneltest.Upload(r, values), kerneltest.Upload(r, mask), counts))
				kerneltest.SameItems(t, fmt.Sprintf("%d values of %d kinds", n, kinds),
					kerneltest.Read(r, counts), want)
			}
		}
	}
}

func TestTallyRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	values := kerneltest.Upload(r, make([]byte, 65))
	if klist.Tally(r.Set, r.Stream, values, kerneltest.Poisoned[uint64](r, 1),
		kerneltest.Poisoned[int64](r, klist.TallyValues)) == nil {
		t.Error("a word of the mask too few: no error")
	}
	if klist.Tally(r.Set, r.Stream, values, kernels.Mask{}, kerneltest.Poisoned[int64](r, 255)) == nil {
		t.Error("a count too few: no error")
	}
}
