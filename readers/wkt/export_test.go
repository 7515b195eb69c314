package wkt

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Windowed returns the CPU engine with windows of readBytes, or of the usual size where that is 0.
func Windowed(l readers.Layout, readBytes int) readers.Parser {
	return readertest.Limited(parser{layout: l, readBytes: readBytes}, 1, 0)
}

// Portable is Windowed without what only some processors have.
func Portable(l readers.Layout, readBytes int) readers.Parser {
	return readertest.Limited(parser{layout: l, readBytes: readBytes, portable: true}, 1, 0)
}

// Parallel returns the CPU engine with several workers, each of which reads partBytes in one go; 0
// is a single worker.
func Parallel(l readers.Layout, partBytes int) readers.Parser {
	return readertest.Limited(parser{layout: l}, 2+partBytes%4, partBytes)
}

// ParallelWindowed is Parallel with windows of 7 bytes.
func ParallelWindowed(l readers.Layout, partBytes int) readers.Parser {
	return readertest.Limited(parser{layout: l, readBytes: 7}, 2+partBytes%4, partBytes)
}

// FirstRow and LastRow are where rows seem to begin in a text.
func FirstRow(text []byte, first int) int { return firstRow(text, first) }

func LastRow(text []byte) int { return lastRow(text) }
