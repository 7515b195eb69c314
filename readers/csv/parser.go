package csv

import (
	"cmp"
	"context"
	"math"
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
	dialect   *dialect
	columns   readers.Projection
	readBytes int            // bytes read at a time; 0: window.Bytes
	single    bool           // records are read one by one, none in blocks
	device    *device.Engine // the GPU engine, or nil
}

// Parse reads the whole file, the records after known ones, or a span of records that an earlier
// Parse emitted. It does not need the Span's State: a file that has an SRID is not Appendable.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if req.Span.To < 0 {
		req.Span.To = src.Size
	}
	if err := req.Limits.CheckColumns(src.Name, len(c.dialect.names)); err != nil {
		return readers.Summary{}, err
	}
	req.Span.From = max(req.Span.From, c.dialect.first)
	if c.dialect.charset != nil { // a byte may become three, and the offsets of a batch fit 32 bits
		req.Limits.BatchBytes = max(1, req.Limits.WithDefaults().BatchBytes/decodedBytes)
	}
	s := c.scanner(req)
	if c.dialect.onDevice() {
		c.device = c.device.For(req.Span, &s.limits)
	} else {
		c.device = nil
	}
	s.sink = newSink(c.dialect, c.columns)
	s.sink.Text = slices.Concat(s.sink.Text, req.Span.Text)
	s.sink.Reset()
	out := parallel.NewOutput(emit)
	s.emit = out.Emit
	if !s.open(ctx, src, req.Span.From, req.Span.To, req.Span.Row, cmp.Or(c.readBytes, window.Bytes)) ||
		!s.file(ctx, c, req) {
		return readers.Summary{}, s.failure()
	}
	empty := func() (*geoarrow.Columns, error) { return newSink(c.dialect, c.columns).Columns(0) }
	if err := out.Finish(req.Span, empty); err != nil {
		return readers.Summary{}, err
	}
	s.sum.BytesRead += s.Read
	s.sum.Appendable = c.dialect.final && s.closed && s.srid == 0
	if s.sum.CRS = c.dialect.crs; s.sum.CRS == (geoarrow.CRS{}) && s.srid != 0 {
		s.sum.CRS = geoarrow.CRSOfSRID(s.srid)
	}
	if s.sum.CRS == (geoarrow.CRS{}) {
		s.sum.CRS = c.dialect.prj
	}
	return s.sum, nil
}

// decodedBytes is how many bytes of UTF-8 a byte of another encoding takes at most, plus one.
const decodedBytes = 4

// scanner returns a new scanner without a sink.
func (c parser) scanner(req readers.Request) *scanner {
	s := &scanner{limits: req.Limits.WithDefaults(), stop: math.MaxInt64}
	s.text.dialect, s.text.decoder = c.dialect, newDecoder(c.dialect.charset)
	s.mend = c.dialect.repair
	s.wkt.MaxDepth = s.limits.MaxDepth
	if c.single {
		s.single = math.MaxInt
	}
	if c.dialect.skipErrors {
		s.probe = newSink(c.dialect, c.columns)
	}
	return s
}

// file reads all records, with several workers if there is enough for them.
func (s *scanner) file(ctx context.Context, c parser, req readers.Request) bool {
	if !parallel.Worthwhile(req.Span, &s.limits) {
		return s.records(0)
	}
	p := s.lineEnds(0)
	if p < 0 || p == s.N {
		s.err = s.Err
		return p >= 0
	}
	w := newWorkers(ctx, c, req, s, s.Base+int64(p))
	defer w.Close()
	s.err = w.read()
	return s.err == nil
}
