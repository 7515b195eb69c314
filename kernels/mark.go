package kernels

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
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
func (k *Set) MarkSpans(s *gpu.Stream, starts, ends gpu.Buffer[uint32], n int, mask Mask) error {
	return k.MarkSomeSpans(s, starts, ends, Mask{}, n, mask)
}

// MarkSomeSpans is MarkSpans for the spans whose bits of among, of Words(m) words, are set; or for
// all, if there is none.
func (k *Set) MarkSomeSpans(s *gpu.Stream, starts, ends gpu.Buffer[uint32], among Mask, n int, mask Mask) error {
	w := k.begin(s, "mark spans")
	m, words := int64(starts.Len()), int64(mask.Len())
	w.need(n >= 0, "%d bytes of text", n)
	w.mask("mask", mask, int64(n))
	w.need(int64(ends.Len()) == m, "%d ends for %d starts", ends.Len(), m)
	w.need(m <= math.MaxInt32, "%d spans, at most %d", m, math.MaxInt32)
	if among.Len() > 0 {
		w.bits("among", among, m)
	}
	tiles := blocks(words, block)
	change, tile := zeros[int32](w, int(words)), take[int64](w, int(tiles))
	if w.err == nil {
		w.err = gpu.Fill(s, mask, 0)
	}
	w.launch("mark_edges", blocks(m, block), block, starts.Arg(), ends.Arg(), among.Arg(), gpu.Int(m),
		gpu.Int(n), mask.Arg(), change.Arg())
	w.launch("mark_tiles", tiles, block, change.Arg(), gpu.Int(words), tile.Arg())
	scan(w, tile, tile, gpu.Buffer[int64]{})
	w.launch("mark_fill", tiles, block, change.Arg(), gpu.Int(words), tile.Arg(), mask.Arg())
	return w.done()
}
