package kml

import (
	"cmp"
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine: one pass over the bytes.
type parser struct {
	layout    readers.Layout
	readBytes int            // read at a time; 0: window.Bytes
	device    *device.Engine // that has cards read chunks of Placemarks, or nil
}

// Parse reads the features of a layer of the whole file, or again a span of them that an earlier
// Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if req.Span.To < 0 {
		req.Span.To = src.Size
	}
	if c.device != nil && !c.device.Share(req.Span, &req.Limits) {
		c.device = nil
	}
	s := c.scanner(src, req)
	s.sink.Text = slices.Clone(req.Span.Text)
	if !req.Span.Inside { // else the rows are known to have no column too many
		s.sink.MaxColumns = s.limits.MaxColumns
		s.sink.Follow(readers.NewColumnSet(s.limits))
	}
	s.sink.Reset()
	empty := true
	s.emit = func(chunk readers.Chunk) error {
		empty = false
		return emit(chunk)
	}
	var crew *crew
	if !req.Span.Inside && s.limits.Workers > 1 && req.Span.To-req.Span.From > 2*s.limits.PartBytes {
		crew = c.crew(ctx, src, req, s)
		defer crew.close()
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
	if crew != nil {
		if err := crew.finish(); err != nil {
			return readers.Summary{}, err
		}
	}
	s.asides.addTo(&s.sum)
	s.sum.BytesRead += s.Read
	s.sum.Layers = s.layers.names
	if s.wanted != "" && !s.found && !req.Span.Inside {
		return s.sum, &readers.NoLayerError{Name: src.Name, Layer: s.wanted, Layers: s.layers.names}
	}
	if empty && !req.Span.Inside {
		s.sink.Reset()
		none, err := s.sink.Columns(0)
		if err == nil {
			err = emit(readers.Chunk{Columns: none})
		}
		if err != nil {
			return readers.Summary{}, err
		}
	}
	return s.sum, nil
}

// span reads rows again that make one chunk.
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
