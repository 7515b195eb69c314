package csv

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Windowed returns the CPU engine with windows of readBytes, or of the usual size where that is 0,
// and one worker.
func Windowed(l readers.Layout, readBytes int) readers.Parser {
	return readertest.Limited(parser{dialect: l.Dialect.(*dialect), columns: l.Columns, readBytes: readBytes}, 1, 0)
}

// Single is Windowed without blocks: records are read one by one.
func Single(l readers.Layout, readBytes int) readers.Parser {
	return readertest.Limited(parser{
		dialect: l.Dialect.(*dialect), columns: l.Columns, readBytes: readBytes,
		single: true,
	}, 1, 0)
}

// Parallel returns the CPU engine with several workers, each of which reads partBytes in one go.
func Parallel(l readers.Layout, partBytes int) readers.Parser {
	return readertest.Limited(parser{dialect: l.Dialect.(*dialect), columns: l.Columns}, 2+partBytes%3,
		max(partBytes, 1))
}
