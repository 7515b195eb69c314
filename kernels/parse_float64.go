package kernels

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
)

//go:generate go run ./internal/powers

// Grammar says what a number may look like. None has NaN, Infinity, hexadecimal or underscores.
type Grammar uint32

const (
	// GrammarJSON is RFC 8259 section 6: no plus, no leading zeros, digits on both sides of a
	// point.
	GrammarJSON Grammar = iota
	// GrammarLenient is what CSV, WKT and DBF hold: also a plus, leading zeros, and ".5" and "5.".
	GrammarLenient
)

// Float64s are the results of ParseFloat64.
type Float64s struct {
	Out       gpu.Buffer[float64] // one element a token
	Valid     Mask                // Words(tokens) words: bit i says that out[i] is the value of token i
	Undecided Mask                // Words(tokens) words: bit i says that ResolveFloat64 is to read token i
}

// ParseFloat64 reads the tokens text[starts[i]:ends[i]], each of which is one number and nothing
// else.
//
//	text    n bytes
//	starts  one element a token
//	ends    one element a token
//	to      overwritten
//
//	token      "-1.5"   ""     "1-2"   "1e999"   "1.00000000000000011102230246251565404"
//	out        -1.5     NaN    NaN     +Inf      NaN
//	valid      1        .      .       .         .
//	undecided  .        .      .       .         1
//
// A value is the float64 next to the number, ties to even, bit for bit what strconv.ParseFloat
// gives; what is too small is rounded to a subnormal or to zero, whose sign stays. A token that is
// no number gives NaN, as does one that does not lie in the text; one beyond the range of float64
// gives an infinity; neither is valid. Undecided, and not valid yet, are numbers of more than 19
// digits that lie next to the middle of two float64, and numbers of more than 1 KiB.
//
// One launch; reads 16 bytes a token and the text under it, writes 8 and a quarter.
func (k *Set) ParseFloat64(s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], g Grammar,
	to Float64s,
) error {
	w := k.begin(s, "parse float64")
	n := w.text(text)
	count := countSpans(w, starts, ends)
	w.grammar(g)
	to.check(w, count)
	w.launch("parse_float64", blocks(count, block), block, text.Arg(), gpu.Int(n), starts.Arg(), ends.Arg(),
		gpu.Int(count), gpu.Int(g), to.Out.Arg(), to.Valid.Arg(), to.Undecided.Arg())
	return w.done()
}

// ResolveFloat64 reads what ParseFloat64 left undecided on the host, sets its values and valid
// bits, and says how many tokens that were. The arguments are those of ParseFloat64, and the bits
// of Undecided stay. It waits for the device; without undecided tokens that is all it does.
//
// The host reads about as many bytes as these tokens have.
func (k *Set) ResolveFloat64(s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], g Grammar,
	to Float64s,
) (resolved int, err error) {
	w := k.begin(s, "resolve float64")
	w.text(text)
	count := countSpans(w, starts, ends)
	w.grammar(g)
	to.check(w, count)
	index := undecided(w, to.Undecided)
	resolved = index.Len()
	batch := newResolving(w, text, resolved)
	for from := 0; from < resolved && w.err == nil; from += resolveBatch {
		some := index.Slice(from, min(from+resolveBatch, resolved))
		numbers := make([]float64, some.Len())
		for i, token := range batch.load(starts, ends, some) {
			v, length, ok := readNumber(token.text, g)
			if !ok || length != len(token.text) {
				v = math.NaN()
			}
			numbers[i] = v
		}
		values := take[float64](w, some.Len())
		upload(w, values, numbers)
		w.launch("parse_float64_settle", blocks(int64(some.Len()), block), block, some.Arg(), values.Arg(),
			gpu.Int(some.Len()), to.Out.Arg(), to.Valid.Arg())
	}
	return resolved, w.done()
}

// check refuses buffers of other lengths than count tokens need.
func (to Float64s) check(w *work, count int64) {
	w.need(int64(to.Out.Len()) == count, "%d values for %d tokens", to.Out.Len(), count)
	w.bits("valid", to.Valid, count)
	w.bits("undecided", to.Undecided, count)
}

// grammar refuses what is none.
func (w *work) grammar(g Grammar) { w.need(g <= GrammarLenient, "grammar %d", g) }
