package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// TestStringsOfTwoTexts has strings of one text in some rows, and of another one in the others.
func TestStringsOfTwoTexts(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(4, 11))
	var texts [2][]byte
	var starts, ends [2][]int64
	var want []byte
	wantOffsets := []int64{0}
	for range 900 {
		which := rng.IntN(2)
		s := random(rng.Uint64(), rng.IntN(1+rng.IntN(700)), "abc")
		for i := range texts {
			starts[i] = append(starts[i], int64(len(texts[i])))
			if i == which {
				texts[i] = append(texts[i], s...)
			}
			ends[i] = append(ends[i], int64(len(texts[i])))
		}
		want = append(want, s...)
		wantOffsets = append(wantOffsets, int64(len(want)))
	}
	var columns [2]*kernels.Strings
	var offsets [2]gpu.Buffer[int64]
	for i := range texts {
		offsets[i] = poisoned[int64](r, len(wantOffsets))
		var err error
		columns[i], err = r.k.MeasureStrings(r.s, upload(r, texts[i]), upload(r, starts[i]), upload(r, ends[i]),
			kernels.StringMode(i), offsets[i])
		r.ok(err)
		r.Cleanup(func() { r.ok(columns[i].Free(r.s)) })
	}
	r.ok(r.k.AddOffsets(r.s, offsets[0], offsets[1]))
	if !slices.Equal(read(r, offsets[0]), wantOffsets) {
		t.Fatal("other offsets")
	}
	out := poisoned[byte](r, len(want))
	for i := range columns {
		r.ok(r.k.GatherStrings(r.s, columns[i].At(offsets[0]), out, gpu.Buffer[int32]{}))
	}
	if !slices.Equal(read(r, out), want) {
		t.Error("other strings")
	}
}
