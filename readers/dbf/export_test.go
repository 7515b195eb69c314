package dbf

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Sized returns the engine with blocks of a size and, where that is not 0, n workers and parts of
// a size.
func Sized(l readers.Layout, block, workers int, part int64) readers.Parser {
	return readertest.Limited(parser{header: l.Dialect.(*Header).Project(l.Columns), blockBytes: max(1, block)},
		workers, int(part))
}
