package gml

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
	s := c.scanner(req)
	c.device = c.device.For(req.Span, &s.limits)
	s.sink = newSink(s.schema, c.layout.Columns)
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
		frame, err := c.frame(ctx, src, req)
		if err != nil {
			return readers.Summary{}, err
		}
		s.frame = frame
		ok = s.span(req.Span)
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
	s.sum.BytesRead += s.Read
	s.sum.CRS = s.crs.crs
	s.sum.Layers = s.layers.names
	if s.wanted != "" && !s.layers.has(s.wanted) && !req.Span.Inside {
		return s.sum, &readers.NoLayerError{Name: src.Name, Layer: s.wanted, Layers: s.layers.names}
	}
	empty := func() (*geoarrow.Columns, error) {
		s.sink.Text = nil
		s.sink.Reset()
		columns, err := s.sink.Columns(0)
		if s.sink.Refused() { // the schema declares too many columns
			err = req.Limits.CheckColumns(src.Name, len(s.sink.declared))
		}
		return columns, err
	}
	if err := out.Finish(req.Span, empty); err != nil {
		return readers.Summary{}, err
	}
	return s.sum, nil
}

// rootBytes is how many bytes before the first feature are read at a time.
const rootBytes = 16 << 10

// frame returns the frame of the root's boundedBy for the rows of a span that is read again. If it
// names a system, it is read again too, since spans have no names.
func (c parser) frame(ctx context.Context, src *source.File, req readers.Request) (frame, error) {
	st := unpackState(req.Span.State)
	if !st.named {
		return frame{&system{swapped: st.swapped, unsized: st.size == 0}, int(st.size)}, nil
	}
	s := c.scanner(req)
	s.sink = newSink(s.schema, c.layout.Columns)
	s.onlyHead = true
	if !s.open(ctx, src, 0, src.Size, 0, rootBytes) || !s.document() {
		return frame{}, s.error()
	}
	return s.frame, nil
}

// span reads the rows of one chunk again.
func (s *scanner) span(span readers.Span) bool {
	st := unpackState(span.State)
	s.inside = true
	if span.CRS != nil {
		s.crs = layerCRS{crs: *span.CRS, set: true}
	}
	s.X.ResumeLoose()
	s.X.Encoding, s.wraps, s.names.fme = st.encoding, st.wraps, st.fme
	s.Show()
	s.places = append(s.places[:0], place{})
	return s.walk()
}
