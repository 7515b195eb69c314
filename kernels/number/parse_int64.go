package number

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// ParseInt64 reads the tokens text[starts[i]:ends[i]], each of which is one integer and nothing
// else: no point and no exponent.
//
//	text      n bytes
//	starts    one element a token
//	ends      one element a token
//	out       one element a token
//	valid     Words(tokens) words: bit i says that out[i] is the value of token i
//	overflow  Words(tokens) words: bit i says that token i is an integer that int64 does not hold
//
//	token     "-12"   ""   "1.9"   "-9223372036854775808"   "9223372036854775808"
//	out       -12     0    0       -9223372036854775808     0
//	valid     1       .    .       1                        .
//	overflow  .       .    .       .                        1
//
// Where a token overflows, a reader makes its column wider: ParseFloat64 tells what it is. Tokens
// of more than 1 KiB are not looked at and count as overflow too.
//
// One launch; reads 16 bytes a token and the text under it, writes 8 and a quarter.
func ParseInt64(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], g Grammar,
	out gpu.Buffer[int64], valid, overflow kernels.Mask,
) error {
	w := k.Begin(s, "parse int64")
	n := w.CheckText(text)
	count := kernels.CountSpans(w, starts, ends)
	grammar(w, g)
	w.Need(int64(out.Len()) == count, "%d values for %d tokens", out.Len(), count)
	w.CheckBits("valid", valid, count)
	w.CheckBits("overflow", overflow, count)
	w.Launch("parse_int64", kernels.Blocks(count, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		starts.Arg(), ends.Arg(),
		gpu.Int(count), gpu.Int(g), out.Arg(), valid.Arg(), overflow.Arg())
	return w.Done()
}
