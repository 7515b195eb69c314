package gpx

import (
	"cmp"
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine: one pass over the bytes.
type parser struct {
	layout    readers.Layout
	readBytes int  // bytes read at a time; 0: window.Bytes
	slow      bool // the XML scanner reads all positions
}

// Parse reads the rows of a layer of the whole file, or a span of them that an earlier Parse
// emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if req.Span.To < 0 {
		req.Span.To = src.Size
	}
	s := c.scanner(req)
	out := parallel.NewOutput(emit)
	s.emit = out.Emit
	var w *workers
	defer func() {
		if w != nil {
			w.Close()
		}
	}()
	s.begin = func() {
		if parallel.Worthwhile(req.Span, &s.limits) {
			w = newWorkers(ctx, c, src, req, s)
			return
		}
		s.sink = newSink(s.header, c.layout.Columns)
		s.sink.Text = slices.Clone(req.Span.Text)
		if !req.Span.Inside { // otherwise the rows are known to have few enough columns
			s.sink.MaxColumns = s.limits.MaxColumns
			s.sink.Follow(readers.NewColumnSet(s.limits))
		}
		s.sink.Reset()
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
	if s.first == noLayer {
		s.first = waypoints
	}
	if s.sink == nil && s.wanted == "" {
		s.choose(s.first)
	}
	if w != nil {
		if err := w.Finish(); err != nil {
			return readers.Summary{}, err
		}
	}
	s.sum.BytesRead += s.Read
	s.sum.Layers = layerList(s.first)
	if s.sink == nil {
		return s.sum, &readers.NoLayerError{Name: src.Name, Layer: s.wanted, Layers: s.sum.Layers}
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
	st, known := unpackState(req.Span.State)
	s.header, s.inside = st.header, true
	if s.header.layer >= layers {
		s.header.layer = waypoints // a State of no parse
	}
	if s.at = st.place; !known {
		t := c.scanner(req)
		t.wanted, t.counting, t.stop = layerNames[s.header.layer], true, req.Span.From
		if !t.open(ctx, s.Src, 0, s.Src.Size, 0, cmp.Or(c.readBytes, window.Bytes)) || !t.document() {
			s.Failed = t.error()
			return false
		}
		s.at = t.at
	} else {
		s.at.number--
	}
	s.begin()
	s.depth = rowElements[s.header.layer].depth
	s.X.ResumeLoose()
	s.X.Encoding = st.encoding
	s.Show()
	return s.walk()
}
