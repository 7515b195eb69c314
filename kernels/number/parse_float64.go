package number

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

//go:generate go run ../internal/powers

// Grammar is what a number may look like. None has NaN, Infinity, hexadecimal or underscores.
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
	Valid     kernels.Mask        // Words(tokens) words: bit i says that out[i] is the value of token i
	Undecided kernels.Mask        // Words(tokens) words: bit i says that ResolveFloat64 is to read token i
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
func ParseFloat64(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], g Grammar,
	to Float64s,
) error {
	w := k.Begin(s, "parse float64")
	n := w.CheckText(text)
	count := kernels.CountSpans(w, starts, ends)
	grammar(w, g)
	to.Check(w, count)
	w.Launch("parse_float64", kernels.Blocks(count, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		starts.Arg(), ends.Arg(),
		gpu.Int(count), gpu.Int(g), to.Out.Arg(), to.Valid.Arg(), to.Undecided.Arg())
	return w.Done()
}

// ResolveFloat64 reads what ParseFloat64 left undecided on the host, sets its values and valid
// bits, and says how many tokens that were. The arguments are those of ParseFloat64, and the bits
// of Undecided stay. It waits for the device; without undecided tokens that is all it does.
//
// The host reads about as many bytes as these tokens have.
func ResolveFloat64(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], g Grammar,
	to Float64s,
) (resolved int, err error) {
	w := k.Begin(s, "resolve float64")
	w.CheckText(text)
	count := kernels.CountSpans(w, starts, ends)
	grammar(w, g)
	to.Check(w, count)
	index := kernels.Undecided(w, to.Undecided)
	resolved = index.Len()
	batch := kernels.NewHostReader(w, text, resolved)
	for from := 0; from < resolved && w.Err == nil; from += kernels.HostBatch {
		some := index.Slice(from, min(from+kernels.HostBatch, resolved))
		numbers := make([]float64, some.Len())
		for i, token := range batch.Load(starts, ends, some) {
			v, length, ok := ReadNumber(token.Text, g)
			if !ok || length != len(token.Text) {
				v = math.NaN()
			}
			numbers[i] = v
		}
		values := kernels.Scratch[float64](w, some.Len())
		kernels.Upload(w, values, numbers)
		w.Launch("parse_float64_resolve", kernels.Blocks(int64(some.Len()), kernels.Block), kernels.Block,
			some.Arg(), values.Arg(),
			gpu.Int(some.Len()), to.Out.Arg(), to.Valid.Arg())
	}
	return resolved, w.Done()
}

// Check refuses buffers of other lengths than count tokens need.
func (to Float64s) Check(w *kernels.Call, count int64) {
	w.Need(int64(to.Out.Len()) == count, "%d values for %d tokens", to.Out.Len(), count)
	w.CheckBits("valid", to.Valid, count)
	w.CheckBits("undecided", to.Undecided, count)
}

// grammar refuses what is not a number.
func grammar(w *kernels.Call, g Grammar) { w.Need(g <= GrammarLenient, "grammar %d", g) }
