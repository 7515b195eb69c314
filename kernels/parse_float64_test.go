package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// checkFloats compares what ParseFloat64 makes of the tokens with what strconv does.
func checkFloats(r *rig, what string, x *tokens, g kernels.Grammar) (undecided int) {
	r.Helper()
	before, after := parseFloats(r, x, g)
	for i := range x.starts {
		token := x.token(i)
		want, valid := floatOf(token, g)
		if got := after.out[i]; !sameFloat(got, want) || bit(after.valid, i) != valid {
			r.Fatalf("%s: token %d, %.60q: got %v, valid %v, want %v, %v", what, i, token, got,
				bit(after.valid, i), want, valid)
		}
		switch got := before.out[i]; {
		case !bit(before.undecided, i):
			if !sameFloat(got, want) || bit(before.valid, i) != valid {
				r.Fatalf("%s: token %d, %.60q: got %v, valid %v before it was resolved, want %v, %v",
					what, i, token, got, bit(before.valid, i), want, valid)
			}
			if len(token) > 1024 && valid {
				r.Fatalf("%s: token %d of %d bytes is decided", what, i, len(token))
			}
		case bit(before.valid, i) || !math.IsNaN(got):
			r.Fatalf("%s: token %d, %.60q: undecided, but %v, valid %v", what, i, token, got, bit(before.valid, i))
		default:
			undecided++
			if len(token) <= 1024 && significant(token) <= 19 {
				r.Fatalf("%s: token %d, %.60q: undecided with %d digits", what, i, token, significant(token))
			}
		}
	}
	for i := len(x.starts); i < 64*len(after.valid); i++ {
		if bit(before.valid, i) || bit(after.valid, i) || bit(before.undecided, i) {
			r.Fatalf("%s: bit %d is set behind %d tokens", what, i, len(x.starts))
		}
	}
	return undecided
}

func TestParseFloat64(t *testing.T) {
	r := open(t)
	for g := range grammars {
		for _, follow := range []string{",", "", "7", "e5", ".5", "\xff"} {
			var x tokens
			for _, c := range knownDecimals {
				x.add(c.token, follow)
			}
			checkFloats(r, fmt.Sprintf("grammar %d, followed by %q", g, follow), &x, g)
		}
	}
}

// strconv can't be asked about these.
func TestParseFloat64OfLongExponents(t *testing.T) {
	r := open(t)
	var x tokens
	for _, c := range longExponents {
		x.add(c.token, ",")
	}
	_, after := parseFloats(r, &x, kernels.GrammarJSON)
	for i, c := range longExponents {
		if after.out[i] != c.want || !bit(after.valid, i) {
			t.Errorf("%s: got %v, valid %v, want %v", c.name, after.out[i], bit(after.valid, i), c.want)
		}
	}
}

// Every prefix of a number, at every alignment, with the end of the text behind it, where nothing
// may be read.
func TestParseFloat64AtTheEndOfText(t *testing.T) {
	r := open(t)
	for _, number := range []string{
		"-12345678.9012345678901234567e-123", "1234567890123456789012345678901",
		"0.000000000000000001e+5",
	} {
		for length := range len(number) + 1 {
			for pad := range 8 {
				var x tokens
				x.add("", strings.Repeat(" ", pad))
				x.add(number[:length], "")
				checkFloats(r, "at the end", &x, kernels.GrammarJSON)
			}
		}
	}
}

// The widest number that is read by windows, with so little text behind it that the last of them
// just fits, at every alignment.
func TestParseFloat64InTheLastWindow(t *testing.T) {
	r := open(t)
	for behind := range 13 {
		for pad := range 16 {
			var x tokens
			x.add("", strings.Repeat(" ", pad))
			x.add("-123.1234567812345678", strings.Repeat(",", behind))
			checkFloats(r, "in the last window", &x, kernels.GrammarJSON)
		}
	}
}

func TestParseFloat64OfCounts(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000} {
		var x tokens
		for range n {
			x.add(string(appendDecimal(nil, rng)), ",")
		}
		checkFloats(r, fmt.Sprint(n, " tokens"), &x, kernels.GrammarJSON)
	}
}

// Numbers with some bytes changed: nearly numbers.
func TestParseFloat64OfMalformed(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(3, 4))
	const alphabet = "0123456789..--++eE,x \x80\xb9\xff\x00"
	for g := range grammars {
		var x tokens
		for range 50000 {
			token := appendDecimal(nil, rng)
			for range rng.IntN(3) {
				token[rng.IntN(len(token))] = alphabet[rng.IntN(len(alphabet))]
			}
			from := rng.IntN(len(token)) * rng.IntN(2)
			x.add(string(token[from:]), "")
		}
		checkFloats(r, fmt.Sprint("grammar ", g), &x, g)
	}
}

// Tokens that do not lie in the text are no numbers, whatever lies where they point.
func TestParseFloat64OfWrongTokens(t *testing.T) {
	r := open(t)
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
	to := kernels.Float64s{
		Out: poisoned[float64](r, len(tests)), Valid: poisoned[uint64](r, 1),
		Undecided: poisoned[uint64](r, 1),
	}
	r.ok(r.k.ParseFloat64(r.s, upload(r, []byte(text)), upload(r, starts), upload(r, ends), kernels.GrammarJSON, to))
	sameItems(t, "valid", read(r, to.Valid), []uint64{0})
	sameItems(t, "undecided", read(r, to.Undecided), []uint64{0})
	for i, v := range read(r, to.Out) {
		if !math.IsNaN(v) {
			t.Errorf("%s: got %v, want NaN", tests[i].name, v)
		}
	}
}

// More undecided tokens than the host takes at a time.
func TestResolveFloat64InBatches(t *testing.T) {
	r := open(t)
	var x tokens
	for i := range 70000 {
		x.add("1.00000000000000011102230246251565404236316680908203125", "")
		if i%1000 == 0 {
			x.add("1.0000000000000001110223024625156540423631668090820312"+strings.Repeat("5", i/50), "")
		}
	}
	if undecided := checkFloats(r, "batches", &x, kernels.GrammarJSON); undecided < 70000 {
		t.Errorf("%d tokens are undecided, want more than a batch", undecided)
	}
}

func TestParseFloat64Refuses(t *testing.T) {
	r := open(t)
	text, at := upload(r, make([]byte, 100)), upload(r, make([]int64, 65))
	to := kernels.Float64s{
		Out: poisoned[float64](r, 65), Valid: poisoned[uint64](r, 2),
		Undecided: poisoned[uint64](r, 2),
	}
	short, one := to.Out.Slice(0, 64), to.Valid.Slice(0, 1)
	tests := []struct {
		name         string
		text         gpu.Buffer[byte]
		starts, ends gpu.Buffer[int64]
		g            kernels.Grammar
		to           kernels.Float64s
	}{
		{"text at an odd address", text.Slice(1, 100), at, at, kernels.GrammarJSON, to},
		{"an end too few", text, at, at.Slice(0, 64), kernels.GrammarJSON, to},
		{"no grammar", text, at, at, 2, to},
		{"few values", text, at, at, kernels.GrammarJSON, kernels.Float64s{
			Out: short, Valid: to.Valid,
			Undecided: to.Undecided,
		}},
		{"a short valid mask", text, at, at, kernels.GrammarJSON, kernels.Float64s{
			Out: to.Out, Valid: one,
			Undecided: to.Undecided,
		}},
		{"a short undecided mask", text, at, at, kernels.GrammarJSON, kernels.Float64s{
			Out:   to.Out,
			Valid: to.Valid, Undecided: one,
		}},
	}
	for _, tt := range tests {
		if r.k.ParseFloat64(r.s, tt.text, tt.starts, tt.ends, tt.g, tt.to) == nil {
			t.Errorf("%s: ParseFloat64 takes it", tt.name)
		}
		if _, err := r.k.ResolveFloat64(r.s, tt.text, tt.starts, tt.ends, tt.g, tt.to); err == nil {
			t.Errorf("%s: ResolveFloat64 takes it", tt.name)
		}
	}
}
