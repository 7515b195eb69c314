package geojson

import (
	"cmp"
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine: one pass over the bytes, which decides what every engine gives.
type parser struct {
	layout    readers.Layout
	readBytes int            // read at a time; 0: window.Bytes
	portable  bool           // without what only some processors have
	device    *device.Engine // the GPU engine, or nil
}

// Parse reads the whole file, or again a span of rows that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if req.Span.To < 0 {
		req.Span.To = src.Size
	}
	s := c.scanner(req)
	s.sink.Text = slices.Clone(req.Span.Text)
	s.sink.Reset()
	out := parallel.NewOutput(emit)
	s.emit = out.Emit
	c.device = c.device.For(req.Span, &s.limits)
	var w *workers
	if parallel.Worthwhile(req.Span, &s.limits) {
		w = newWorkers(ctx, c, src, req, s)
		defer w.Close()
	}
	ok := s.open(ctx, src, req.Span.From, req.Span.To, req.Span.Row, cmp.Or(c.readBytes, window.Bytes))
	switch {
	case !ok:
	case req.Span.Inside:
		s.state, s.inside = unpackState(req.Span.State), true
		ok = s.span()
	case req.Span.From > 0:
		s.state, s.onlyCRS = unpackState(req.Span.State), true
		ok = s.sequenceFrom(0, true)
	default:
		ok = s.document()
	}
	if !ok {
		return readers.Summary{}, s.error()
	}
	if w != nil {
		if err := w.Finish(); err != nil {
			return readers.Summary{}, err
		}
	}
	if err := out.Finish(req.Span, parallel.NoGeometries); err != nil {
		return readers.Summary{}, err
	}
	s.sum.BytesRead += s.Read
	// another one is in a row that may not be read again
	s.sum.Appendable = s.sequence && s.inSequence && s.sum.CRS == geoarrow.CRS84
	return s.sum, nil
}

// span reads rows again that make one chunk.
func (s *scanner) span() bool {
	if s.inSequence {
		return s.values(0, true)
	}
	return s.features(0, arrayStart) >= 0
}
