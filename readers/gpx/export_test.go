package gpx

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Windowed returns the CPU engine with windows of readBytes, or of the usual size where that is 0.
func Windowed(l readers.Layout, readBytes int) readers.Parser {
	return parser{layout: l, readBytes: readBytes}
}

// Parallel returns the CPU engine with 2 to 4 workers, each of which reads partBytes in one go; 0
// is a single worker.
func Parallel(l readers.Layout, partBytes int) readers.Parser {
	return readertest.Limited(parser{layout: l}, 2+partBytes%3, partBytes)
}

// Slow returns the CPU engine in which the XML scanner reads all positions, readBytes at a time.
func Slow(l readers.Layout, readBytes int) readers.Parser {
	return parser{layout: l, readBytes: readBytes, slow: true}
}
