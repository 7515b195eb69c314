package number_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// checkFloats compares what ParseFloat64 makes of the tokens with what strconv does.
func checkFloats(r *kerneltest.Rig, what string, x *kerneltest.Tokens, g knumber.Grammar) (undecided int) {
	r.Helper()
	before, after := kerneltest.ParseFloats(r, x, g)
	for i := range x.Starts {
		token := x.Token(i)
		want, valid := floatOf(token, g)
		if got := after.Out[i]; !kerneltest.SameFloat(got, want) || kerneltest.Bit(after.Valid, i) != valid {
			r.Fatalf("%s: token %d, %.60q: got %v, valid %v, want %v, %v", what, i, token, got,
				kerneltest.Bit(after.Valid, i), want, valid)
		}
		switch got := before.Out[i]; {
		case !kerneltest.Bit(before.Undecided, i):
			if !kerneltest.SameFloat(got, want) || kerneltest.Bit(before.Valid, i) != valid {
				r.Fatalf("%s: token %d, %.60q: got %v, valid %v before it was resolved, want %v, %v",
					what, i, token, got, kerneltest.Bit(before.Valid, i), want, valid)
			}
			if len(token) > 1024 && valid {
				r.Fatalf("%s: token %d of %d bytes is decided", what, i, len(token))
			}
		case kerneltest.Bit(before.Valid, i) || !math.IsNaN(got):
			r.Fatalf("%s: token %d, %.60q: undecided, but %v, valid %v", what, i, token, got,
				kerneltest.Bit(before.Valid, i))
		default:
			undecided++
			if len(token) <= 1024 && kerneltest.Significant(token) <= 19 {
				r.Fatalf("%s: token %d, %.60q: undecided with %d digits", what, i, token, kerneltest.Significant(token))
			}
		}
	}
	for i := len(x.Starts); i < 64*len(after.Valid); i++ {
		if kerneltest.Bit(before.Valid, i) || kerneltest.Bit(after.Valid, i) || kerneltest.Bit(before.Undecided, i) {
			r.Fatalf("%s: bit %d is set behind %d tokens", what, i, len(x.Starts))
		}
	}
	return undecided
}

func TestParseFloat64(t *testing.T) {
	r := kerneltest.Open(t)
	for g := range kerneltest.Grammars {
		for _, follow := range []string{",", "", "7", "e5", ".5", "\xff"} {
			var x kerneltest.Tokens
			for _, c := range kerneltest.KnownDecimals {
				x.Add(c.Token, follow)
			}
			checkFloats(r, fmt.Sprintf("grammar %d, followed by %q", g, follow), &x, g)
		}
	}
}

// strconv can't be asked about these.
func TestParseFloat64OfLongExponents(t *testing.T) {
	r := kerneltest.Open(t)
	var x kerneltest.Tokens
	for _, c := range longExponents {
		x.Add(c.token, ",")
	}
	_, after := kerneltest.ParseFloats(r, &x, knumber.GrammarJSON)
	for i, c := range longExponents {
		if after.Out[i] != c.want || !kerneltest.Bit(after.Valid, i) {
			t.Errorf("%s: got %v, valid %v, want %v", c.name, after.Out[i], kerneltest.Bit(after.Valid, i), c.want)
		}
	}
}

// Every prefix of a number, at every alignment, with the end of the text after it, where nothing
// may be read.
func TestParseFloat64AtTheEndOfText(t *testing.T) {
	r := kerneltest.Open(t)
	for _, number := range []string{
		"-12345678.9012345678901234567e-123", "1234567890123456789012345678901",
		"0.000000000000000001e+5",
	} {
		for length := range len(number) + 1 {
			for pad := range 8 {
				var x kerneltest.Tokens
				x.Add("", strings.Repeat(" ", pad))
				x.Add(number[:length], "")
				checkFloats(r, "at the end", &x, knumber.GrammarJSON)
			}
		}
	}
}

// The widest number that is read by windows, with so little text after it that the last of them
// just fits, at every alignment.
func TestParseFloat64InTheLastWindow(t *testing.T) {
	r := kerneltest.Open(t)
	for behind := range 13 {
		for pad := range 16 {
			var x kerneltest.Tokens
			x.Add("", strings.Repeat(" ", pad))
			x.Add("-123.1234567812345678", strings.Repeat(",", behind))
			checkFloats(r, "in the last window", &x, knumber.GrammarJSON)
		}
	}
}

func TestParseFloat64OfCounts(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000} {
		var x kerneltest.Tokens
		for range n {
			x.Add(string(kerneltest.AppendDecimal(nil, rng)), ",")
		}
		checkFloats(r, fmt.Sprint(n, " tokens"), &x, knumber.GrammarJSON)
	}
}

// Numbers with some bytes changed: nearly numbers.
func TestParseFloat64OfMalformed(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 4))
	const alphabet = "0123456789..--++eE,x \x80\xb9\xff\x00"
	for g := range kerneltest.Grammars {
		var x kerneltest.Tokens
		for range 50000 {
			token := kerneltest.AppendDecimal(nil, rng)
			for range rng.IntN(3) {
				token[rng.IntN(len(token))] = alphabet[rng.IntN(len(alphabet))]
			}
			from := rng.IntN(len(token)) * rng.IntN(2)
			x.Add(string(token[from:]), "")
		}
		checkFloats(r, fmt.Sprint("grammar ", g), &x, g)
	}
}

// Tokens that do not lie in the text are no numbers, whatever lies where they point.
func TestParseFloat64OfWrongTokens(t *testing.T) {
	r := kerneltest.Open(t)
	text := "1234567890"
	tests := []struct {
		name       string
		start, end int64
	}{
		{"before", -1, 3},
		{"behind", 8, 11},
		{"far behind", 1 << 50, 1<<50 + 4},
		{"far before", math.MinInt64, 2},
		{"to infinity", 0, math.MaxInt64},
		{"backwards", 5, 3},
		{"nothing", 4, 4},
	}
	var starts, ends []int64
	for _, tt := range tests {
		starts, ends = append(starts, tt.start), append(ends, tt.end)
	}
	to := knumber.Float64s{
		Out: kerneltest.Poisoned[float64](r, len(tests)), Valid: kerneltest.Poisoned[uint64](r, 1),
		Undecided: kerneltest.Poisoned[uint64](r, 1),
	}
	r.OK(knumber.ParseFloat64(r.Set, r.Stream, kerneltest.Upload(r, []byte(text)), kerneltest.Upload(r, starts),
		kerneltest.Upload(r, ends), knumber.GrammarJSON, to))
	kerneltest.SameItems(t, "valid", kerneltest.Read(r, to.Valid), []uint64{0})
	kerneltest.SameItems(t, "undecided", kerneltest.Read(r, to.Undecided), []uint64{0})
	for i, v := range kerneltest.Read(r, to.Out) {
		if !math.IsNaN(v) {
			t.Errorf("%s: got %v, want NaN", tests[i].name, v)
		}
	}
}

// More undecided tokens than the host takes at a time.
func TestResolveFloat64InBatches(t *testing.T) {
	r := kerneltest.Open(t)
	var x kerneltest.Tokens
	for i := range 70000 {
		x.Add("1.00000000000000011102230246251565404236316680908203125", "")
		if i%1000 == 0 {
			x.Add("1.0000000000000001110223024625156540423631668090820312"+strings.Repeat("5", i/50), "")
		}
	}
	if undecided := checkFloats(r, "batches", &x, knumber.GrammarJSON); undecided < 70000 {
		t.Errorf("%d tokens are undecided, want more than a batch", undecided)
	}
}

func TestParseFloat64Refuses(t *testing.T) {
	r := kerneltest.Open(t)
	text, at := kerneltest.Upload(r, make([]byte, 100)), kerneltest.Upload(r, make([]int64, 65))
	to := knumber.Float64s{
		Out: kerneltest.Poisoned[float64](r, 65), Valid: kerneltest.Poisoned[uint64](r, 2),
		Undecided: kerneltest.Poisoned[uint64](r, 2),
	}
	short, one := to.Out.Slice(0, 64), to.Valid.Slice(0, 1)
	tests := []struct {
		name         string
		text         gpu.Buffer[byte]
		starts, ends gpu.Buffer[int64]
		g            knumber.Grammar
		to           knumber.Float64s
	}{
		{"text at an odd address", text.Slice(1, 100), at, at, knumber.GrammarJSON, to},
		{"an end too few", text, at, at.Slice(0, 64), knumber.GrammarJSON, to},
		{"no grammar", text, at, at, 2, to},
		{"few values", text, at, at, knumber.GrammarJSON, knumber.Float64s{
			Out: short, Valid: to.Valid,
			Undecided: to.Undecided,
		}},
		{"a short valid mask", text, at, at, knumber.GrammarJSON, knumber.Float64s{
			Out: to.Out, Valid: one,
			Undecided: to.Undecided,
		}},
		{"a short undecided mask", text, at, at, knumber.GrammarJSON, knumber.Float64s{
			Out:   to.Out,
			Valid: to.Valid, Undecided: one,
		}},
	}
	for _, tt := range tests {
		if knumber.ParseFloat64(r.Set, r.Stream, tt.text, tt.starts, tt.ends, tt.g, tt.to) == nil {
			t.Errorf("%s: ParseFloat64 takes it", tt.name)
		}
		if _, err := knumber.ResolveFloat64(r.Set, r.Stream, tt.text, tt.starts, tt.ends, tt.g, tt.to); err == nil {
			t.Errorf("%s: ResolveFloat64 takes it", tt.name)
		}
	}
}
