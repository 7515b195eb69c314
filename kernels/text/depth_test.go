package text_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

var (
	wktBrackets = ktext.Brackets{Open: "(", Close: ")"}
	allBrackets = ktext.Brackets{Open: "([{<1ace", Close: ")]}>2bdf"}
)

// bracketText is a text as BracketDepth sees it, read byte by byte.
type bracketText struct {
	open, closing []uint64
	depth         []int64 // inclusive, of each byte
	start         int64
	kind          []int // the pair a byte's bracket is of; -1 if it is none
}

// readBrackets is BracketDepth, byte by byte.
func readBrackets(text []byte, inside []uint64, b ktext.Brackets, start int64) bracketText {
	x := bracketText{depth: make([]int64, len(text)), kind: make([]int, len(text)), start: start}
	depth := start
	for i, c := range text {
		x.kind[i] = -1
		if inside == nil || inside[i/64]>>(i%64)&1 == 0 {
			if k := strings.IndexByte(b.Open, c); k >= 0 {
				depth++
				x.kind[i] = k
			}
			if k := strings.IndexByte(b.Close, c); k >= 0 {
				depth--
				x.kind[i] = k
			}
		}
		x.depth[i] = depth
	}
	x.open = kerneltest.Bitmap(len(text), func(i int) bool {
		return x.kind[i] >= 0 && strings.IndexByte(b.Open, text[i]) >= 0
	})
	x.closing = kerneltest.Bitmap(len(text), func(i int) bool {
		return x.kind[i] >= 0 && strings.IndexByte(b.Open, text[i]) < 0
	})
	return x
}

// end is the depth after the text.
func (x *bracketText) end() int64 {
	if len(x.depth) == 0 {
		return x.start
	}
	return x.depth[len(x.depth)-1]
}

// checkDepth compares all that BracketDepth gives with the plain reading.
func checkDepth(r *kerneltest.Rig, name string, text []byte, inside []uint64, b ktext.Brackets, start int64) {
	r.Helper()
	x := readBrackets(text, inside, b, start)
	c := kerneltest.Upload(r, []ktext.DepthCarry{{Depth: start}})
	d := kerneltest.DepthOf(r, text, inside, b, c)
	kerneltest.SameMask(r, name+": open", text, kerneltest.Read(r, d.Open), x.open)
	kerneltest.SameMask(r, name+": close", text, kerneltest.Read(r, d.Close), x.closing)
	for i, depth := range kerneltest.Read(r, d.Base) {
		want := start
		if i > 0 {
			want = x.depth[i*64-1]
		}
		if int64(depth) != want {
			r.Fatalf("%s: depth %d before byte %d of %d, want %d", name, depth, i*64, len(text), want)
		}
	}
	if got := kerneltest.Read(r, c)[0].Depth; got != x.end() {
		r.Fatalf("%s: depth %d behind %d bytes, want %d", name, got, len(text), x.end())
	}
}

func TestBracketDepth(t *testing.T) {
	r := kerneltest.Open(t)
	generic := kerneltest.Open(t)
	generic.Set.UseGeneric()
	sets := []struct {
		name     string
		brackets ktext.Brackets
		alphabet string
	}{
		{"JSON", kerneltest.JSONBrackets, `{}[][]x",`},
		{"WKT", wktBrackets, "() 1,.,"},
		{"eight pairs", allBrackets, "([{<1ace)]}>2bdf xyz"},
	}
	for _, set := range sets {
		for i, n := range kerneltest.Sizes {
			text := kerneltest.Random(uint64(n), n, set.alphabet)
			inside := kerneltest.Bitmap(n, func(i int) bool { return i/70%3 == 1 })
			on := r
			if i%2 == 1 {
				on = generic
			}
			checkDepth(on, set.name, text, nil, set.brackets, 0)
			checkDepth(on, set.name+" with strings", text, inside, set.brackets, 5-int64(i))
		}
	}
	checkDepth(r, "NULs are no brackets", make([]byte, 100), nil, kerneltest.JSONBrackets, 0)
	checkDepth(generic, "NULs are brackets", make([]byte, 100), nil, ktext.Brackets{Open: "\x00", Close: "\x01"}, 0)
	checkDepth(r, "deep", bytes.Repeat([]byte("["), 70000), nil, kerneltest.JSONBrackets, 1<<20)
}

// A text in chunks has the depths of the text.
func TestBracketDepthInChunks(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Random(11, 200, "[]{}x")
	x := readBrackets(text, nil, kerneltest.JSONBrackets, 0)
	for at := range text {
		c := kerneltest.Upload(r, []ktext.DepthCarry{{}})
		kerneltest.DepthOf(r, text[:at], nil, kerneltest.JSONBrackets, c)
		kerneltest.DepthOf(r, text[at:], nil, kerneltest.JSONBrackets, c)
		if got := kerneltest.Read(r, c)[0].Depth; got != x.end() {
			t.Fatalf("split at %d: depth %d at the end, want %d", at, got, x.end())
		}
	}
}

// A tree with more nodes in a level than one block takes in at a time: brackets close far after
// where they open.
func TestDepthOfALargeText(t *testing.T) {
	r := kerneltest.Open(t)
	const n = 9 << 20
	text := bytes.Repeat([]byte{' '}, n)
	starts := []int64{0, 1, 70, 5000, 200_000, 3_000_000, n - 5}
	ends := []int64{n, n - 1, n - 2, 8_500_000, 4_300_000, 3_000_002, n - 3}
	for i := range starts {
		text[starts[i]], text[ends[i]-1] = '[', ']'
	}
	d, got := kerneltest.DepthOf(r, text, nil, kerneltest.JSONBrackets, gpu.Buffer[ktext.DepthCarry]{}),
		kerneltest.Poisoned[int64](r, len(starts))
	r.OK(ktext.SpanBoundaries(r.Set, r.Stream, d, kerneltest.Upload(r, starts), 0, got))
	kerneltest.SameItems(t, "ends", kerneltest.Read(r, got), ends)
}

func TestDepthSaturates(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range []struct {
		name   string
		start  int64
		text   string
		base   int32
		at     int32
		behind int64
	}{
		{"above", 1<<31 - 2, "[[[", 1<<31 - 2, 1<<31 - 1, 1<<31 + 1},
		{"far above", 1 << 40, "[]]", 1<<31 - 1, 1<<31 - 2, 1<<40 - 1},
		{"below", -1<<31 + 2, "]]]", -1<<31 + 2, -1<<31 + 1, -1<<31 - 1},
	} {
		c := kerneltest.Upload(r, []ktext.DepthCarry{{Depth: tt.start}})
		d := kerneltest.DepthOf(r, []byte(tt.text), nil, kerneltest.JSONBrackets, c)
		at := kerneltest.Poisoned[int32](r, 1)
		r.OK(ktext.DepthAt(r.Set, r.Stream, d, kerneltest.Upload(r, []int64{2}), at))
		if base, at, behind := kerneltest.Read(r, d.Base)[0], kerneltest.Read(r, at)[0],
			kerneltest.Read(r, c)[0].Depth; base != tt.base ||
			at != tt.at || behind != tt.behind {
			t.Errorf("%s: depth %d, at byte 2 %d, behind %d; want %d, %d, %d", tt.name, base, at, behind,
				tt.base, tt.at, tt.behind)
		}
	}
}

func TestDepthAt(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Random(3, 20000, "[[]{}]x")
	x := readBrackets(text, nil, kerneltest.JSONBrackets, -3)
	d := kerneltest.DepthOf(r, text, nil, kerneltest.JSONBrackets,
		kerneltest.Upload(r, []ktext.DepthCarry{{Depth: -3}}))
	rng := rand.New(rand.NewPCG(1, 2))
	at := []int64{-1, -1 << 63, 20000, 1<<63 - 1, 0, 19999, 63, 64}
	for range 1000 {
		at = append(at, rng.Int64N(20000))
	}
	got := kerneltest.Poisoned[int32](r, len(at))
	r.OK(ktext.DepthAt(r.Set, r.Stream, d, kerneltest.Upload(r, at), got))
	for i, depth := range kerneltest.Read(r, got) {
		want := int64(-1 << 31)
		if at[i] >= 0 && at[i] < 20000 {
			want = x.depth[at[i]]
		}
		if int64(depth) != want {
			t.Fatalf("depth %d at byte %d, want %d", depth, at[i], want)
		}
	}
}

func TestBracketsRefused(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range []struct {
		name     string
		brackets ktext.Brackets
		want     string
	}{
		{"unequal", ktext.Brackets{Open: "{[", Close: "}"}, "2 opening and 1 closing brackets"},
		{"none", ktext.Brackets{}, "no brackets"},
		{"nine", ktext.Brackets{Open: "123456789", Close: "abcdefghi"}, "9 pairs of brackets, at most 8"},
		{"an opener twice", ktext.Brackets{Open: "[[", Close: "]}"}, `the bracket '[' is named twice`},
		{"a closer twice", ktext.Brackets{Open: "[{", Close: "]]"}, `the bracket ']' is named twice`},
		{"one that opens and closes", ktext.Brackets{Open: "[|", Close: "]|"}, `the bracket '|' is named twice`},
	} {
		_, err := ktext.AllocDepth(r.Stream, 64, tt.brackets)
		if want := "bracket depth: " + tt.want; fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", tt.name, err, want)
		}
	}
	d, err := ktext.AllocDepth(r.Stream, 64, kerneltest.JSONBrackets)
	r.OK(err)
	defer func() { r.OK(d.Free(r.Stream)) }()
	var none gpu.Buffer[ktext.DepthCarry]
	if err := ktext.BracketDepth(r.Set, r.Stream, kerneltest.Poisoned[byte](r, 65), kernels.Mask{}, d,
		none); err == nil {
		t.Error("more text than the depth was allocated for: no error")
	}
	if err := ktext.BracketDepth(r.Set, r.Stream, kerneltest.Poisoned[byte](r, 64), kerneltest.Poisoned[uint64](r, 2),
		d, none); err == nil {
		t.Error("a long mask: no error")
	}
}
