package device

import (
	"context"
	"runtime/debug"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser names the engine, and pauses the garbage collector during a parse.
type parser struct{ readers.Parser }

// Engine returns the name of the engine.
func (parser) Engine() string { return "cuda" }

// Parse calls the format's parser. For a single batch that is read again, a pause is not
// worthwhile.
func (p parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if !req.Span.Inside {
		defer collector.pause()()
	}
	return p.Parser.Parse(ctx, src, req, emit)
}

// collector controls Go's garbage collector. While a heap grows to a gigabyte in a twentieth of a
// second, it would run three times, free nothing, delay every allocation, and return memory that
// the table is about to use: a tenth of the parse. During a pause it runs only if memory gets short
// (debug.SetMemoryLimit).
var collector pauses

// pauses counts the parses of the process, which has one collector.
type pauses struct {
	mu      sync.Mutex
	parses  int
	percent int // setting before the first of them
}

// pause stops the collector until every pause was resumed.
func (p *pauses) pause() (resume func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parses++; p.parses == 1 {
		p.percent = debug.SetGCPercent(-1)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.parses--; p.parses == 0 {
			debug.SetGCPercent(p.percent)
		}
	}
}

// running returns the number of parses that are in progress.
func (p *pauses) running() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.parses)
}
