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

// parser is the CPU engine: one pass over the bytes, which defines the result of every engine.
type parser struct {
	layout    readers.Layout
	readBytes int            // bytes read at a time; 0: window.Bytes
	portable  bool           // without optional instructions of the processor
	device    *device.Engine // the GPU engine, or nil
}

// Parse reads the whole file, or a span of rows that an earlier Parse emitted.
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
	// another one may be in a row that is not read again
	s.sum.Appendable = s.sequence && s.inSequence && s.sum.CRS == geoarrow.CRS84
	return s.sum, nil
}

// span reads the rows of one chunk again.
func (s *scanner) span() bool {
	if s.inSequence {
		return s.values(0, true)
	}
	return s.features(0, arrayStart) >= 0
}
