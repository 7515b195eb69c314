package gpkg

import (
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine.
type parser struct {
	layout readers.Layout
}

// Parse reads the rows of a layer, or a span of them that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	p := c.layout.Dialect.(*geoPackage)
	l := p.find(c.layout.Layer)
	if l == nil {
		return readers.Summary{Layers: p.names()},
			&readers.NoLayerError{Name: src.Name, Layer: c.layout.Layer, Layers: p.names()}
	}
	t, err := l.open(ctx, p)
	if err != nil {
		return readers.Summary{}, faultOf(src, -1, err)
	}
	attributes := len(t.columns)
	if t.geometry >= 0 {
		attributes--
	}
	if err := req.Limits.CheckColumns(src.Name, attributes); err != nil {
		return readers.Summary{}, err
	}
	s := c.scanner(ctx, src, t, req.Limits)
	from, end := req.Span.From, s.cursor.End()
	if req.Span.Inside {
		end = req.Span.To
	}
	s.announce(from, end)
	out := parallel.NewOutput(emit)
	s.emit = out.Emit
	s.use(newSink(t, c.layout.Columns))
	s.sink.Text = slices.Clone(req.Span.Text)
	s.sink.Reset()
	if !s.file(ctx, c, req, from, end) {
		return readers.Summary{}, s.err
	}
	empty := func() (*geoarrow.Columns, error) { return newSink(t, c.layout.Columns).Columns(0) }
	if err := out.Finish(req.Span, empty); err != nil {
		return readers.Summary{}, err
	}
	s.sum.BytesRead += s.cursor.Read
	s.sum.CRS, s.sum.Layers = t.crs, p.names()
	return s.sum, nil
}

// scanner returns a new scanner without a sink.
func (c parser) scanner(ctx context.Context, src *source.File, t *table, limits readers.Limits) *scanner {
	opts := c.layout.Options
	db := c.layout.Dialect.(*geoPackage).db
	s := &scanner{
		ctx: ctx, src: src, db: db, table: t, cursor: db.Cursor(t.leaves), limits: limits.WithDefaults(),
		skip: opts.SkipErrors(), nulls: opts.NullErrors(), linearize: opts.Get(optionCurves) == "linearize",
	}
	s.cursor.MaxBytes = s.limits.MaxFeatureBytes
	return s
}

// announce says which pages will be read.
func (s *scanner) announce(from, end int64) {
	size := int64(s.db.PageSize)
	n := int64(len(s.table.leaves))
	s.db.Prefetch(s.table.leaves[min(n, from/size):min(n, (end+size-1)/size)])
}

// file reads all rows, with several workers if there are enough of them.
func (s *scanner) file(ctx context.Context, c parser, req readers.Request, from, end int64) bool {
	span := req.Span
	span.From, span.To = from, end
	limits := s.limits
	limits.PartBytes = s.partBytes(span)
	if !parallel.Worthwhile(span, &limits) {
		return s.open(from, end, req.Span.Row) && s.rows()
	}
	s.limits = limits
	w := newWorkers(ctx, c, req, s, end)
	defer w.Close()
	s.err = w.read(from)
	return s.err == nil
}

// samples is how many leaf pages partBytes looks at.
const samples = 8

// partBytes returns the length of parts, which counts only leaf pages. Where rows have overflow
// pages, parts are shorter.
func (s *scanner) partBytes(span readers.Span) int64 {
	n := len(s.table.leaves)
	size := s.limits.PartBytes
	if span.Inside || s.limits.Workers < 2 || int64(s.db.Pages) < 2*int64(n) {
		return size
	}
	var pages, bytes int64
	for i := range min(n, samples) {
		at := int64(i*n/min(n, samples)) * int64(s.db.PageSize)
		payload, err := s.cursor.Payload(at)
		if err != nil {
			return size // it is an error where the rows are read
		}
		pages++
		bytes += payload
	}
	if pages == 0 || bytes <= pages*int64(s.db.PageSize) {
		return size
	}
	return max(1, size*pages*int64(s.db.PageSize)/bytes)
}
