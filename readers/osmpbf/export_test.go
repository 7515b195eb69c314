package osmpbf

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Parallel returns the CPU engine with 1 to 4 workers. Nodes and ways are on the disk where n is
// odd.
func Parallel(l readers.Layout, n int) readers.Parser {
	p := parser{layout: l}
	if n&1 != 0 {
		p.memory = 1
	}
	return readertest.Limited(p, 1+n/2%4, 0)
}

// Layers are the names of the layers.
var Layers = layerNames
