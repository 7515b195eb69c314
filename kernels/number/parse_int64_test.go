package number_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// integers are the grammars of integers, as regular expressions.
var integers = map[knumber.Grammar]*regexp.Regexp{
	knumber.GrammarJSON:    regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`),
	knumber.GrammarLenient: regexp.MustCompile(`^[-+]?[0-9]+$`),
}

// integerOf is what ParseInt64 makes of a token, by strconv.
func integerOf(token string, g knumber.Grammar) (v int64, valid, overflow bool) {
	if len(token) > 1024 {
		return 0, false, true
	}
	if !integers[g].MatchString(token) {
		return 0, false, false
	}
	v, err := strconv.ParseInt(token, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, false, true
	}
	return v, true, false
}

// checkIntegers compares ParseInt64 with strconv.
func checkIntegers(r *kerneltest.Rig, what string, x *kerneltest.Tokens, g knumber.Grammar) {
	r.Helper()
	n := len(x.Starts)
	out, valid, overflow := kerneltest.Poisoned[int64](r, n), kerneltest.Poisoned[uint64](r, kernels.Words(n)),
		kerneltest.Poisoned[uint64](r, kernels.Words(n))
	r.OK(knumber.ParseInt64(r.Set, r.Stream, kerneltest.Upload(r, x.Text), kerneltest.Upload(r, x.Starts),
		kerneltest.Upload(r, x.Ends), g, out, valid, overflow))
	values, v, o := kerneltest.Read(r, out), kerneltest.Read(r, valid), kerneltest.Read(r, overflow)
	for i := range n {
		value, isValid, isOver := integerOf(x.Token(i), g)
		if values[i] != value || kerneltest.Bit(v, i) != isValid || kerneltest.Bit(o, i) != isOver {
			r.Fatalf("%s: token %d, %.60q: got %d, valid %v, overflow %v, want %d, %v, %v", what, i,
				x.Token(i), values[i], kerneltest.Bit(v, i), kerneltest.Bit(o, i), value, isValid, isOver)
		}
	}
	for i := n; i < 64*len(v); i++ {
		if kerneltest.Bit(v, i) || kerneltest.Bit(o, i) {
			r.Fatalf("%s: bit %d is set behind %d tokens", what, i, n)
		}
	}
}

func TestParseInt64(t *testing.T) {
	known := []struct{ name, token string }{
		{"empty", ""},
		{"zero", "0"},
		{"negative zero", "-0"},
		{"seven digits", "-1234567"},
		{"eight digits", "12345678"},
		{"nine digits", "-123456789"},
		{"16 digits", "1234567890123456"},
		{"17 digits", "12345678901234567"},
		{"N8 largest", "9223372036854775807"},
		{"N8 beyond the largest", "9223372036854775808"},
		{"N8 least", "-9223372036854775808"},
		{"N8 below the least", "-9223372036854775809"},
		{"N8 20 nines", "99999999999999999999"},
		{"N8 largest uint64", "18446744073709551615"},
		{"N8 beyond uint64", "18446744073709551616"},
		{"N8 beyond 2^127", "170141183460469231731687303715884105728"},
		{"N8 2^64 and more, low bits small", "184467440737095516160000000000000001"},
		{"N8 many digits", strings.Repeat("9", 1000)},
		{"N9 fraction", "1.9"},
		{"N9 minus inside", "12-3"},
		{"N9 exponent", "1e3"},
		{"N9 whole fraction", "1.0"},
		{"N12 beyond 2^53", "9007199254740993"},
		{"N7 leading zeros", "00012"},
		{"N7 leading zeros, 9 bytes", "000000012"},
		{"N7 leading zeros, many", strings.Repeat("0", 1000) + "9223372036854775807"},
		{"N7 plus", "+5"},
		{"signs", "+-5"},
		{"minus", "-"},
		{"plus", "+"},
		{"letters", "abc"},
		{"hexadecimal", "0x10"},
		{"blank behind", "12 "},
		{"letter in the second window", "12345678x"},
		{"byte from 80 on", "1\xb12"},
		{"letter at the end of many", strings.Repeat("1", 1000) + "x"},
		{"1024 bytes", strings.Repeat("1", 1024)},
		{"1025 bytes", strings.Repeat("0", 1025)},
		{"10000 letters", strings.Repeat("x", 10000)},
	}
	r := kerneltest.Open(t)
	for g := range integers {
		for _, follow := range []string{",", "", "7", "."} {
			var x kerneltest.Tokens
			for _, c := range known {
				x.Add(c.token, follow)
			}
			checkIntegers(r, fmt.Sprintf("grammar %d, followed by %q", g, follow), &x, g)
		}
	}
}

func TestParseInt64OfRandom(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(5, 6))
	const alphabet = "0123456789-+. \xb9"
	for g := range integers {
		var x kerneltest.Tokens
		for range 100000 {
			token := strconv.AppendInt(nil, int64(rng.Uint64())>>rng.IntN(64), 10)
			if rng.IntN(3) == 0 {
				token = append(token, kerneltest.Random(rng.Uint64(), rng.IntN(12), "0123456789")...)
			}
			if rng.IntN(4) == 0 {
				token[rng.IntN(len(token))] = alphabet[rng.IntN(len(alphabet))]
			}
			x.Add(string(token), []string{"", ","}[rng.IntN(2)])
		}
		checkIntegers(r, fmt.Sprint("grammar ", g), &x, g)
	}
}

func TestParseInt64AtTheEndOfText(t *testing.T) {
	r := kerneltest.Open(t)
	const number = "-123456789012345678901"
	for length := range len(number) + 1 {
		for pad := range 8 {
			var x kerneltest.Tokens
			x.Add("", strings.Repeat(" ", pad))
			x.Add(number[:length], "")
			checkIntegers(r, "at the end", &x, knumber.GrammarJSON)
		}
	}
}

func TestParseInt64OfCounts(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257} {
		var x kerneltest.Tokens
		for i := range n {
			x.Add(strconv.Itoa(i*i*i), ",")
		}
		checkIntegers(r, fmt.Sprint(n, " tokens"), &x, knumber.GrammarJSON)
	}
}

func TestParseInt64OfWrongTokens(t *testing.T) {
	r := kerneltest.Open(t)
	starts, ends := []int64{-1, 8, 1 << 50, 5, 4}, []int64{3, 11, 1<<50 + 2, 3, 4}
	out, valid, overflow := kerneltest.Poisoned[int64](r, 5), kerneltest.Poisoned[uint64](r, 1),
		kerneltest.Poisoned[uint64](r, 1)
	r.OK(knumber.ParseInt64(r.Set, r.Stream, kerneltest.Upload(r, []byte("1234567890")), kerneltest.Upload(r, starts),
		kerneltest.Upload(r, ends),
		knumber.GrammarJSON, out, valid, overflow))
	kerneltest.SameItems(t, "values", kerneltest.Read(r, out), make([]int64, 5))
	kerneltest.SameItems(t, "valid", kerneltest.Read(r, valid), []uint64{0})
	kerneltest.SameItems(t, "overflow", kerneltest.Read(r, overflow), []uint64{0})
}

func TestParseInt64Refuses(t *testing.T) {
	r := kerneltest.Open(t)
	text, at, mask := kerneltest.Upload(r, make([]byte, 100)), kerneltest.Upload(r, make([]int64, 65)),
		kerneltest.Poisoned[uint64](r, 2)
	out := kerneltest.Poisoned[int64](r, 65)
	one := mask.Slice(0, 1)
	tests := []struct {
		name            string
		ends, out       gpu.Buffer[int64]
		g               knumber.Grammar
		valid, overflow kernels.Mask
	}{
		{"an end too few", at.Slice(0, 64), out, knumber.GrammarJSON, mask, mask},
		{"few values", at, out.Slice(0, 64), knumber.GrammarJSON, mask, mask},
		{"no grammar", at, out, 2, mask, mask},
		{"a short valid mask", at, out, knumber.GrammarJSON, one, mask},
		{"a short overflow mask", at, out, knumber.GrammarJSON, mask, one},
	}
	for _, tt := range tests {
		if knumber.ParseInt64(r.Set, r.Stream, text, at, tt.ends, tt.g, tt.out, tt.valid, tt.overflow) == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
