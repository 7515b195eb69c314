package kernels_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

func TestJoinArrays(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(9, 1))
	for _, n := range []int{0, 1, 2, 31, 255, 256, 257, 2000} {
		var text, want []byte
		var starts, ends []int64
		wantOffsets := []int64{0}
		for i := range n {
			text = append(text, strings.Repeat("x", rng.IntN(9))...)
			inner := random(uint64(n*10000+i), []int{0, 0, 1, 2, 7, 8, 9, 30, 300}[rng.IntN(9)], "abc, ")
			if rng.IntN(5) == 0 {
				inner = []byte(strings.Repeat(" \n\t\r", 64)[:rng.IntN(257)])
			}
			if i == 100 {
				inner = random(5, 40000, "abc")
			}
			starts = append(starts, int64(len(text)))
			text = append(append(append(text, '['), inner...), ']')
			ends = append(ends, int64(len(text)))
			if inner = bytes.TrimLeft(inner, " \n\t\r"); len(inner) > 0 {
				want = append(append(want, inner...), ',')
			}
			wantOffsets = append(wantOffsets, int64(len(want)))
		}
		b, firsts, offsets := upload(r, text), poisoned[int64](r, n), poisoned[int64](r, n+1)
		r.ok(r.k.MeasureArrays(r.s, b, upload(r, starts), upload(r, ends), firsts, offsets))
		if got := read(r, offsets); !slices.Equal(got, wantOffsets) {
			t.Fatalf("%d arrays: offsets %d, want %d", n, got, wantOffsets)
		}
		for _, short := range []int{0, 1, 7} {
			out := poisoned[byte](r, max(0, len(want)-short))
			r.ok(r.k.JoinArrays(r.s, b, firsts, offsets, out))
			if got := read(r, out); !bytes.Equal(got, want[:len(got)]) {
				t.Fatalf("%d arrays: %q, want %q", n, got, want)
			}
		}
	}
	// Of arrays that are not in the text nothing is touched, and more than 256 blanks count as
	// something.
	text := upload(r, []byte("["+strings.Repeat(" ", 300)+"]"))
	offsets := poisoned[int64](r, 8)
	r.ok(r.k.MeasureArrays(r.s, text, upload(r, []int64{-1, 0, 5, math.MaxInt64, 302, 300, 0}),
		upload(r, []int64{2, 400, 5, math.MinInt64, 302, 302, 302}), poisoned[int64](r, 7), offsets))
	if got := read(r, offsets); !slices.Equal(got, []int64{0, 0, 0, 0, 0, 0, 0, 45}) {
		t.Errorf("spans outside of the text: %d", got)
	}
	short := offsets.Slice(0, 3)
	for name, err := range map[string]error{
		"offsets of arrays": r.k.MeasureArrays(r.s, text, short, short, short, short),
		"first elements":    r.k.MeasureArrays(r.s, text, short, short, offsets, offsets.Slice(0, 4)),
		"offsets to join":   r.k.JoinArrays(r.s, text, short, short, poisoned[byte](r, 3)),
		"ranks":             r.k.LowerBounds(r.s, offsets, offsets, short),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestLowerBounds(t *testing.T) {
	r := open(t)
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
		out := poisoned[int64](r, len(values))
		r.ok(r.k.LowerBounds(r.s, upload(r, sorted), upload(r, values), out))
		if got := read(r, out); !slices.Equal(got, want) {
			t.Fatalf("%d elements: %d, want %d, of %d in %d", n, got, want, values, sorted)
		}
	}
}
