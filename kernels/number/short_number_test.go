package number_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// shortNumbers are all tokens of up to four bytes that a number may begin with, and random ones
// around the 16 bytes that are read at a time.
func shortNumbers() (list []string) {
	const alphabet = "05.-e"
	for from := []string{""}; len(from[0]) < 4; {
		var longer []string
		for _, s := range from {
			for _, c := range alphabet {
				longer = append(longer, s+string(c))
			}
		}
		list, from = append(list, longer...), longer
	}
	rng := rand.New(rand.NewPCG(7, 9))
	for range 3000 {
		token := kerneltest.Random(rng.Uint64(), 1+rng.IntN(18), "0123456789")
		if n := len(token); n > 2 && rng.IntN(4) > 0 {
			token[1+rng.IntN(n-2)] = '.'
		}
		if rng.IntN(3) == 0 {
			token[0] = '-'
		}
		if rng.IntN(8) == 0 {
			token[rng.IntN(len(token))] = "x.-eE+ \xb9"[rng.IntN(8)]
		}
		list = append(list, string(token))
	}
	return list
}

func TestShortNumbers(t *testing.T) {
	r := kerneltest.Open(t)
	var all, numbers kerneltest.Tokens
	var floats []float64
	for _, token := range shortNumbers() {
		all.Add(token, ",")
		if kerneltest.NumberKindsOf(token)&(knumber.NumberMalformed|knumber.NumberRange) == 0 {
			numbers.Add(token, ",")
			_, f := kerneltest.NumberOf(token, kjson.ValueNumber)
			floats = append(floats, f)
		}
	}
	checkEachKind(r, "short", &all)
	from := knumber.Scalars{Starts: kerneltest.Upload(r, numbers.Starts), Ends: kerneltest.Upload(r, numbers.Ends)}
	got, undecided := kerneltest.Poisoned[float64](r, len(floats)), kerneltest.Poisoned[uint64](r,
		kernels.Words(len(floats)))
	r.OK(knumber.ParseNumbers(r.Set, r.Stream, kerneltest.Upload(r, numbers.Text), from,
		[]knumber.NumberColumn{{Float64: got}}, undecided))
	looks := kerneltest.Read(r, undecided)
	for i, v := range kerneltest.Read(r, got) {
		if want := floats[i]; math.Float64bits(v) != math.Float64bits(want) || kerneltest.Bit(looks, i) {
			t.Fatalf("%s: %s, undecided %v; want %s", numbers.Token(i), strconv.FormatFloat(v, 'g', -1, 64),
				kerneltest.Bit(looks, i), strconv.FormatFloat(want, 'g', -1, 64))
		}
	}
}
