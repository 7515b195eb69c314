package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Selection is the part of a table that is asked for. Rows, BBox and Limit apply in this order.
type Selection struct {
	Columns []string // in this order; nil: all
	// xmin ymin xmax ymax, closed: rows whose geometry's bounding box meets it; no null or empty
	// geometry does
	BBox     *[4]float64
	Rows     *[2]int64 // half-open range of the file's rows, clipped to them
	Limit    *int64    // at most so many rows
	Encoding geoarrow.Encoding

	// CRS is what the table's reference system shall be called; empty: by its own name. Tables have
	// x first, so that OGC:CRS84 and EPSG:4326 are two names of one. Any other one gives an
	// *OtherCRSError.
	CRS string
	// CRS84As is what OGC:CRS84 is called where CRS says nothing; empty: by its own name.
	CRS84As geoarrow.CRS
}

// Reads is the columns that it takes to select, those that choose rows among them; nil: all. It is
// what a Request for the selection asks for.
func (sel Selection) Reads() []string {
	if sel.Columns == nil || sel.BBox == nil || slices.Contains(sel.Columns, readers.GeometryColumn) {
		return sel.Columns
	}
	return append(slices.Clone(sel.Columns), readers.GeometryColumn)
}

// Scan walks the selected part of a table, batch by batch. It is for one goroutine; any number of
// scans share a table.
type Scan struct {
	table *readers.Table
	// gives an equal table in place of a damaged one; may be nil
	repair func(ctx context.Context, why error) (*readers.Table, error)
	// gives the batches as they are parsed, until it does not any more and finish gives the table;
	// nil: the table is there
	live   *partialTable
	finish func(ctx context.Context) (*readers.Table, error)
	// says, beside live, whether the file is still the one that the rows came from
	sound func(ctx context.Context) error
	// gives batch i of a table that is not there; nil: it is, or live gives them
	fetch func(ctx context.Context, i int) (*geoarrow.Columns, error)
	// of a table that is not there; nil: it is, or not all is known
	outline *outline
	view    *view
	bbox    *[4]float64
	pieces  []piece
	next    int   // piece
	left    int64 // rows that the limit still allows
}

// piece is what the row range and the boxes of batches leave of one batch.
type piece struct {
	batch    int     // its number
	from, to int     // rows of the batch, from < to
	matched  bool    // rows is known: the bbox was asked
	rows     []int32 // of the batch that match the bbox, ascending
}

// NewScan prepares a scan. A column that the table does not have gives an *UnknownColumnError.
// Nothing is copied, and batches outside of the row range are not touched.
func NewScan(t *readers.Table, sel Selection) (*Scan, error) {
	v, err := newView(t, sel)
	if err != nil {
		return nil, err
	}
	return v.scan(t, sel), nil
}

// scan prepares a scan of the table that the view is of.
func (v *view) scan(t *readers.Table, sel Selection) *Scan {
	s := &Scan{table: t, view: v, bbox: sel.BBox, left: math.MaxInt64}
	if sel.Limit != nil {
		s.left = max(0, *sel.Limit)
	}
	from, to := int64(0), t.Rows
	if sel.Rows != nil {
		from, to = max(0, sel.Rows[0]), min(t.Rows, sel.Rows[1])
	}
	if s.bbox != nil && (t.BBox == nil || !meets(*s.bbox, *t.BBox)) {
		to = from
	}
	s.pieces = cut(t, from, to)
	if s.bbox != nil && t.Boxes != nil {
		s.pieces = slices.DeleteFunc(s.pieces, func(p piece) bool { return !meets(*s.bbox, t.Boxes[p.batch]) })
	}
	return s
}

// Scan is NewScan of a table that is held. If the file of the table turns out to be damaged while
// the scan goes on, the data file is parsed again, and the scan goes on in the new table, which is
// equal.
func (c *Catalog) Scan(h *TableRef, sel Selection) (*Scan, error) {
	if h.parsed != nil && !h.parsed.columns.Covers(readers.Project(sel.Reads())) {
		return nil, fmt.Errorf("%s: the table was requested without some of columns %q", h.Entry.Name, sel.Reads())
	}
	v, err := h.view(sel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Entry.Name, err)
	}
	s := v.scan(h.Table, sel)
	s.repair = func(ctx context.Context, why error) (*readers.Table, error) { return c.replace(ctx, h, why) }
	return s, nil
}

// cut gives the parts of batches that rows [from, to) of the table touch.
func cut(t *readers.Table, from, to int64) []piece {
	if from >= to {
		return nil
	}
	// Starts is 0, 65536, 131072, …: the last batch that starts at or before from holds it.
	first, exact := slices.BinarySearch(t.Starts, from)
	if !exact {
		first--
	}
	end, _ := slices.BinarySearch(t.Starts, to)
	pieces := make([]piece, 0, end-first)
	for i := first; i < len(t.Batches) && t.Starts[i] < to; i++ {
		p := piece{batch: i, from: int(max(0, from-t.Starts[i])), to: int(min(t.Starts[i+1], to) - t.Starts[i])}
		if p.from < p.to {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// meets reports whether two closed boxes have a point in common.
func meets(a, b [4]float64) bool { return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3] }

// Schema is exactly the schema of every record.
func (s *Scan) Schema() *arrow.Schema { return s.view.schema }

// SchemaMessage gives what encode makes of the schema, which nobody changes. Scans of the same
// columns of a table that is kept share it, as long as it is kept.
func (s *Scan) SchemaMessage(encode func(*arrow.Schema) ([]byte, error)) ([]byte, error) {
	return s.view.encoded(encode)
}

// Next gives the next record, which the caller releases, or io.EOF. No record is without rows.
// Whole batches are not copied.
func (s *Scan) Next(ctx context.Context) (arrow.Record, error) {
	for s.next < len(s.pieces) && s.left > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := &s.pieces[s.next]
		part, err := s.part(ctx, p)
		if err != nil {
			return nil, err
		}
		p.rows = nil
		s.next++
		if part.Rows == 0 {
			continue
		}
		s.left -= int64(part.Rows)
		return part.Record(s.view.schema, s.view.columns, s.view.encoding)
	}
	if s.live != nil { // rows of a file that has changed meanwhile are no table
		if err := s.sound(ctx); err != nil {
			return nil, err
		}
	}
	return nil, io.EOF
}

// part is what columns, bbox and limit leave of a piece.
func (s *Scan) part(ctx context.Context, p *piece) (*geoarrow.Columns, error) {
	if s.bbox == nil {
		c, err := s.batch(ctx, p.batch)
		if err != nil {
			return nil, err
		}
		return s.view.narrow(c).Slice(p.from, p.from+int(min(s.left, int64(p.to-p.from)))), nil
	}
	if err := s.match(ctx, p); err != nil || len(p.rows) == 0 {
		return &geoarrow.Columns{}, err
	}
	c, err := s.batch(ctx, p.batch)
	if err != nil {
		return nil, err
	}
	c = s.view.narrow(c)
	rows := p.rows[:min(s.left, int64(len(p.rows)))]
	if n := len(rows); n > 0 && int(rows[n-1]-rows[0]) == n-1 { // neighbours
		return c.Slice(int(rows[0]), int(rows[n-1])+1), nil
	}
	return c.Take(rows), nil
}

// batch gives batch i, of which every byte is known to be as it was written.
func (s *Scan) batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	if s.fetch != nil {
		return s.fetch(ctx, i)
	}
	if s.live != nil {
		b, err := s.live.batch(ctx, i)
		if b != nil || err != nil {
			return b, err
		}
		if s.table, err = s.finish(ctx); err != nil {
			return nil, err
		}
		s.live = nil
	}
	if s.outline != nil {
		return nil, errNotThere
	}
	for {
		if s.table.Check == nil {
			return s.table.Batches[i], nil
		}
		err := s.table.Check(i)
		if err == nil {
			return s.table.Batches[i], nil
		}
		if err = s.mend(ctx, err); err != nil {
			return nil, err
		}
	}
}

// mend has a damaged table replaced. Any other error stays what it is.
func (s *Scan) mend(ctx context.Context, why error) error {
	if !errors.Is(why, readers.ErrDamaged) || s.repair == nil {
		return why
	}
	t, err := s.repair(ctx, why)
	if err == nil {
		s.table = t
	}
	return err
}

// match finds the rows of the piece whose bounding box meets the scan's: by the spatial index of
// the batch where it has one, else by looking at all geometries.
func (s *Scan) match(ctx context.Context, p *piece) error {
	if p.matched {
		return nil
	}
	if s.table.Search != nil {
		rows, err := s.table.Search(p.batch, *s.bbox)
		if err != nil {
			if err = s.mend(ctx, err); err != nil {
				return err
			}
			return s.match(ctx, p)
		}
		from, _ := slices.BinarySearch(rows, int32(p.from))
		to, _ := slices.BinarySearch(rows, int32(p.to))
		p.matched, p.rows = true, rows[from:to]
		return nil
	}
	c, err := s.batch(ctx, p.batch)
	if err != nil {
		return err
	}
	if s.table.Search != nil { // the parse is over, and the table lies in a file
		return s.match(ctx, p)
	}
	p.matched = true
	g := c.Geometry
	if g == nil {
		return nil
	}
	for i := p.from; i < p.to; i++ {
		xmin, ymin, xmax, ymax, ok := g.Bounds(i)
		if ok && meets(*s.bbox, [4]float64{xmin, ymin, xmax, ymax}) {
			p.rows = append(p.rows, int32(i))
		}
	}
	return nil
}

// Rows is how many rows Next gives from here on. With a bbox it asks the spatial index, or looks at
// the geometries, once; Next does not ask again.
func (s *Scan) Rows(ctx context.Context) (n int64, err error) {
	for i := s.next; i < len(s.pieces) && n < s.left; i++ {
		p := &s.pieces[i]
		if s.bbox == nil {
			n += int64(p.to - p.from)
			continue
		}
		if err := s.match(ctx, p); err != nil {
			return 0, err
		}
		n += int64(len(p.rows))
	}
	return min(n, s.left), nil
}
