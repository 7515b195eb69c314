package kml

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

// parser is the CPU engine: one pass over the bytes.
type parser struct {
	layout    readers.Layout
	readBytes int            // bytes read at a time; 0: window.Bytes
	device    *device.Engine // the GPU engine, or nil
}

// Parse reads the features of a layer of the whole file, or a span of them that an earlier Parse
// emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if req.Span.To < 0 {
		req.Span.To = src.Size
	}
	c.device = c.device.For(req.Span, &req.Limits)
	s := c.scanner(src, req)
	s.sink.Text = slices.Clone(req.Span.Text)
	if !req.Span.Inside { // otherwise the rows are known to have few enough columns
		s.sink.MaxColumns = s.limits.MaxColumns
		s.sink.Follow(readers.NewColumnSet(s.limits))
	}
	s.sink.Reset()
	out := parallel.NewOutput(emit)
	s.emit = out.Emit
	var w *workers
	if parallel.Worthwhile(req.Span, &s.limits) {
		w = newWorkers(ctx, c, src, req, s)
		defer w.Close()
	}
	ok := s.open(ctx, src, req.Span.From, req.Span.To, req.Span.Row, cmp.Or(c.readBytes, window.Bytes))
	switch {
	case !ok:
	case req.Span.Inside:
		ok = s.span(ctx, c, req)
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
	s.asides.addTo(&s.sum)
	s.sum.BytesRead += s.Read
	s.sum.Layers = s.layers.names
	if s.wanted != "" && !s.found && !req.Span.Inside {
		return s.sum, &readers.NoLayerError{Name: src.Name, Layer: s.wanted, Layers: s.layers.names}
	}
	empty := func() (*geoarrow.Columns, error) {
		s.sink.Reset()
		return s.sink.Columns(0)
	}
	if err := out.Finish(req.Span, empty); err != nil {
		return readers.Summary{}, err
	}
	return s.sum, nil
}

// span reads the rows of one chunk again.
func (s *scanner) span(ctx context.Context, c parser, req readers.Request) bool {
	st := unpackState(req.Span.State)
	if st.header > 0 {
		t := c.scanner(s.Src, req)
		t.headerOnly = true
		if !t.open(ctx, s.Src, 0, st.header, 0, cmp.Or(c.readBytes, window.Bytes)) || !t.document() &&
			(t.Failed != nil || t.X.Fault.Pos < t.N) {
			s.Failed = t.error()
			return false
		}
		s.schemas = t.schemas
	}
	s.inside, s.found, s.header = true, true, st.header
	s.home.Resume(st.depth)
	s.X.ResumeIn(&s.home)
	s.X.Encoding = st.encoding
	s.Show()
	s.containers = append(s.containers, container{numbered: true, chosen: true})
	return s.walk()
}
