package device

import (
	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/readers"
)

// RingCheck counts rings that are open or short, and short lines, which are kept.
type RingCheck struct{ Polygons, Lines bool }

// Look counts unusual rings, whose positions are rings[i] to rings[i+1] and which are all of
// polygons or all lines. It returns no element if they are neither.
func (o RingCheck) Look(w *Work, x, y gpu.Buffer[float64], rings gpu.Buffer[int64]) (facts gpu.Buffer[kgeom.RingFact]) {
	if !o.Polygons && !o.Lines {
		return facts
	}
	if facts = Alloc[kgeom.RingFact](w, 1); !w.Stopped() {
		w.Try(kgeom.RingFacts(w.K, w.S, x, y, rings, facts))
	}
	return facts
}

// Count adds the counts to a summary, once they have arrived; there may be none.
func (o RingCheck) Count(w *Work, facts gpu.Buffer[kgeom.RingFact], sum *readers.Summary) {
	found := Result(w, facts)
	if len(found) == 0 {
		return
	}
	w.After(func() {
		if o.Polygons {
			sum.UnclosedRings += found[0].Unclosed
			sum.ShortRings += found[0].Few
		}
		if o.Lines {
			sum.ShortLines += found[0].Single
		}
	})
}
