package wkt

import (
	"cmp"
	"context"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
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

// Parse reads the whole file, rows after known ones, or a span of rows that an earlier Parse
// emitted. It does not need the Span's State: a file that has an SRID is not Appendable.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if req.Span.To < 0 {
		req.Span.To = src.Size
	}
	s := c.scanner(req)
	c.device = c.device.For(req.Span, &s.limits)
	s.sink = rows.NewSink()
	out := parallel.NewOutput(emit)
	s.emit = out.Emit
	if !s.open(ctx, src, req.Span.From, req.Span.To, req.Span.Row, cmp.Or(c.readBytes, window.Bytes)) ||
		!s.file(ctx, c, req) {
		return readers.Summary{}, s.error()
	}
	if err := out.Finish(req.Span, parallel.NoGeometries); err != nil {
		return readers.Summary{}, err
	}
	s.sum.BytesRead += s.Read
	s.sum.Appendable = s.closed && s.known == 0
	if s.sum.CRS, _ = c.layout.Dialect.(geoarrow.CRS); s.sum.CRS == (geoarrow.CRS{}) && s.known != 0 {
		s.sum.CRS = geoarrow.CRSOfSRID(s.known)
	}
	return s.sum, nil
}

// scanner returns a new scanner without a sink.
func (c parser) scanner(req readers.Request) *scanner {
	s := &scanner{limits: req.Limits.WithDefaults(), stop: math.MaxInt64}
	s.sum.Foreign = map[string]int64{}
	o := c.layout.Options
	s.skipErrors, s.nulls, s.repairs = o.SkipErrors(), o.NullErrors(), o.Repairs()
	s.plainRuns = positions.Have && !c.portable
	return s
}

// file reads all rows, with several workers if there is enough for them.
func (s *scanner) file(ctx context.Context, c parser, req readers.Request) bool {
	p := s.start(req.Span.From)
	if p < 0 {
		return false
	}
	if !parallel.Worthwhile(req.Span, &s.limits) {
		return s.rows(p)
	}
	if p = s.between(p); p < 0 {
		return false
	}
	if p == s.N {
		return true
	}
	w := newWorkers(ctx, c, req, s, s.Base+int64(p))
	defer w.Close()
	s.err = w.read()
	return s.err == nil
}

// start skips the byte order mark, if the file is read from its first byte.
func (s *scanner) start(from int64) int {
	for from == 0 && s.N < len(byteOrderMark) && !s.EOF {
		if s.refill(0) < 0 {
			return -1
		}
	}
	if from == 0 && s.Has(0, byteOrderMark) {
		return len(byteOrderMark)
	}
	return 0
}
