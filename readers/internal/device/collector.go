package device

import (
	"context"
	"runtime/debug"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser says who parses, and keeps the collector away.
type parser struct{ readers.Parser }

// Engine returns the name of the engine.
func (parser) Engine() string { return "cuda" }

// Parse parses as the format does. A batch that is read again is too little to be worth it.
func (p parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if !req.Span.Inside {
		defer collector.pause()()
	}
	return p.Parser.Parse(ctx, src, req, emit)
}

// collector is Go's, which would run three times while a heap grows to a gigabyte in a twentieth of
// a second, find nothing, make every allocation wait for it, and give memory back that the
// table is about to take: a tenth of the parse. Under way it runs only where memory gets short
// (debug.SetMemoryLimit).
var collector pauses

// pauses are of all parses of the process, which has one collector.
type pauses struct {
	mu      sync.Mutex
	parses  int
	percent int // as it was before the first of them
}

// pause stops the collector until resume is called, and those of all others who paused it.
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
