package esrijson

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Windowed returns the engine with windows of readBytes, or of the usual size where that is 0.
func Windowed(l readers.Layout, readBytes int) readers.Parser {
	return parser{layout: l, readBytes: readBytes}
}

// Portable is Windowed without what only some processors have.
func Portable(l readers.Layout, readBytes int) readers.Parser {
	return parser{layout: l, readBytes: readBytes, portable: true}
}

// Parallel returns the engine with several workers, each of which reads partBytes in one go.
func Parallel(l readers.Layout, partBytes int) readers.Parser {
	return readertest.Limited(parser{layout: l}, 2+partBytes%15, partBytes)
}
