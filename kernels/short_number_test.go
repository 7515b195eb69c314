package kernels_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
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
		token := random(rng.Uint64(), 1+rng.IntN(18), "0123456789")
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
	r := open(t)
	var all, numbers tokens
	var floats []float64
	for _, token := range shortNumbers() {
		all.add(token, ",")
		if numberKindsOf(token)&(kernels.NumberMalformed|kernels.NumberRange) == 0 {
			numbers.add(token, ",")
			_, f := numberOf(token, kernels.ValueNumber)
			floats = append(floats, f)
		}
	}
	checkEachKind(r, "short", &all)
	from := kernels.Scalars{Starts: upload(r, numbers.starts), Ends: upload(r, numbers.ends)}
	got, undecided := poisoned[float64](r, len(floats)), poisoned[uint64](r, kernels.Words(len(floats)))
	r.ok(r.k.ParseNumbers(r.s, upload(r, numbers.text), from, []kernels.NumberColumn{{Float64: got}}, undecided))
	looks := read(r, undecided)
	for i, v := range read(r, got) {
		if want := floats[i]; math.Float64bits(v) != math.Float64bits(want) || bit(looks, i) {
			t.Fatalf("%s: %s, undecided %v; want %s", numbers.token(i), strconv.FormatFloat(v, 'g', -1, 64),
				bit(looks, i), strconv.FormatFloat(want, 'g', -1, 64))
		}
	}
}
