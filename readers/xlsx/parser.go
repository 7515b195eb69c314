package xlsx

import (
	"context"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine: one pass over the rows of a sheet. Spans count rows of the table, not
// bytes, since a row that the file leaves out has none.
type parser struct {
	book   *workbook
	layout readers.Layout
}

// Parse reads the rows of a sheet, or those of a chunk that an earlier Parse emitted, for which it
// passes the rows before them again.
func (p parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (sum readers.Summary, err error) {
	i := 0
	if p.layout.Layer != "" {
		if i = slices.Index(p.book.layers, p.layout.Layer); i < 0 {
			return readers.Summary{}, &readers.NoLayerError{
				Name: src.Name, Layer: p.layout.Layer, Layers: p.book.layers,
			}
		}
	}
	limits := req.Limits.WithDefaults()
	part, err := openPart(ctx, src, p.book.sheets[i].part, limits)
	if err != nil {
		return readers.Summary{}, err
	}
	defer func() { err = part.close(err) }()
	r := &sheetReader{part: part, book: p.book, sheet: p.book.sheets[i].name}
	for ok := r.begin(); !r.ended && (!ok || len(r.block.rows) < sampleRows); {
		if ok = ok && r.next(); !ok {
			return readers.Summary{}, r.fault(-1)
		}
	}
	plan, err := newPlan(r)
	if err != nil {
		return readers.Summary{}, err
	}
	out := parallel.NewOutput(emit)
	t := newTable(r, plan, limits, req, p.layout.Columns, out.Emit)
	if err := t.read(); err != nil {
		return readers.Summary{}, err
	}
	empty := func() (*geoarrow.Columns, error) {
		t.reset(0)
		return t.sink.Columns(0)
	}
	if err := out.Finish(req.Span, empty); err != nil {
		return readers.Summary{}, err
	}
	t.sum.BytesRead, t.sum.Layers = r.Read, p.book.layers
	if t.sum.CRS = p.book.geometry.crs; t.sum.CRS == (geoarrow.CRS{}) && t.srid != 0 {
		t.sum.CRS = geoarrow.CRSOfSRID(t.srid)
	}
	return t.sum, nil
}

// read reads all rows of the span, a chunk at a time.
func (t *table) read() error {
	r, first := t.r, 0
	for first < len(r.block.rows) && r.block.rows[first].number < t.plan.first {
		first++
	}
	r.block.drop(first)
	for {
		t.skipKnown()
		if n := t.chunkRows(); n >= 0 {
			if err := t.chunk(n); err != nil || t.next >= t.to {
				return err
			}
			continue
		}
		if r.ended {
			return t.chunk(len(r.block.rows))
		}
		if !r.next() {
			return r.fault(int64(max(0, r.number-t.plan.first)))
		}
		waiting := min(len(r.block.rows), t.limits.BatchRows)
		if err := t.limits.CheckCells(r.part.book.Name, t.span.Row, waiting, r.columns); err != nil {
			return err
		}
	}
}

// skipKnown drops rows before the span.
func (t *table) skipKnown() {
	n := 0
	for n < len(t.r.block.rows) && t.index(n) < t.next {
		n++
	}
	t.r.block.drop(n)
}

// index returns the number of a row of the block in the table.
func (t *table) index(i int) int64 { return int64(t.r.block.rows[i].number - t.plan.first) }

// chunkRows returns how many rows of the block are in the next chunk, or -1 if rows must be read.
func (t *table) chunkRows() int {
	b := &t.r.block
	n := len(b.rows)
	if n == 0 {
		return -1
	}
	end := min(t.to, t.next+int64(t.limits.BatchRows))
	if last := t.index(n - 1); last < end && b.rows[n-1].at-b.rows[0].at < t.limits.BatchBytes &&
		len(b.text) < math.MaxInt32/2 {
		return -1
	}
	i := 0
	for i < n && t.index(i) < end && (i == 0 || b.rows[i].at-b.rows[0].at < t.limits.BatchBytes) {
		i++
	}
	return i
}
