package kernels_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// checkNesting is CheckBrackets with a stack: pairs that are open, the outermost first. It gives
// that at the end, too.
func checkNesting(text []byte, b kernels.Brackets, open []byte) (kernels.BracketReport, []byte) {
	report := kernels.BracketReport{Offset: -1}
	open = bytes.Clone(open)
	for i, c := range text {
		if k := strings.IndexByte(b.Open, c); k >= 0 {
			open = append(open, byte(k))
		}
		k := strings.IndexByte(b.Close, c)
		switch {
		case k < 0:
		case len(open) == 0:
			report.Offset, report.Fault = int64(i), kernels.BracketUnopened
			return report, nil
		case open[len(open)-1] != byte(k):
			report.Offset, report.Fault = int64(i), kernels.BracketMismatched
			return report, nil
		default:
			open = open[:len(open)-1]
		}
	}
	report.Depth = int64(len(open))
	return report, open
}

// sameNesting compares CheckBrackets on a chunk with the plain reading; open are the pairs open
// before it.
func sameNesting(r *rig, name string, text []byte, b kernels.Brackets, open []byte) {
	r.Helper()
	want, after := checkNesting(text, b, open)
	d := depthOf(r, text, nil, b, upload(r, []kernels.DepthCarry{{Depth: int64(len(open))}}))
	stack := poisoned[uint8](r, max(len(open), len(after), 1))
	r.ok(gpu.Upload(r.s, stack, open))
	got, err := r.k.CheckBrackets(r.s, d, stack)
	r.ok(err)
	if want.Offset >= 0 {
		got.Depth = 0 // where nothing fits the depth says little
	}
	if got != want {
		r.Fatalf("%s: %+v, want %+v in %.80q", name, got, want, text)
	}
	if left := read(r, stack); want.Offset < 0 && !bytes.Equal(left[:len(after)], after) {
		r.Fatalf("%s: %v is open at the end, want %v", name, left[:len(after)], after)
	}
}

// nested is text whose brackets match, with runs of other bytes, and as many brackets open at its
// end.
func nested(seed uint64, n, open, most int, b kernels.Brackets) []byte {
	rng := rand.New(rand.NewPCG(seed, 2))
	var text, stack []byte
	for len(text)+len(stack) < n {
		switch x := rng.IntN(10); {
		case x < 4 && len(stack) < most:
			k := rng.IntN(len(b.Open))
			text, stack = append(text, b.Open[k]), append(stack, b.Close[k])
		case x < 8 && len(stack) > 0:
			text, stack = append(text, stack[len(stack)-1]), stack[:len(stack)-1]
		default:
			text = append(text, bytes.Repeat([]byte{' '}, rng.IntN(1+rng.IntN(1+rng.IntN(300))))...)
		}
	}
	for len(stack) > open {
		text, stack = append(text, stack[len(stack)-1]), stack[:len(stack)-1]
	}
	return text
}

func TestCheckBrackets(t *testing.T) {
	r := open(t)
	half := bytes.Repeat([]byte("[{"), 20000)
	deep := append(bytes.Clone(half), bytes.Repeat([]byte("}]"), 20000)...)
	comb := bytes.Repeat([]byte("["+strings.Repeat(" {}", 40)), 600) // each opener far from the others
	comb = append(comb, bytes.Repeat([]byte("]"), 600)...)
	wrong := bytes.Clone(deep)
	wrong[len(wrong)-3] = '}'
	tests := []struct {
		name     string
		text     string
		brackets kernels.Brackets
		open     string // pairs open before
	}{
		{"nothing", "", jsonBrackets, ""},
		{"one opener", "[", jsonBrackets, ""},
		{"one closer", "]", jsonBrackets, ""},
		{"a closer of one before", "]", jsonBrackets, "\x01"},
		{"a closer of another before", "]", jsonBrackets, "\x00"},
		{"too many closers for what came before", "]}]", jsonBrackets, "\x00\x01"},
		{"a curly for a square", `{"a":[1}`, jsonBrackets, ""},
		{"crossed", "[{]}", jsonBrackets, ""},
		{
			"crossed far apart", "[" + strings.Repeat(" ", 5000) + "{" + strings.Repeat(" ", 5000) + "]",
			jsonBrackets, "",
		},
		{"a far opener", "[" + strings.Repeat("{}", 40000) + "]", jsonBrackets, ""},
		{"a far opener of another pair", "{" + strings.Repeat("{}", 40000) + "]", jsonBrackets, ""},
		{
			"an opener that ends a word", strings.Repeat(" ", 63) + "[]" + strings.Repeat(" ", 62) + "{\n}",
			jsonBrackets, "",
		},
		{
			"the first wrong one counts", strings.Repeat(" ", 100) + "[}" + strings.Repeat(" ", 100) + "]]]]",
			jsonBrackets, "",
		},
		{"deep", string(deep), jsonBrackets, ""},
		{"deep and wrong near the end", string(wrong), jsonBrackets, ""},
		{"deep and open", string(half), jsonBrackets, "\x01\x01"},
		{"all closers", strings.Repeat("]", 30000), jsonBrackets, ""},
		{"all closers of what came before", strings.Repeat("]", 3000), jsonBrackets, strings.Repeat("\x01", 3000)},
		{"a comb", string(comb), jsonBrackets, ""},
		{"a comb with one tooth too many", string(comb) + "]", jsonBrackets, ""},
		{"one pair", "((1 2),(3))", wktBrackets, ""},
		{"one pair, one closer too many", "((1 2)))(", wktBrackets, ""},
		{"eight pairs", "([{<1ace fdb2>}])", allBrackets, ""},
		{"eight pairs, the last wrong", "([{<1ace ddb2>}])", allBrackets, ""},
	}
	for _, tt := range tests {
		sameNesting(r, tt.name, []byte(tt.text), tt.brackets, []byte(tt.open))
	}
	for i, b := range []kernels.Brackets{jsonBrackets, wktBrackets, allBrackets} {
		for seed := range uint64(6) {
			text := nested(seed+uint64(10*i), 20000, int(seed)*7, 20+int(seed*seed*40), b)
			sameNesting(r, "random", text, b, nil)
			at := rand.New(rand.NewPCG(seed, 3)).IntN(len(text))
			text[at] = b.Close[0]
			sameNesting(r, "random with a fault", text, b, nil)
		}
	}
}

// A text in chunks has the brackets of the text, and the stack says what an earlier chunk opened.
func TestCheckBracketsInChunks(t *testing.T) {
	r := open(t)
	small := []byte("[{([<>])}{}]")
	b := kernels.Brackets{Open: "[{(<", Close: "]})>"}
	large := nested(5, 30000, 0, 300, b)
	rng := rand.New(rand.NewPCG(8, 9))
	for i := range 2*len(small) + 12 {
		text, at := bytes.Clone(small), i%len(small)
		if i >= 2*len(small) {
			text, at = bytes.Clone(large), rng.IntN(len(large))
		}
		if i%2 == 1 {
			text[rng.IntN(len(text))] = b.Close[rng.IntN(4)]
		}
		first, open := checkNesting(text[:at], b, nil)
		if first.Offset >= 0 {
			continue
		}
		sameNesting(r, "the first chunk", text[:at], b, nil)
		sameNesting(r, "the second chunk", text[at:], b, open)
	}
}

func TestCheckBracketsBeyondTheStack(t *testing.T) {
	r := open(t)
	tests := []struct {
		name      string
		start     int64
		text      string
		stack     string
		undecided int64
		fault     kernels.BracketFault
	}{
		{"no stack", 5, "[]]}", "", 2, kernels.BracketsSound},
		{"a stack for some", 5, "]]]]]", "\x01\x01\x01", 2, kernels.BracketsSound},
		{"a stack for some, wrong in it", 5, "]]]]]", "\x01\x00\x01", 2, kernels.BracketMismatched},
		{"too deep to count", 1 << 40, "[[]]", "\x01\x00\x01", 0, kernels.BracketTooDeep},
	}
	for _, tt := range tests {
		d := depthOf(r, []byte(tt.text), nil, jsonBrackets, upload(r, []kernels.DepthCarry{{Depth: tt.start}}))
		got, err := r.k.CheckBrackets(r.s, d, upload(r, []byte(tt.stack)))
		r.ok(err)
		if got.Undecided != tt.undecided || got.Fault != tt.fault {
			t.Errorf("%s: %+v, want %d undecided and fault %d", tt.name, got, tt.undecided, tt.fault)
		}
	}
}
