package text

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// MarkSpans sets bit i of mask if byte i lies in one of the spans [starts[j], ends[j]) at least.
// Spans may come in any order, overlap, be empty, end before they start, and reach out of the text
// at its end.
//
//	starts  m byte offsets
//	ends    m byte offsets
//	n       bytes of text
//	mask    Words(n) words, overwritten
//
// The time is linear in m and in n, whatever the spans' lengths; reads and writes n/4 bytes.
func MarkSpans(k *kernels.Set, s *gpu.Stream, starts, ends gpu.Buffer[uint32], n int, mask kernels.Mask) error {
	return MarkSomeSpans(k, s, starts, ends, kernels.Mask{}, n, mask)
}

// MarkSomeSpans is MarkSpans for the spans whose bits of among, of Words(m) words, are set; or for
// all, if there is none.
func MarkSomeSpans(k *kernels.Set, s *gpu.Stream, starts, ends gpu.Buffer[uint32], among kernels.Mask,
	n int, mask kernels.Mask,
) error {
	w := k.Begin(s, "mark spans")
	m, words := int64(starts.Len()), int64(mask.Len())
	w.Need(n >= 0, "%d bytes of text", n)
	w.CheckMask("mask", mask, int64(n))
	w.Need(int64(ends.Len()) == m, "%d ends for %d starts", ends.Len(), m)
	w.Need(m <= math.MaxInt32, "%d spans, at most %d", m, math.MaxInt32)
	if among.Len() > 0 {
		w.CheckBits("among", among, m)
	}
	tiles := kernels.Blocks(words, kernels.Block)
	change, tile := kernels.ZeroScratch[int32](w, int(words)), kernels.Scratch[int64](w, int(tiles))
	if w.Err == nil {
		w.Err = gpu.Fill(s, mask, 0)
	}
	w.Launch("mark_edges", kernels.Blocks(m, kernels.Block), kernels.Block, starts.Arg(), ends.Arg(),
		among.Arg(), gpu.Int(m),
		gpu.Int(n), mask.Arg(), change.Arg())
	w.Launch("mark_tiles", tiles, kernels.Block, change.Arg(), gpu.Int(words), tile.Arg())
	kernels.Scan(w, tile, tile, gpu.Buffer[int64]{})
	w.Launch("mark_fill", tiles, kernels.Block, change.Arg(), gpu.Int(words), tile.Arg(), mask.Arg())
	return w.Done()
}
