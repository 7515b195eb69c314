package flatgeobuf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine.
type parser struct {
	layout    readers.Layout
	readBytes int // read at a time; 0: window.Bytes
}

// Parse reads the whole file, or a span of features that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	h := c.layout.Dialect.(*header)
	if err := req.Limits.CheckColumns(src.Name, len(h.columns)); err != nil {
		return readers.Summary{}, err
	}
	end := src.Size
	if req.Span.Inside {
		end = req.Span.To
	}
	from := max(req.Span.From, h.first)
	s := c.scanner(req)
	out := parallel.NewOutput(emit)
	s.emit = out.Emit
	s.use(newSink(h, c.layout.Columns))
	s.sink.Text = slices.Clone(req.Span.Text)
	s.sink.Reset()
	s.guess = req.Span.Inside // skipped features have numbers too
	if !s.open(ctx, src, from, end, req.Span.Row, cmp.Or(c.readBytes, window.Bytes)) ||
		!s.file(ctx, c, req, from, end) {
		return readers.Summary{}, s.err
	}
	if !req.Span.Inside {
		if err := s.complete(); err != nil {
			return readers.Summary{}, err
		}
	}
	empty := func() (*geoarrow.Columns, error) { return newSink(h, c.layout.Columns).Columns(0) }
	if err := out.Finish(req.Span, empty); err != nil {
		return readers.Summary{}, err
	}
	s.sum.BytesRead += s.Read
	if !req.Span.Inside {
		s.sum.BytesRead += h.index
	}
	s.sum.CRS = h.crs
	return s.sum, nil
}

// scanner returns a new scanner without a sink.
func (c parser) scanner(req readers.Request) *scanner {
	opts := c.layout.Options
	s := &scanner{
		header: c.layout.Dialect.(*header), limits: req.Limits.WithDefaults(), skip: opts.SkipErrors(),
		nulls: opts.NullErrors(), stop: math.MaxInt64,
	}
	s.most = s.limits.MaxFeatureBytes
	return s
}

// file reads all features, with several workers if there are enough of them.
func (s *scanner) file(ctx context.Context, c parser, req readers.Request, from, end int64) bool {
	span := req.Span
	span.From, span.To = from, end
	if !parallel.Worthwhile(span, &s.limits) {
		return s.features(0)
	}
	w := newWorkers(ctx, c, req, s, from)
	defer w.Close()
	s.err = w.read()
	return s.err == nil
}

// complete compares the number of features with the header's.
func (s *scanner) complete() error {
	missing := s.header.count - s.row
	switch {
	case s.header.count == 0 || missing == 0:
		return nil
	case !s.skip:
		return errorAt(s.Src, s.End, s.row, fmt.Errorf(
			"the file ends after %d features, expected %d, as the header says", s.row, s.header.count,
		))
	}
	s.sum.Add(&readers.Summary{Skipped: readers.SkippedRows{Count: missing, First: []int64{s.End}}})
	return nil
}
