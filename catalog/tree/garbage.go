package tree

import (
	"runtime"
	"runtime/metrics"
)

// garbage bounds the garbage of a list. The answers of a store for a million objects are gigabytes of
// short-lived text, and the collector's target is a multiple of what lives, which is small then.
type garbage struct {
	calls   int
	samples []metrics.Sample
}

const (
	maxGarbage      = 32 << 20 // bytes, from which on the list collects
	callsPerMeasure = 1000     // a page of most stores
)

func newGarbage() *garbage {
	return &garbage{samples: []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"},
	}}
}

// collect is called for each object of a list.
func (g *garbage) collect() {
	if g.calls++; g.calls%callsPerMeasure != 0 {
		return
	}
	metrics.Read(g.samples)
	if objects, live := g.samples[0].Value.Uint64(), g.samples[1].Value.Uint64(); objects > live+maxGarbage {
		runtime.GC()
	}
}
