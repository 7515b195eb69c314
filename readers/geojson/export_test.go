package geojson

import "github.com/vibeflight/vibeflight/readers"

// Windowed is the CPU engine with windows of readBytes, or of the usual size where that is 0.
func Windowed(l readers.Layout, readBytes int) readers.Parser {
	return cpu{layout: l, readBytes: readBytes}
}

// Portable is Windowed without what only some processors have.
func Portable(l readers.Layout, readBytes int) readers.Parser {
	return cpu{layout: l, readBytes: readBytes, portable: true}
}
