package number

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// What NumberKinds says of numbers by their text: one of the first five of each number, and what
// else is so.
const (
	NumberInt32  uint32 = 1 << iota // an integer from -2^31 to 2^31-1
	NumberInt64                     // one from -2^63 to 2^63-1, beyond int32
	NumberUint64                    // one from 2^63 to 2^64-1
	NumberHuge                      // one below -2^63 or beyond 2^64-1
	NumberReal                      // a fraction, an exponent, or both: 1.0 and 1e3

	NumberNegative  // an integer below 0 of the range of int64
	NumberMalformed // not a number of RFC 8259; none of the others is said of it
	NumberRange     // beyond the largest float64: 1e400
	NumberInexact   // an integer that no float64 is
	NumberUndecided // something of the above may be so and is not said: a host is to look
)

// NumberKinds reports which kinds of numbers the tokens text[starts[i]:ends[i]] are, all together.
//
//	text    n bytes
//	starts  one element a token
//	ends    one element a token
//	valid   Words(tokens) words: tokens whose bit is 0 are left out; or none, and all count
//	kinds   one element, overwritten: the bits of all tokens
//
//	token   -0      -12              2147483648   18446744073709551615   9007199254740993    1e3    1e400
//	kinds   Int32   Int32 Negative   Int64        Uint64 Inexact         Int64 Inexact       Real   Real Range
//
// Undecided are tokens of more than 1 KiB; an integer of 39 digits and more that is a multiple of
// 2^74 with fewer than 23 zeros at its end, of which it is not said whether a float64 is exactly
// it; and a number of more than 19 digits so near to the end of float64's range that it is not said
// whether it is in.
//
// One launch; reads 16 bytes a token and the text under it.
func NumberKinds(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	valid kernels.Mask,
	kinds gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "number kinds")
	n := w.CheckText(text)
	count := kernels.CountSpans(w, starts, ends)
	if valid.Len() > 0 {
		w.CheckBits("valid", valid, count)
	}
	w.Need(kinds.Len() == 1, "%d elements for the kinds", kinds.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, kinds, 0)
	}
	w.Launch("number_kinds", kernels.Blocks(count, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		starts.Arg(), ends.Arg(),
		gpu.Int(count), valid.Arg(), kinds.Arg())
	return w.Done()
}

// CountNumberKinds reports how many of the tokens are of one of some kinds, with the arguments of
// NumberKinds.
//
//	want   bits of kinds
//	count  one element, overwritten
//
// One launch that reads what NumberKinds reads.
func CountNumberKinds(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	valid kernels.Mask, want uint32, count gpu.Buffer[int64],
) error {
	w := k.Begin(s, "count number kinds")
	n := w.CheckText(text)
	tokens := kernels.CountSpans(w, starts, ends)
	if valid.Len() > 0 {
		w.CheckBits("valid", valid, tokens)
	}
	w.Need(count.Len() == 1, "%d elements for the count", count.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, count, 0)
	}
	w.Launch("number_kinds_count", kernels.Blocks(tokens, kernels.Block), kernels.Block, text.Arg(),
		gpu.Int(n), starts.Arg(),
		ends.Arg(), gpu.Int(tokens), valid.Arg(), gpu.Int(want), count.Arg())
	return w.Done()
}
