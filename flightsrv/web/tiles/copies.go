package tiles

import (
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// copies are rows of a table that were copied from its batches.
type copies struct {
	batches []*geoarrow.Columns // by number of batch; nil: no row of it
	columns []int               // attributes of the table that are copied
}

// columnsOf implements rowSource.
func (c *copies) columnsOf(r *candidate) (*geoarrow.Columns, int) {
	return c.batches[r.batch], int(r.at)
}

// drawCopies draws a tile of a dataset or of a part of a table. It reads their batches one after
// the other, and copies the rows that may be drawn.
func (s *Set) drawCopies(ctx context.Context, ref *catalog.TableRef, f *frame, columns []int) ([]byte, error) {
	t, box := ref.Table, f.searchBox()
	// A dataset begins to load the files that the box meets.
	if _, err := ref.Scan(catalog.Selection{BBox: &box}); err != nil {
		return nil, err
	}
	rows := &copies{batches: make([]*geoarrow.Columns, len(t.Starts)-1), columns: columns}
	chosen := choice{limit: s.cfg.featureLimit()}
	for b := range rows.batches {
		if t.Boxes != nil && !meets(t.Boxes[b], box) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := rows.read(ctx, ref, f, b, box)
		if err != nil {
			return nil, err
		}
		if chosen.add(found...) {
			rows.shrink(chosen.all)
		}
	}
	all := chosen.result()
	if len(all) == 0 {
		return nil, nil
	}
	numbers := make([]int, len(columns))
	for i := range numbers {
		numbers[i] = i
	}
	d := newPainter(&s.workers, f, rows, numbers, s.newLayerOf(ref, columns), s.cfg.MaxFeatures)
	defer d.release()
	if err := d.draw(ctx, all); err != nil {
		return nil, err
	}
	return d.layer.tile(), nil
}

// read copies the rows of a batch that may be drawn.
func (c *copies) read(ctx context.Context, ref *catalog.TableRef, f *frame, b int, box [4]float64) (
	[]candidate, error,
) {
	found, indexed, err := ref.Search(ctx, b, box)
	if err != nil || indexed && len(found) == 0 {
		return nil, err
	}
	columns, err := ref.Batch(ctx, b)
	if err != nil {
		return nil, err
	}
	if columns.Geometry == nil {
		return nil, nil
	}
	j := judge{
		frame: f, geometry: columns.Geometry, batch: b, start: ref.Table.Starts[b], share: shareOf(ref.Table.Rows),
	}
	if !indexed {
		j.box = &box
		found, err = nil, nil
	}
	var all []candidate
	if indexed {
		all, err = j.rows(found)
	} else {
		all, err = j.all(columns.Rows)
	}
	if err != nil || len(all) == 0 {
		return nil, err
	}
	some := &geoarrow.Columns{Rows: columns.Rows, Geometry: columns.Geometry}
	for _, k := range c.columns {
		some.Attributes = append(some.Attributes, columns.Attributes[k])
	}
	c.batches[b] = take(some, all)
	return all, nil
}

// take copies the rows of candidates, which are in ascending order, and renumbers the candidates.
func take(from *geoarrow.Columns, all []candidate) *geoarrow.Columns {
	rows := make([]int32, len(all))
	for i := range all {
		rows[i], all[i].at = all[i].at, int32(i)
	}
	return from.Take(rows)
}

// shrink frees the rows of batches that are not among the candidates. It orders the candidates by
// row.
func (c *copies) shrink(all []candidate) {
	slices.SortFunc(all, func(a, b candidate) int { return int(a.row - b.row) })
	from := 0
	for b := range c.batches {
		to := from
		for to < len(all) && int(all[to].batch) == b {
			to++
		}
		switch {
		case from == to:
			c.batches[b] = nil
		case to-from < c.batches[b].Rows/2:
			c.batches[b] = take(c.batches[b], all[from:to])
		}
		from = to
	}
}
