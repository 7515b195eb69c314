package number_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// checkEachKind compares the kinds of each token by itself.
func checkEachKind(r *kerneltest.Rig, what string, x *kerneltest.Tokens) {
	r.Helper()
	text, starts, ends := kerneltest.Upload(r, x.Text), kerneltest.Upload(r, x.Starts), kerneltest.Upload(r, x.Ends)
	kinds := kerneltest.Poisoned[uint32](r, len(x.Starts))
	for i := range x.Starts {
		r.OK(knumber.NumberKinds(r.Set, r.Stream, text, starts.Slice(i, i+1), ends.Slice(i, i+1),
			kernels.Mask{}, kinds.Slice(i, i+1)))
	}
	for i, got := range kerneltest.Read(r, kinds) {
		if want := kerneltest.NumberKindsOf(x.Token(i)); got != want {
			r.Fatalf("%s: %.400q: got %s, want %s", what, x.Token(i), kerneltest.KindNames(got),
				kerneltest.KindNames(want))
		}
	}
}

func TestNumberKinds(t *testing.T) {
	r := kerneltest.Open(t)
	for _, follow := range []string{"", "0", ".", "e9"} {
		var x kerneltest.Tokens
		for _, token := range kerneltest.KnownIntegers() {
			x.Add(token, follow)
		}
		for _, c := range kerneltest.KnownDecimals {
			x.Add(c.Token, follow)
		}
		for _, token := range []string{
			"1.0", "-1.0", "1e3", "1E400", "-1e400", "1e-400", "17976931348623157e292", "17976931348623159e292",
			"0e400", "0.0e999999999999",
			"1" + strings.Repeat("0", 400) + "e-100", "0." + strings.Repeat("0", 400) + "1e800",
			"1797693134862315807.9e290", "179769313486231580793728971405303415e273", "1.5e", "1.e5", ".5",
			"1.5e+", "1e400x",
		} {
			x.Add(token, follow)
		}
		checkEachKind(r, fmt.Sprintf("followed by %q", follow), &x)
	}
}

func TestNumberKindsOfRandom(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(7, 8))
	const alphabet = "0123456789-+.eE \xb9"
	var x kerneltest.Tokens
	for range 12000 {
		var token []byte
		switch rng.IntN(4) {
		case 0:
			token = kerneltest.AppendDecimal(nil, rng)
		case 1:
			token = strconv.AppendInt(nil, int64(rng.Uint64())>>rng.IntN(64), 10)
		case 2: // exact or nearly so
			v := new(big.Int).Lsh(new(big.Int).SetUint64(rng.Uint64()>>rng.IntN(64)), uint(rng.IntN(200)))
			token = new(big.Int).Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(rng.IntN(30))),
				nil)).Append(nil, 10)
		default:
			token = kerneltest.Random(rng.Uint64(), 1+rng.IntN(60), "0123456789")
		}
		if rng.IntN(8) == 0 {
			token[rng.IntN(len(token))] = alphabet[rng.IntN(len(alphabet))]
		}
		x.Add(string(token), []string{"", ",", "1"}[rng.IntN(3)])
	}
	checkEachKind(r, "random", &x)
}

// The kinds of all tokens are those of each together, whichever count.
func TestNumberKindsTogether(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 5000} {
		var x kerneltest.Tokens
		for range n {
			x.Add(strconv.Itoa(rng.IntN(1000)), ",")
		}
		if n > 0 { // one that stands out, first, last and anywhere
			for _, odd := range []int{0, n - 1, rng.IntN(n)} {
				copy(x.Text[x.Starts[odd]:x.Ends[odd]], "-.e")
			}
		}
		mask := kerneltest.Bitmap(n, func(i int) bool {
			return kerneltest.NumberKindsOf(x.Token(i)) != knumber.NumberMalformed || rng.IntN(3) == 0
		})
		for _, valid := range []kernels.Mask{
			{},
			kerneltest.Upload(r, mask),
			kerneltest.Upload(r, make([]uint64, len(mask))),
		} {
			want := uint32(0)
			for i := range n {
				if valid.Len() == 0 || kerneltest.Bit(kerneltest.Read(r, valid.Slice(i/64, i/64+1)), i%64) {
					want |= kerneltest.NumberKindsOf(x.Token(i))
				}
			}
			kinds := kerneltest.Poisoned[uint32](r, 1)
			r.OK(knumber.NumberKinds(r.Set, r.Stream, kerneltest.Upload(r, x.Text), kerneltest.Upload(r, x.Starts),
				kerneltest.Upload(r, x.Ends), valid, kinds))
			if got := kerneltest.Read(r, kinds)[0]; got != want {
				t.Fatalf("%d tokens: got %s, want %s", n, kerneltest.KindNames(got), kerneltest.KindNames(want))
			}
		}
	}
}

func TestNumberKindsAtTheEndOfText(t *testing.T) {
	r := kerneltest.Open(t)
	for _, number := range []string{"-123456789012345678901234567890123456789012", "-12345.678901234567890123e-12"} {
		var x kerneltest.Tokens
		for length := range len(number) + 1 {
			x = kerneltest.Tokens{}
			x.Add("", strings.Repeat(" ", length%7))
			x.Add(number[:length], "")
			checkEachKind(r, "at the end", &x)
		}
	}
}

func TestNumberKindsOfWrongSpans(t *testing.T) {
	r := kerneltest.Open(t)
	starts, ends := []int64{-1, 8, 1 << 50, 5, 4, -1 << 63}, []int64{3, 11, 1<<50 + 2, 3, 4, 1<<63 - 1}
	for i := range starts {
		kinds := kerneltest.Poisoned[uint32](r, 1)
		r.OK(knumber.NumberKinds(r.Set, r.Stream, kerneltest.Upload(r, []byte("1234567890")),
			kerneltest.Upload(r, starts[i:i+1]),
			kerneltest.Upload(r, ends[i:i+1]), kernels.Mask{}, kinds))
		kerneltest.SameItems(t, fmt.Sprint("span ", i), kerneltest.Read(r, kinds), []uint32{knumber.NumberMalformed})
	}
}

func TestNumberKindsRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text, at, mask, kinds := kerneltest.Upload(r, make([]byte, 100)), kerneltest.Upload(r, make([]int64, 65)),
		kerneltest.Poisoned[uint64](r, 2),
		kerneltest.Poisoned[uint32](r, 2)
	if knumber.NumberKinds(r.Set, r.Stream, text, at, at.Slice(0, 64), mask, kinds.Slice(0, 1)) == nil {
		t.Error("an end too few: no error")
	}
	if knumber.NumberKinds(r.Set, r.Stream, text, at, at, mask.Slice(0, 1), kinds.Slice(0, 1)) == nil {
		t.Error("a short mask: no error")
	}
	if knumber.NumberKinds(r.Set, r.Stream, text, at, at, mask, kinds) == nil {
		t.Error("two kinds: no error")
	}
}

func TestCountNumberKinds(t *testing.T) {
	r := kerneltest.Open(t)
	var text []byte
	var starts, ends []int64
	var inexact int64
	for i := range 1000 {
		starts = append(starts, int64(len(text)))
		token := []string{"1", "9007199254740993", "1.5", "-9007199254740993", "1e3", "18446744073709551615"}[i%6]
		if len(token) > 10 && i%5 > 0 {
			inexact++
		}
		text = append(text, token...)
		ends = append(ends, int64(len(text)))
	}
	count := kerneltest.Poisoned[int64](r, 1)
	valid := kerneltest.Upload(r, kerneltest.Bitmap(1000, func(i int) bool { return i%5 > 0 }))
	r.OK(knumber.CountNumberKinds(r.Set, r.Stream, kerneltest.Upload(r, text), kerneltest.Upload(r, starts),
		kerneltest.Upload(r, ends), valid,
		knumber.NumberInexact, count))
	if got := kerneltest.Read(r, count)[0]; got != inexact {
		t.Errorf("%d inexact, want %d", got, inexact)
	}
}
