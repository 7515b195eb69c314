package device

import (
	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/readers"
)

// RingCheck says which geometries there are that have rings or are lines, which may be odd and are
// kept.
type RingCheck struct{ Polygons, Lines bool }

// Look counts what is odd about rings, from rings[i] to rings[i+1] of the positions, which are all
// of polygons or all lines. It gives no element if they are neither.
func (o RingCheck) Look(w *Work, x, y gpu.Buffer[float64], rings gpu.Buffer[int64]) (facts gpu.Buffer[kgeom.RingFact]) {
	if !o.Polygons && !o.Lines {
		return facts
	}
	if facts = Alloc[kgeom.RingFact](w, 1); !w.Stopped() {
		w.Try(kgeom.RingFacts(w.K, w.S, x, y, rings, facts))
	}
	return facts
}

// Count adds facts to a summary, once they are there; they may be none.
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
