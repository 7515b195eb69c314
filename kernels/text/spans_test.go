package text_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// spanEnd is SpanBoundaries, byte by byte.
func spanEnd(x *bracketText, start int64, skip int) int64 {
	n := int64(len(x.depth))
	if start < 0 || start >= n || int64(skip) >= n-start {
		return n
	}
	at := start + int64(skip)
	for at < n && x.kind[at] < 0 {
		at++
	}
	if at == n {
		return n
	}
	level := x.depth[at]
	for at < n && x.depth[at] >= level {
		at++
	}
	return min(at+1, n)
}

// checkSpans compares SpanBoundaries with the plain reading.
func checkSpans(r *kerneltest.Rig, name string, text []byte, starts []int64, skip int) {
	r.Helper()
	x := readBrackets(text, nil, kerneltest.JSONBrackets, 2)
	d := kerneltest.DepthOf(r, text, nil, kerneltest.JSONBrackets, kerneltest.Upload(r, []ktext.DepthCarry{{Depth: 2}}))
	ends := kerneltest.Poisoned[int64](r, len(starts))
	r.OK(ktext.SpanBoundaries(r.Set, r.Stream, d, kerneltest.Upload(r, starts), skip, ends))
	for i, got := range kerneltest.Read(r, ends) {
		if want := spanEnd(&x, starts[i], skip); got != want {
			r.Fatalf("%s: the span from %d, %d skipped, ends at %d, want %d of %d", name, starts[i], skip,
				got, want, len(text))
		}
	}
}

func TestSpanBoundaries(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(6, 6))
	for _, n := range kerneltest.Sizes {
		text := kerneltest.Random(uint64(n), n, "[]{} 1")
		starts := []int64{0, int64(n) - 1, int64(n), -1, -1 << 63, 1<<63 - 1}
		for range min(n, 200) {
			starts = append(starts, rng.Int64N(int64(n)))
		}
		for _, skip := range []int{0, 1, 14, 100, 1<<63 - 1} {
			checkSpans(r, "random", text, starts, skip)
		}
	}
	far := strings.Repeat("[] ", 30000)
	for _, tt := range []struct{ name, text string }{
		{"a value", `"coordinates": [[1,2],[3,4]],`},
		{"no value", `"coordinates":null}],[`},
		{"a later value", `"coordinates":null,[1]`},
		{"no end", `"coordinates":[[1]`},
		{"blanks before the value", `"coordinates":` + strings.Repeat(" ", 90000) + "[1]"},
		{"a long value", `"coordinates":[` + far + "],"},
		{"a long value at a bound", `"coordinates":` + strings.Repeat(" ", 50) + "[" + far[:63*1024] + "]"},
		{"no brackets", strings.Repeat("x", 5000)},
	} {
		checkSpans(r, tt.name, []byte(tt.text), []int64{0}, 14)
		checkSpans(r, tt.name, []byte(tt.text), []int64{0, 14, 15, int64(len(tt.text)) - 2}, 0)
	}
}

// Every opener of a text finds the end of its value, in a tree of four levels.
func TestSpanBoundariesFarApart(t *testing.T) {
	r := kerneltest.Open(t)
	const n = 3 << 20
	text := bytes.Repeat([]byte{' '}, n)
	rng := rand.New(rand.NewPCG(7, 7))
	var starts, stack []int64
	for range 300 {
		at := rng.Int64N(n)
		text[at] = "[]"[rng.IntN(2)]
	}
	want := map[int64]int64{}
	for i, c := range text {
		switch {
		case c == '[':
			starts, stack = append(starts, int64(i)), append(stack, int64(i))
			want[int64(i)] = n
		case c == ']' && len(stack) > 0:
			want[stack[len(stack)-1]] = int64(i) + 1
			stack = stack[:len(stack)-1]
		}
	}
	d := kerneltest.DepthOf(r, text, nil, kerneltest.JSONBrackets, gpu.Buffer[ktext.DepthCarry]{})
	ends := kerneltest.Poisoned[int64](r, len(starts))
	r.OK(ktext.SpanBoundaries(r.Set, r.Stream, d, kerneltest.Upload(r, starts), 0, ends))
	for i, got := range kerneltest.Read(r, ends) {
		if got != want[starts[i]] {
			t.Fatalf("the value from %d ends at %d, want %d", starts[i], got, want[starts[i]])
		}
	}
}
