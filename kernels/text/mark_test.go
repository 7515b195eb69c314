package text_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// checkMark compares MarkSpans with bytes set one by one.
func checkMark(r *kerneltest.Rig, name string, n int, starts, ends []uint32) {
	r.Helper()
	marked := make([]bool, n)
	for i := range starts {
		for at := int64(starts[i]); at < min(int64(ends[i]), int64(n)); at++ {
			marked[at] = true
		}
	}
	mask := kerneltest.Poisoned[uint64](r, kernels.Words(n))
	r.OK(ktext.MarkSpans(r.Set, r.Stream, kerneltest.Upload(r, starts), kerneltest.Upload(r, ends), n, mask))
	kerneltest.SameMask(r, name, make([]byte, n), kerneltest.Read(r, mask), kerneltest.Bitmap(n, func(i int) bool {
		return marked[i]
	}))
}

func TestMarkSpans(t *testing.T) {
	r := kerneltest.Open(t)
	const most = math.MaxUint32
	for _, tt := range []struct {
		name         string
		n            int
		starts, ends []uint32
	}{
		{"no spans", 100, nil, nil},
		{"no text", 0, []uint32{0, 0}, []uint32{0, 5}},
		{"one word", 64, []uint32{0}, []uint32{64}},
		{"all of the text", 50000, []uint32{0}, []uint32{50000}},
		{"all of the text and beyond", 50000, []uint32{0}, []uint32{most}},
		{"up to a word's end", 640, []uint32{3}, []uint32{640}},
		{"empty and backwards", 640, []uint32{5, 70, 300, most}, []uint32{5, 60, 0, 0}},
		{"neighbours", 640, []uint32{0, 64, 128}, []uint32{64, 128, 200}},
		{"one in another", 6400, []uint32{100, 1000}, []uint32{5000, 2000}},
		{"outside", 640, []uint32{639, 640, 700}, []uint32{639, 700, 800}},
		{"the same one often", 6400, []uint32{99, 99, 99}, []uint32{3000, 3000, 3000}},
	} {
		checkMark(r, tt.name, tt.n, tt.starts, tt.ends)
	}
	rng := rand.New(rand.NewPCG(1, 9))
	for _, n := range kerneltest.Sizes {
		for _, length := range []uint32{3, 200, 20000} {
			var starts, ends []uint32
			for range 1 + rng.IntN(1+n/int(2*length+1)) {
				start := rng.Uint32N(uint32(n) + 10)
				starts, ends = append(starts, start), append(ends, start+rng.Uint32N(length))
			}
			checkMark(r, "random", n, starts, ends)
		}
	}
}

func TestMarkSomeSpans(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(2, 9))
	const n = 40000
	for _, spans := range []int{0, 1, 63, 64, 65, 300} {
		var starts, ends, someStarts, someEnds []uint32
		among := kerneltest.Bitmap(spans, func(int) bool { return rng.IntN(2) > 0 })
		for i := range spans {
			start := rng.Uint32N(n)
			starts, ends = append(starts, start), append(ends, start+rng.Uint32N(300))
			if among[i/64]>>(i%64)&1 != 0 {
				someStarts, someEnds = append(someStarts, starts[i]), append(someEnds, ends[i])
			}
		}
		some, all := kerneltest.Poisoned[uint64](r, kernels.Words(n)), kerneltest.Poisoned[uint64](r, kernels.Words(n))
		r.OK(ktext.MarkSomeSpans(r.Set, r.Stream, kerneltest.Upload(r, starts), kerneltest.Upload(r, ends),
			kerneltest.Upload(r, among), n, some))
		r.OK(ktext.MarkSpans(r.Set, r.Stream, kerneltest.Upload(r, someStarts), kerneltest.Upload(r, someEnds), n, all))
		kerneltest.SameMask(r, "some spans", make([]byte, n), kerneltest.Read(r, some), kerneltest.Read(r, all))
	}
}

func TestMarkSpansRefused(t *testing.T) {
	r := kerneltest.Open(t)
	two, one := kerneltest.Poisoned[uint32](r, 2), kerneltest.Poisoned[uint32](r, 1)
	mask := kerneltest.Poisoned[uint64](r, 2)
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"fewer ends than starts", ktext.MarkSpans(r.Set, r.Stream, two, one, 100, mask)},
		{"a mask for another text", ktext.MarkSpans(r.Set, r.Stream, two, two, 64, mask)},
		{"two words that say which", ktext.MarkSomeSpans(r.Set, r.Stream, two, two, mask, 100, mask)},
		{"less than no text", ktext.MarkSpans(r.Set, r.Stream, two, two, -64, mask)},
	} {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
