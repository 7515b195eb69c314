package kernels_test

import (
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// checkMark compares MarkSpans with bytes set one by one.
func checkMark(r *rig, name string, n int, starts, ends []int64) {
	r.Helper()
	marked := make([]bool, n)
	for i := range starts {
		for at := max(starts[i], 0); at < min(ends[i], int64(n)); at++ {
			marked[at] = true
		}
	}
	mask := poisoned[uint64](r, kernels.Words(n))
	r.ok(r.k.MarkSpans(r.s, upload(r, starts), upload(r, ends), n, mask))
	sameMask(r, name, make([]byte, n), read(r, mask), bitmap(n, func(i int) bool { return marked[i] }))
}

func TestMarkSpans(t *testing.T) {
	r := open(t)
	const least, most = -1 << 63, 1<<63 - 1
	for _, tt := range []struct {
		name         string
		n            int
		starts, ends []int64
	}{
		{"no spans", 100, nil, nil},
		{"no text", 0, []int64{0, -5}, []int64{0, 5}},
		{"one word", 64, []int64{0}, []int64{64}},
		{"all of the text", 50000, []int64{0}, []int64{50000}},
		{"all of the text and beyond", 50000, []int64{least}, []int64{most}},
		{"up to a word's end", 640, []int64{3}, []int64{640}},
		{"empty and backwards", 640, []int64{5, 70, 300, most}, []int64{5, 60, 0, least}},
		{"neighbours", 640, []int64{0, 64, 128}, []int64{64, 128, 200}},
		{"one in another", 6400, []int64{100, 1000}, []int64{5000, 2000}},
		{"outside", 640, []int64{-100, 640, 700}, []int64{-1, 700, 800}},
		{"the same one often", 6400, []int64{99, 99, 99}, []int64{3000, 3000, 3000}},
	} {
		checkMark(r, tt.name, tt.n, tt.starts, tt.ends)
	}
	rng := rand.New(rand.NewPCG(1, 9))
	for _, n := range sizes {
		for _, length := range []int64{3, 200, 20000} {
			var starts, ends []int64
			for range 1 + rng.IntN(1+n/int(2*length+1)) {
				start := rng.Int64N(int64(n)+20) - 10
				starts, ends = append(starts, start), append(ends, start+rng.Int64N(length))
			}
			checkMark(r, "random", n, starts, ends)
		}
	}
}

func TestMarkSomeSpans(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(2, 9))
	const n = 40000
	for _, spans := range []int{0, 1, 63, 64, 65, 300} {
		var starts, ends, someStarts, someEnds []int64
		among := bitmap(spans, func(int) bool { return rng.IntN(2) > 0 })
		for i := range spans {
			start := rng.Int64N(n)
			starts, ends = append(starts, start), append(ends, start+rng.Int64N(300))
			if among[i/64]>>(i%64)&1 != 0 {
				someStarts, someEnds = append(someStarts, starts[i]), append(someEnds, ends[i])
			}
		}
		some, all := poisoned[uint64](r, kernels.Words(n)), poisoned[uint64](r, kernels.Words(n))
		r.ok(r.k.MarkSomeSpans(r.s, upload(r, starts), upload(r, ends), upload(r, among), n, some))
		r.ok(r.k.MarkSpans(r.s, upload(r, someStarts), upload(r, someEnds), n, all))
		sameMask(r, "some spans", make([]byte, n), read(r, some), read(r, all))
	}
}

func TestMarkSpansRefused(t *testing.T) {
	r := open(t)
	two, one := poisoned[int64](r, 2), poisoned[int64](r, 1)
	mask := poisoned[uint64](r, 2)
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"fewer ends than starts", r.k.MarkSpans(r.s, two, one, 100, mask)},
		{"a mask for another text", r.k.MarkSpans(r.s, two, two, 64, mask)},
		{"two words that say which", r.k.MarkSomeSpans(r.s, two, two, mask, 100, mask)},
		{"less than no text", r.k.MarkSpans(r.s, two, two, -64, mask)},
	} {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
