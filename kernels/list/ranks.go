package list

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Ranks counts the set bits before any byte of a mask.
type Ranks struct {
	mask   kernels.Mask
	before gpu.Buffer[int64] // a word more than the mask has: set bits before it
}

// Rank counts the bits of mask, which must live as long as the result; Free gives that back. It
// takes as much memory as the mask.
//
// Four launches; reads n/8 bytes and writes and scans as many.
func Rank(k *kernels.Set, s *gpu.Stream, mask kernels.Mask) (*Ranks, error) {
	w := k.Begin(s, "rank")
	words := int64(mask.Len())
	r := &Ranks{mask: mask, before: kernels.Result[int64](w, words+1)}
	w.Launch("ranks_words", kernels.Blocks(words+1, kernels.Block), kernels.Block, mask.Arg(), gpu.Int(words),
		r.before.Arg())
	if w.Err == nil {
		kernels.Scan(w, r.before, r.before, gpu.Buffer[int64]{})
	}
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, r.Free(s))
	}
	return r, nil
}

// Total is one element: how many bits are set.
func (r *Ranks) Total() gpu.Buffer[int64] { return r.before.Slice(r.mask.Len(), r.mask.Len()+1) }

// Free gives the memory back once the work that s was given before is done.
func (r *Ranks) Free(s *gpu.Stream) error { return r.before.Free(s) }

// RankSpans makes spans of a text spans of what Compact keeps of it by the mask that r was made of.
//
//	starts  m byte offsets in the text, overwritten
//	ends    likewise
//
//	text    {"a":  [ 1 ]}
//	kept    .......1.1.1.
//	span           7    12, afterwards 0 and 3
//
// One launch; reads 32 bytes a span, and writes 16.
func RankSpans(k *kernels.Set, s *gpu.Stream, r *Ranks, starts, ends gpu.Buffer[int64]) error {
	w := k.Begin(s, "rank spans")
	count := kernels.CountSpans(w, starts, ends)
	w.Launch("ranks_spans", kernels.Blocks(count, kernels.Block), kernels.Block, r.mask.Arg(), gpu.Int(r.mask.Len()),
		r.before.Arg(), gpu.Int(count), starts.Arg(), ends.Arg())
	return w.Done()
}
