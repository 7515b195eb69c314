package list_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	klist "github.com/vibeflight/vibeflight/kernels/list"
)

func TestJoinArrays(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(9, 1))
	for _, n := range []int{0, 1, 2, 31, 255, 256, 257, 2000} {
		var text, want []byte
		var starts, ends []int64
		wantOffsets := []int64{0}
		for i := range n {
			text = append(text, strings.Repeat("x", rng.IntN(9))...)
			inner := kerneltest.Random(uint64(n*10000+i), []int{0, 0, 1, 2, 7, 8, 9, 30, 300}[rng.IntN(9)], "abc, ")
			if rng.IntN(5) == 0 {
				inner = []byte(strings.Repeat(" \n\t\r", 64)[:rng.IntN(257)])
			}
			if i == 100 {
				inner = kerneltest.Random(5, 40000, "abc")
			}
			starts = append(starts, int64(len(text)))
			text = append(append(append(text, '['), inner...), ']')
			ends = append(ends, int64(len(text)))
			if inner = bytes.TrimLeft(inner, " \n\t\r"); len(inner) > 0 {
				want = append(append(want, inner...), ',')
			}
			wantOffsets = append(wantOffsets, int64(len(want)))
		}
		b, firsts, offsets := kerneltest.Upload(r, text), kerneltest.Poisoned[int64](r, n),
			kerneltest.Poisoned[int64](r, n+1)
		r.OK(klist.MeasureArrays(r.Set, r.Stream, b, kerneltest.Upload(r, starts), kerneltest.Upload(r, ends),
			firsts, offsets))
		if got := kerneltest.Read(r, offsets); !slices.Equal(got, wantOffsets) {
			t.Fatalf("%d arrays: offsets %d, want %d", n, got, wantOffsets)
		}
		for _, short := range []int{0, 1, 7} {
			out := kerneltest.Poisoned[byte](r, max(0, len(want)-short))
			r.OK(klist.JoinArrays(r.Set, r.Stream, b, firsts, offsets, out))
			if got := kerneltest.Read(r, out); !bytes.Equal(got, want[:len(got)]) {
				t.Fatalf("%d arrays: %q, want %q", n, got, want)
			}
		}
	}
	// Of arrays that are not in the text nothing is touched, and more than 256 blanks count as
	// something.
	text := kerneltest.Upload(r, []byte("["+strings.Repeat(" ", 300)+"]"))
	offsets := kerneltest.Poisoned[int64](r, 8)
	r.OK(klist.MeasureArrays(r.Set, r.Stream, text, kerneltest.Upload(r, []int64{-1, 0, 5, math.MaxInt64, 302, 300, 0}),
		kerneltest.Upload(r, []int64{2, 400, 5, math.MinInt64, 302, 302, 302}),
		kerneltest.Poisoned[int64](r, 7), offsets))
	if got := kerneltest.Read(r, offsets); !slices.Equal(got, []int64{0, 0, 0, 0, 0, 0, 0, 45}) {
		t.Errorf("spans outside of the text: %d", got)
	}
	short := offsets.Slice(0, 3)
	for name, err := range map[string]error{
		"offsets of arrays": klist.MeasureArrays(r.Set, r.Stream, text, short, short, short, short),
		"first elements":    klist.MeasureArrays(r.Set, r.Stream, text, short, short, offsets, offsets.Slice(0, 4)),
		"offsets to join":   klist.JoinArrays(r.Set, r.Stream, text, short, short, kerneltest.Poisoned[byte](r, 3)),
		"ranks":             klist.LowerBounds(r.Set, r.Stream, offsets, offsets, short),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestLowerBounds(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(9, 2))
	for _, n := range []int{0, 1, 2, 255, 3000} {
		sorted, values, want := make([]int64, n), make([]int64, 300), make([]int64, 300)
		for i := range sorted {
			sorted[i] = rng.Int64N(int64(n))
		}
		slices.Sort(sorted)
		for i := range values {
			values[i] = rng.Int64N(int64(n)+4) - 2
			want[i] = int64(sort.Search(n, func(k int) bool { return sorted[k] >= values[i] }))
		}
		out := kerneltest.Poisoned[int64](r, len(values))
		r.OK(klist.LowerBounds(r.Set, r.Stream, kerneltest.Upload(r, sorted), kerneltest.Upload(r, values), out))
		if got := kerneltest.Read(r, out); !slices.Equal(got, want) {
			t.Fatalf("%d elements: %d, want %d, of %d in %d", n, got, want, values, sorted)
		}
	}
}
