package geojson

import (
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Windowed is the CPU engine with windows of readBytes, or of the usual size where that is 0.
func Windowed(l readers.Layout, readBytes int) readers.Parser {
	return cpu{layout: l, readBytes: readBytes}
}

// Portable is Windowed without what only some processors have.
func Portable(l readers.Layout, readBytes int) readers.Parser {
	return cpu{layout: l, readBytes: readBytes, portable: true}
}

// Parallel is the CPU engine with several workers, each of which reads partBytes in one go; 0 is a single worker.
func Parallel(l readers.Layout, partBytes int) readers.Parser {
	return readertest.Limited(cpu{layout: l}, 2+partBytes%15, partBytes)
}

// SmallDevice is a Device with chunks of so many bytes, on one card or several.
func SmallDevice(chunk int64, cards ...*kernels.Set) (*Device, error) {
	return newDevice(cards, plan{chunk: chunk, lanes: 2, work: 2}, nil)
}

// FaultyDevice is a SmallDevice that tells of faults.
func FaultyDevice(chunk int64, fault func(string, error), cards ...*kernels.Set) (*Device, error) {
	return newDevice(cards, plan{chunk: chunk, lanes: 2, work: 2, arena: 16 * chunk}, fault)
}

// SizedDevice is a Device with chunks of so many bytes, of which so many are on their way and some worked on.
func SizedDevice(k *kernels.Set, chunk int64, lanes, work int) (*Device, error) {
	return newDevice([]*kernels.Set{k}, plan{chunk: chunk, lanes: lanes, work: work, arena: workFactor * chunk}, nil)
}
