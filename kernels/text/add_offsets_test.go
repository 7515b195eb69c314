package text_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// TestStringsOfTwoTexts has strings of one text in some rows, and of another one in the others.
func TestStringsOfTwoTexts(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(4, 11))
	var texts [2][]byte
	var starts, ends [2][]int64
	var want []byte
	wantOffsets := []int64{0}
	for range 900 {
		which := rng.IntN(2)
		s := kerneltest.Random(rng.Uint64(), rng.IntN(1+rng.IntN(700)), "abc")
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
	var columns [2]*ktext.Strings
	var offsets [2]gpu.Buffer[int64]
	for i := range texts {
		offsets[i] = kerneltest.Poisoned[int64](r, len(wantOffsets))
		var err error
		columns[i], err = ktext.MeasureStrings(r.Set, r.Stream, kerneltest.Upload(r, texts[i]),
			kerneltest.Upload(r, starts[i]), kerneltest.Upload(r, ends[i]),
			ktext.StringMode(i), offsets[i])
		r.OK(err)
		r.Cleanup(func() { r.OK(columns[i].Free(r.Stream)) })
	}
	r.OK(ktext.AddOffsets(r.Set, r.Stream, offsets[0], offsets[1]))
	if !slices.Equal(kerneltest.Read(r, offsets[0]), wantOffsets) {
		t.Fatal("other offsets")
	}
	out := kerneltest.Poisoned[byte](r, len(want))
	for i := range columns {
		r.OK(ktext.GatherStrings(r.Set, r.Stream, columns[i].At(offsets[0]), out, gpu.Buffer[int32]{}))
	}
	if !slices.Equal(kerneltest.Read(r, out), want) {
		t.Error("other strings")
	}
}
