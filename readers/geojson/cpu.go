package geojson

import (
	"cmp"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// cpu is the CPU engine: one pass over the bytes, which decides what every engine gives.
type cpu struct {
	layout    readers.Layout
	readBytes int  // read at a time; 0: windowBytes
	portable  bool // without what only some processors have
}

// Parse reads the whole file, or again a span of rows that an earlier Parse emitted.
func (c cpu) Parse(ctx context.Context, src *source.File, req readers.Request, emit func(readers.Chunk) error) (readers.Summary, error) {
	s := newScanner(ctx, src, req, cmp.Or(c.readBytes, windowBytes), emit)
	s.skipErrors = c.layout.Options.SkipErrors()
	if s.skipErrors {
		s.probe = newSink()
	}
	s.sequence, _ = c.layout.Dialect.(bool)
	s.plainRuns = havePlain && !c.portable
	ok := s.err == nil
	switch {
	case !ok:
	case req.Span.Inside:
		s.state, s.inside = unpackState(req.Span.State), true
		ok = s.span()
	default:
		ok = s.document()
	}
	if !ok {
		return readers.Summary{}, s.error()
	}
	if s.chunk.Row == req.Span.Row && !req.Span.Inside {
		empty := &geoarrow.Columns{Geometry: geoarrow.NullGeometry(0, geoarrow.NoKind, geoarrow.XY)}
		if err := emit(readers.Chunk{Columns: empty}); err != nil {
			return readers.Summary{}, err
		}
	}
	s.sum.BytesRead = s.read
	return s.sum, nil
}

// span reads rows again that make one chunk.
func (s *scanner) span() bool {
	if s.inSequence {
		return s.values(0, true)
	}
	return s.array(0) >= 0
}
