package geojson

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
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
	out := s.Output(req, emit)
	c.device = c.device.For(req.Span, &s.Limits)
	var w *workers
	if parallel.Worthwhile(req.Span, &s.Limits) {
		w = newWorkers(ctx, c, src, req, s)
		defer w.Close()
	}
	ok := s.Start(ctx, src, req.Span.From, req.Span.To, req.Span.Row, c.readBytes)
	switch {
	case !ok:
	case req.Span.Inside:
		ok = s.Span()
	case req.Span.From > 0:
		s.State, s.onlyCRS = jsonrows.UnpackState(req.Span.State), true
		ok = s.Sequence(0, true)
	default:
		ok = s.document()
	}
	if !ok {
		return readers.Summary{}, s.Error()
	}
	if w != nil {
		if err := w.Finish(); err != nil {
			return readers.Summary{}, err
		}
	}
	if err := out.Finish(req.Span, parallel.NoGeometries); err != nil {
		return readers.Summary{}, err
	}
	s.Sum.BytesRead += s.Read
	// another one may be in a row that is not read again
	s.Sum.Appendable = s.sequence && s.InSequence && s.Sum.CRS == geoarrow.CRS84
	return s.Sum, nil
}
