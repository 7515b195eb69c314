package kernels_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// arraysFault is CheckArrays, a byte at a time, but for its limit of blanks.
func arraysFault(text []byte, from int) int64 {
	const opener, closer, comma = "[]-0123456789", ",]", "["
	depth, inside, escaped, next := 0, false, false, "" // next: what may come
	for i, c := range text {
		if inside {
			inside = escaped || c != '"'
			escaped = !escaped && c == '\\'
			continue
		}
		if next != "" && !strings.ContainsRune(" \t\r\n", rune(c)) {
			if c >= 0x80 || !strings.ContainsRune(next, rune(c)) {
				return int64(i)
			}
			if next == closer && c == ',' {
				next = comma
				continue
			}
			next = ""
		}
		switch c {
		case '"':
			inside = true
		case '[', '{':
			if depth++; depth >= from {
				next = opener
			}
		}
		if depth >= from && strings.IndexByte(`"{}`, c) >= 0 {
			return int64(i)
		}
		if c == ']' || c == '}' {
			if depth--; depth >= from {
				next = closer
			}
		}
	}
	if next != "" {
		return int64(len(text))
	}
	return -1
}

// runCheckArrays is CheckArrays of a text.
func runCheckArrays(r *rig, text []byte, from int) int64 {
	r.Helper()
	b, out := upload(r, text), poisoned[int64](r, 1)
	x, err := kernels.AllocStructure(r.s, len(text))
	r.ok(err)
	r.ok(r.k.ParseStructure(r.s, b, x, gpu.Buffer[kernels.StructureCarry]{}))
	d, err := kernels.AllocDepth(r.s, len(text), kernels.StructureBrackets())
	r.ok(err)
	r.ok(r.k.StructureDepth(r.s, x, d))
	r.ok(r.k.CheckArrays(r.s, b, d, from, out))
	got := read(r, out)[0]
	r.ok(x.Free(r.s))
	r.ok(d.Free(r.s))
	return got
}

// checkArrays compares CheckArrays with the plain reading.
func checkArrays(r *rig, what string, text []byte, from int) int64 {
	r.Helper()
	got, want := runCheckArrays(r, text, from), arraysFault(text, from)
	if got != want {
		r.Fatalf("%s: fault at %d of %d, want %d; text around them: %s and %s", what, got, len(text), want, around(text, max(0, int(got))), around(text, max(0, int(want))))
	}
	return got
}

// arrayTests are coordinates; ¦ stands before the first fault.
var arrayTests = []struct{ name, text string }{
	{"position", "[1,2]"},
	{"negative", "[-1,2]"},
	{"empty", "[]"},
	{"empty, blanks", "[ \t\r\n]"},
	{"ring", "[[1,2],[3,4]]"},
	{"polygon, blanks", "[ [ [ 1 , 2 ] , [ 3 , 4 ]\n]\n,[]\t]"},
	{"no array", "17"},
	{"a number that is none", "[1x,+2,,]"}, // for ParsePositions
	{"a letter", "[¦x]"},
	{"plus", "[¦+1]"},
	{"point", "[¦.5]"},
	{"null", "[¦null]"},
	{"null in a line", "[[1,2],¦null]"},
	{"a number in a line", "[[1,2],¦3]"},
	{"string", `[¦"1"]`},
	{"second string", `[1,¦"[2"]`},
	{"string in a line", `[[1,2],¦"[3,4]"]`},
	{"form feed", "[¦\f1]"},
	{"no-break space", "[¦\u00a01]"},
	{"NUL", "[¦\x001]"},
	{"comma first", "[¦,[1,2]]"},
	{"comma last", "[[1,2],¦]"},
	{"two commas", "[[1,2] , ¦,[3,4]]"},
	{"no comma", "[[1,2] ¦[3,4]]"},
	{"colon", "[[1,2]¦:[3,4]]"},
	{"a number behind", "[[1,2]¦3]"},
	{"object", `[¦{"a":1}]`},
	{"second object", `[[1,2],¦{}]`},
	{"object as coordinates", "¦{}"},
	{"object behind a number", `[1,¦{}]`},
	{"closed by a curly bracket", "[1,2¦}"},
	{"line closed by a curly bracket", "[[1,2]¦}"},
}

func TestCheckArrays(t *testing.T) {
	r := open(t)
	for _, tt := range arrayTests {
		for at := 5; at < 40; at++ {
			before, behind := strings.Repeat(" ", at)+`{"geometry":{"coordinates":`, `},"x":"[",}{"a":[1,null]`
			text, want := before+tt.text+behind, int64(-1)
			if i := strings.Index(text, "¦"); i >= 0 {
				text, want = strings.Replace(text, "¦", "", 1), int64(i)
			}
			if got := checkArrays(r, tt.name, []byte(text), 3); got != want {
				t.Fatalf("%s: fault at %d, want %d of %q", tt.name, got, want, text)
			}
		}
	}
	for _, text := range []string{"", " ", "[", "[ ", "[[1] ", "[[1],", "[[1] , ", "]]]]", "}", `"`, "{[", `["`} {
		for _, n := range []int{0, 63, 64, 65, 16383, 16384} {
			for from := range 3 {
				checkArrays(r, "cut off", []byte(strings.Repeat(" ", max(0, n-len(text)))+text), from)
			}
		}
	}
}

// Blanks of any number, up to 4 KiB, at each place.
func TestCheckArraysOverBlanks(t *testing.T) {
	r := open(t)
	for _, n := range []int{1, 62, 63, 64, 65, 127, 128, 1000, 4090, 5000, 20000} {
		blanks := strings.Repeat(" \t\r\n", n/4+1)[:n]
		for _, text := range []string{"[_[1]]", "[_1]", "[_]", "[[1]_]", "[[1]_,[2]]", "[[1],_[2]]", "[[1],_2]", "[_x]", "[[1]_1]", "[[1],_"} {
			full := []byte("     " + strings.Replace(text, "_", blanks, 1))
			if n <= 4096 {
				checkArrays(r, fmt.Sprintf("%s with %d blanks", text, n), full, 1)
				continue
			}
			at := int64(strings.Index(text, "_") + 5)
			if got := runCheckArrays(r, full, 1); got < at+4096 || got > at+4096+64 {
				t.Fatalf("%s with %d blanks: fault at %d, the blanks begin at %d", text, n, got, at)
			}
		}
	}
}

// nestedArrays are arrays of arrays or numbers, with blanks around.
func nestedArrays(rng *rand.Rand, levels int) []byte {
	blanks := func(b []byte) []byte {
		if rng.IntN(4) == 0 {
			b = append(b, strings.Repeat(" \n", 40)[:rng.IntN(1<<rng.IntN(7))]...)
		}
		return b
	}
	text := blanks([]byte{'['})
	for i := range rng.IntN(6) {
		if i > 0 {
			text = blanks(append(text, ','))
		}
		if levels > 0 {
			text = append(text, nestedArrays(rng, levels-1)...)
		} else {
			text = fmt.Appendf(text, "%v", rng.NormFloat64())
		}
		text = blanks(text)
	}
	return append(text, ']')
}

// Arrays, whole and with a byte or two changed. What is accepted is JSON, if brackets match and what stands in the innermost arrays is.
func TestCheckRandomArrays(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 300 {
		levels := rng.IntN(5)
		if i%250 == 0 {
			levels = 6
		}
		text := nestedArrays(rng, levels)
		if at := checkArrays(r, "valid", text, 1); at >= 0 {
			t.Fatalf("fault at %d of %s", at, text)
		}
		for range 1 + rng.IntN(2) {
			at, c := rng.IntN(len(text)), "[]{},,-1 \"x:"[rng.IntN(12)]
			if rng.IntN(2) == 0 {
				text[at] = c
			} else {
				text = append(text[:at], append([]byte{c}, text[at:]...)...)
			}
		}
		at := checkArrays(r, "changed", text, 1)
		if _, open := checkNesting(text, jsonBrackets, nil); at < 0 && open != nil && len(open) == 0 && text[0] == '[' && numbersOnly(text) && !json.Valid(text) && !behindTheEnd(text) {
			t.Fatalf("no fault in %s", text)
		}
		checkArrays(r, "from another depth", text, rng.IntN(levels+2))
	}
}

// Arrays that are marked among others that are none of these, whole and with a byte changed.
func TestCheckArraysWithin(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(7, 9))
	for range 200 {
		var text []byte
		var starts, ends []int64
		want := int64(-1)
		for range 1 + rng.IntN(4) {
			text = append(text, `{"p":{"a":[{"b":["x",null]}],"c":[1 2]},"c":`[:1+43*rng.IntN(2)]...)
			array, start := nestedArrays(rng, rng.IntN(4)), int64(len(text))
			if at := rng.IntN(len(array)); rng.IntN(3) == 0 && bytes.IndexByte([]byte("[]"), array[at]) < 0 {
				array[at] = ",-1 x:n"[rng.IntN(7)]
			}
			if at := arraysFault(array, 1); at >= 0 && want < 0 {
				want = start + at
			}
			text = append(text, array...)
			starts, ends = append(starts, start), append(ends, int64(len(text)))
			text = append(text, strings.Repeat(" }", 1+rng.IntN(40))...)
		}
		d := depthOf(r, text, nil, kernels.StructureBrackets(), gpu.Buffer[kernels.DepthCarry]{})
		mask, fault := poisoned[uint64](r, kernels.Words(len(text))), poisoned[int64](r, 1)
		r.ok(r.k.MarkSpans(r.s, upload(r, starts), upload(r, ends), len(text), mask))
		r.ok(r.k.CheckArraysWithin(r.s, upload(r, text), d, mask, fault))
		if got := read(r, fault)[0]; got != want {
			t.Fatalf("fault at %d of %q, want %d; arrays from %d to %d", got, text, want, starts, ends)
		}
	}
}

// numbersOnly reports whether each array that begins with a number is one of numbers.
func numbersOnly(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '[')
		if i < 0 {
			return true
		}
		text = text[i+1:]
		rest := bytes.TrimLeft(text, " \t\r\n")
		if len(rest) > 0 && strings.IndexByte("-0123456789", rest[0]) >= 0 {
			end := bytes.IndexAny(rest, "[]")
			if end < 0 || rest[end] == '[' || !json.Valid(append([]byte{'['}, rest[:end+1]...)) {
				return false
			}
		}
	}
}

// behindTheEnd reports whether more follows the bracket that closes the first.
func behindTheEnd(text []byte) bool {
	depth := 0
	for i, c := range text {
		if c == '[' {
			depth++
		} else if c == ']' {
			depth--
		}
		if depth == 0 {
			return len(bytes.TrimSpace(text[i+1:])) > 0
		}
	}
	return false
}

func TestCheckArraysArguments(t *testing.T) {
	r := open(t)
	text, fault := upload(r, make([]byte, 64)), poisoned[int64](r, 1)
	d := depthOf(r, make([]byte, 64), nil, kernels.StructureBrackets(), gpu.Buffer[kernels.DepthCarry]{})
	other := depthOf(r, make([]byte, 64), nil, wktBrackets, gpu.Buffer[kernels.DepthCarry]{})
	for name, err := range map[string]error{
		"another text":   r.k.CheckArrays(r.s, text.Slice(0, 32), d, 1, fault),
		"other brackets": r.k.CheckArrays(r.s, text, other, 1, fault),
		"a mask":         r.k.CheckArraysWithin(r.s, text, d, poisoned[uint64](r, 2), fault),
		"no fault":       r.k.CheckArrays(r.s, text, d, 1, fault.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
