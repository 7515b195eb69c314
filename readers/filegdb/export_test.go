package filegdb

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Windowed returns the CPU engine with windows of readBytes, or of the usual size where that is 0.
func Windowed(l readers.Layout, readBytes int) readers.Parser {
	return parser{layout: l, readBytes: readBytes}
}

// Parallel returns the CPU engine with 1 to 4 workers and parts of any size.
func Parallel(l readers.Layout, partBytes int) readers.Parser {
	return readertest.Limited(parser{layout: l}, 1+partBytes%4, partBytes)
}
