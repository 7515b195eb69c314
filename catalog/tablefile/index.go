package tablefile

import (
	"context"

	"github.com/vibeflight/vibeflight/catalog/rtree"
	"github.com/vibeflight/vibeflight/readers"
)

// index is the place of the spatial index of one batch, its number of rows, and its CRC-32C. For a
// batch without a box, items is 0.
type index struct {
	offset int64
	items  int
	sum    uint32
}

// writeIndices writes the spatial index of each batch. It returns nil for a table without geometry.
func (w *Writer) writeIndices(ctx context.Context, t *readers.Table) ([]index, error) {
	if t.Batches[0].Geometry == nil {
		return nil, nil
	}
	all := make([]index, len(t.Batches))
	var builder rtree.Builder
	var boxes [][4]float64
	var rows []int32
	var tree []byte
	for i, b := range t.Batches {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		boxes, rows = boxes[:0], rows[:0]
		for row := range b.Rows {
			if xmin, ymin, xmax, ymax, ok := b.Geometry.Bounds(row); ok {
				boxes, rows = append(boxes, [4]float64{xmin, ymin, xmax, ymax}), append(rows, int32(row))
			}
		}
		if len(rows) == 0 {
			continue
		}
		tree = builder.Append(tree[:0], boxes, rows)
		all[i] = index{offset: w.out.begin(), items: len(rows)}
		if w.out.write(tree); w.out.err != nil {
			return nil, w.out.err
		}
		all[i].sum = w.out.sum
	}
	return all, w.out.err
}
