package geom

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// RingFact counts rings that are not as RFC 7946 section 3.1.6 wants them, or lines that are not as
// section 3.1.4 does. A ring may count as several.
type RingFact struct {
	// rings whose first position is not their last one, by x and y. One of no position is not one of
	// these, one of a NaN is
	Unclosed int64
	Few      int64 // of fewer than 4 positions, or of none
	Single   int64 // of one position
}

// RingFacts counts odd rings, or lines. Where they are written as WKB of several kinds, WriteWKB
// does, by their kinds.
//
//	x, y   of positions
//	rings  m+1 offsets: ring i is the positions from rings[i] to rings[i+1]
//	facts  one element, overwritten
//
//	x      0 1 1 0 | 5 6 | 7      y all 0
//	rings  0 4 6 7                Unclosed 1, Few 2, Single 1
//
// Numbers are compared as Go compares them: 0 is -0. Reads 8 bytes and two positions a ring. A ring
// whose positions are not there is not unclosed.
func RingFacts(k *kernels.Set, s *gpu.Stream, x, y gpu.Buffer[float64], rings gpu.Buffer[int64],
	facts gpu.Buffer[RingFact],
) error {
	w := k.Begin(s, "ring facts")
	m := int64(rings.Len()) - 1
	w.Need(x.Len() == y.Len(), "%d and %d ordinates", x.Len(), y.Len())
	w.Need(m >= 0, "no offset")
	w.Need(facts.Len() == 1, "%d elements for the facts", facts.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, facts, 0)
	}
	w.Launch("ring_facts", kernels.Blocks(m, kernels.Block), kernels.Block, x.Arg(), y.Arg(), gpu.Int(x.Len()),
		rings.Arg(),
		gpu.Int(m), facts.Arg())
	return w.Done()
}
