// Package scan gives the selected rows and columns of a table as Arrow records, batch by batch.
package scan

import (
	"context"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Scan walks the selected part of a table. It is for one goroutine; any number of scans share a
// table.
type Scan struct {
	source Source
	view   *view
	bbox   *[4]float64 // in the table's system
	exact  *[4]float64 // in the requested system, if that is another one: bbox finds the candidates
	pieces []piece
	next   int   // piece
	left   int64 // rows that the limit still allows

	recordRows int               // maximum of a record; 0: those of a piece
	rest       *geoarrow.Columns // of the current piece, for the next records; nil: none
}

// piece is what the row range and the boxes of batches leave of one batch.
type piece struct {
	batch    int     // its number
	from, to int     // rows of the batch, from < to
	searched bool    // rows is valid
	rows     []int32 // of the batch that meet the bounding box, ascending
}

// New prepares the scan of a table in memory. A column that the table does not have gives an
// *UnknownColumnError. Nothing is copied, and batches outside of the row range are not read.
func New(t *readers.Table, sel Selection) (*Scan, error) { return Of(tableSource{t}, sel) }

// Of is New for any source.
func Of(src Source, sel Selection) (*Scan, error) {
	v, err := newView(src.Table(), sel)
	if err != nil {
		return nil, err
	}
	return v.scan(src, sel)
}

// scan prepares a scan of the table that the view is of.
func (v *view) scan(src Source, sel Selection) (*Scan, error) {
	t := src.Table()
	ranges, err := rangesOf(src, sel.Partitions)
	if err != nil {
		return nil, err
	}
	s := &Scan{source: src, view: v, bbox: sel.BBox, left: math.MaxInt64, recordRows: sel.RecordRows}
	if sel.Limit != nil {
		s.left = max(0, *sel.Limit)
	}
	from, to := int64(0), t.Rows
	if sel.Rows != nil {
		from, to = max(0, sel.Rows[0]), min(t.Rows, sel.Rows[1])
	}
	if v.move != nil && s.bbox != nil && t.BBox != nil {
		s.exact = s.bbox
		box := v.move.before(*s.bbox, *t.BBox)
		s.bbox = &box
	}
	if s.bbox != nil && (t.BBox == nil || !meets(*s.bbox, *t.BBox)) {
		to = from
	}
	for _, r := range ranges {
		s.pieces = append(s.pieces, cut(t, max(from, r[0]), min(to, r[1]))...)
	}
	if s.bbox != nil && t.Boxes != nil {
		s.pieces = slices.DeleteFunc(s.pieces, func(p piece) bool { return !meets(*s.bbox, t.Boxes[p.batch]) })
	}
	return s, nil
}

// cut returns the parts of batches that overlap rows [from, to) of the table.
func cut(t *readers.Table, from, to int64) []piece {
	if from >= to {
		return nil
	}
	// Starts is 0, 65536, 131072, …: the last batch that starts at or before from has it.
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

// NoBox is the box of a batch without positions: it meets no box.
var NoBox = [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// meets reports whether two closed boxes have a point in common.
func meets(a, b [4]float64) bool { return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3] }

// Schema returns exactly the schema of every record.
func (s *Scan) Schema() *arrow.Schema { return s.view.schema }

// Reprojects reports whether the geometries of records are in another reference system than those of
// the table.
func (s *Scan) Reprojects() bool { return s.view.move != nil }

// SchemaMessage returns the result of encode for the schema. It must not be modified: scans of the
// same columns of a cached table share it.
func (s *Scan) SchemaMessage(encode func(*arrow.Schema) ([]byte, error)) ([]byte, error) {
	return s.view.encoded(encode)
}

// Batches returns the numbers of the batches that may have selected rows.
func (s *Scan) Batches() []int {
	numbers := make([]int, 0, len(s.pieces))
	for _, p := range s.pieces {
		if n := len(numbers); n == 0 || numbers[n-1] != p.batch {
			numbers = append(numbers, p.batch)
		}
	}
	return numbers
}

// Next returns the next record, which the caller releases, or io.EOF. No record is empty. Whole
// batches are not copied.
func (s *Scan) Next(ctx context.Context) (arrow.Record, error) {
	if s.rest == nil {
		if err := s.advance(ctx); err != nil {
			return nil, err
		}
	}
	c := s.rest
	s.rest = nil
	if n := s.recordRows; n > 0 && c.Rows > n {
		c, s.rest = c.Slice(0, n), c.Slice(n, c.Rows)
	}
	return c.Record(s.view.schema, s.view.columns, s.view.encoding)
}

// advance reads the rows of the next piece that has some into rest.
func (s *Scan) advance(ctx context.Context) error {
	for s.next < len(s.pieces) && s.left > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := &s.pieces[s.next]
		part, err := s.part(ctx, p)
		if err != nil {
			return err
		}
		p.rows = nil
		s.next++
		if part.Rows > 0 {
			s.left -= int64(part.Rows)
			s.rest = part
			return nil
		}
	}
	if err := s.source.Close(ctx); err != nil {
		return err
	}
	return io.EOF
}

// part returns what columns, bounding box and limit leave of a piece.
func (s *Scan) part(ctx context.Context, p *piece) (*geoarrow.Columns, error) {
	if s.bbox == nil {
		c, err := s.source.Batch(ctx, p.batch)
		if err != nil {
			return nil, err
		}
		c = s.view.project(c).Slice(p.from, p.from+int(min(s.left, int64(p.to-p.from))))
		return s.view.moved(ctx, c, func(i int) int64 { return s.source.Table().Starts[p.batch] + int64(p.from+i) })
	}
	if err := s.search(ctx, p); err != nil || len(p.rows) == 0 {
		return &geoarrow.Columns{}, err
	}
	c, err := s.source.Batch(ctx, p.batch)
	if err != nil {
		return nil, err
	}
	c = s.view.project(c)
	rows := p.rows[:min(s.left, int64(len(p.rows)))]
	if n := len(rows); n > 0 && int(rows[n-1]-rows[0]) == n-1 { // consecutive
		c = c.Slice(int(rows[0]), int(rows[n-1])+1)
	} else {
		c = c.Take(rows)
	}
	return s.view.moved(ctx, c, func(i int) int64 { return s.source.Table().Starts[p.batch] + int64(rows[i]) })
}

// search finds the rows of the piece whose bounding box meets the scan's: by the spatial index of
// the batch if it has one, else by examining all geometries.
func (s *Scan) search(ctx context.Context, p *piece) error {
	if p.searched {
		return nil
	}
	rows, ok, err := s.source.Search(ctx, p.batch, *s.bbox)
	if err != nil {
		return err
	}
	if ok {
		from, _ := slices.BinarySearch(rows, int32(p.from))
		to, _ := slices.BinarySearch(rows, int32(p.to))
		p.rows = rows[from:to]
		return s.confirm(ctx, p)
	}
	c, err := s.source.Batch(ctx, p.batch)
	if err != nil {
		return err
	}
	g := c.Geometry
	if g == nil {
		p.searched = true
		return nil
	}
	for i := p.from; i < p.to; i++ {
		xmin, ymin, xmax, ymax, ok := g.Bounds(i)
		if ok && meets(*s.bbox, [4]float64{xmin, ymin, xmax, ymax}) {
			p.rows = append(p.rows, int32(i))
		}
	}
	return s.confirm(ctx, p)
}

// confirm keeps the rows of the piece whose moved geometry meets the requested box.
func (s *Scan) confirm(ctx context.Context, p *piece) error {
	if s.exact != nil && len(p.rows) > 0 {
		c, err := s.source.Batch(ctx, p.batch)
		if err != nil {
			return err
		}
		if p.rows, err = s.view.move.meeting(ctx, c.Geometry, p.rows, *s.exact); err != nil {
			return err
		}
	}
	p.searched = true
	return nil
}

// Rows returns the number of rows that Next will give from here on. With a bounding box it searches
// all pieces; Next does not search them again.
func (s *Scan) Rows(ctx context.Context) (n int64, err error) {
	for i := s.next; i < len(s.pieces) && n < s.left; i++ {
		p := &s.pieces[i]
		if s.bbox == nil {
			n += int64(p.to - p.from)
			continue
		}
		if err := s.search(ctx, p); err != nil {
			return 0, err
		}
		n += int64(len(p.rows))
	}
	n = min(n, s.left)
	if s.rest != nil {
		n += int64(s.rest.Rows)
	}
	return n, nil
}

// BatchRows returns the number of rows of each batch of the table that Next would give from the
// start of the scan without a limit. With a bounding box it searches all pieces; Next does not search
// them again.
func (s *Scan) BatchRows(ctx context.Context) ([]int64, error) {
	counts := make([]int64, len(s.source.Table().Starts)-1)
	for i := range s.pieces {
		p := &s.pieces[i]
		if s.bbox == nil {
			counts[p.batch] += int64(p.to - p.from)
			continue
		}
		if err := s.search(ctx, p); err != nil {
			return nil, err
		}
		counts[p.batch] += int64(len(p.rows))
	}
	return counts, nil
}

// Bytes returns the size of the selected columns over all rows of the table, as the cache holds
// them.
func (s *Scan) Bytes() int64 {
	sizes, _ := s.source.Sizes()
	var n int64
	for _, i := range s.view.attrs {
		n += sizes[i]
	}
	if s.view.geometry {
		n += sizes[len(sizes)-1]
	}
	return n
}

// BatchBytes returns the size of each batch of the table, with all of its columns.
func (s *Scan) BatchBytes() []int64 {
	_, sizes := s.source.Sizes()
	return sizes
}
