package gpkg

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Parallel returns the CPU engine with 1 to 4 workers and parts of any size.
func Parallel(l readers.Layout, partBytes int) readers.Parser {
	return readertest.Limited(parser{layout: l}, 1+partBytes%4, partBytes)
}
