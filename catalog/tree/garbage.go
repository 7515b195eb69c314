package tree

import (
	"runtime"
	"runtime/metrics"
)

// garbage bounds what is allocated for each of very many files, and lives for a moment: the answers
// of a store, and the entries for a client. It is gigabytes for a million files. The collector alone
// would begin at a multiple of what lives, since GOGC is made for parses.
type garbage struct {
	calls   int
	samples []metrics.Sample
}

const (
	maxGarbage      = 32 << 20 // bytes, if half of what lives is not more
	callsPerMeasure = 1000     // a page of most stores
)

func newGarbage() *garbage {
	return &garbage{samples: []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"},
	}}
}

// collect is called for each file.
func (g *garbage) collect() {
	if g.calls++; g.calls%callsPerMeasure != 0 {
		return
	}
	metrics.Read(g.samples)
	objects, live := g.samples[0].Value.Uint64(), g.samples[1].Value.Uint64()
	if objects > live+max(maxGarbage, live/2) {
		runtime.GC()
	}
}
