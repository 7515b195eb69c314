package engine

import (
	"bytes"
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// maxBoundBytes is the length of the longest text that is kept as a minimum or maximum.
const maxBoundBytes = 256

// columnRange is the range of values of a column in a batch.
type columnRange struct {
	known         bool // low and high are known
	low, high     geoarrow.Value
	nan           bool // there are NaNs, which DuckDB orders after all other values
	highTruncated bool // high is a prefix of the maximum
}

// columnRangeOf scans all values of a column. It copies texts, since the batch may be in a mapped
// file.
func columnRangeOf(c *geoarrow.Column, rows int) *columnRange {
	l := &columnRange{}
	l.low, l.high, l.known = c.Range(rows)
	if c.Type.ID() == arrow.FLOAT64 {
		for _, v := range geoarrow.View[float64](c.Values) {
			if v != v {
				l.nan = true
				break
			}
		}
	}
	if c.Type.ID() == arrow.STRING && l.known {
		l.highTruncated = len(l.high.Bytes) > maxBoundBytes
		// a prefix of a text orders before it
		l.low.Bytes = bytes.Clone(l.low.Bytes[:min(maxBoundBytes, len(l.low.Bytes))])
		l.high.Bytes = bytes.Clone(l.high.Bytes[:min(maxBoundBytes, len(l.high.Bytes))])
	}
	return l
}

// extent is the range of a column's values for a comparator.
type extent struct {
	allNull   bool  // all values are null
	low, high value // nil: unbounded
}

// batchView is a batch as conditions see it. It is for one goroutine.
type batchView struct {
	derived *derivedCache
	lease   *lease
	batch   int
	args    arguments
	columns *geoarrow.Columns
	cache   *batchCache
}

func (b *derivedCache) view(ctx context.Context, l *lease, batch int, args arguments) (*batchView, error) {
	columns, err := l.batch(ctx, batch)
	if err != nil {
		return nil, err
	}
	return &batchView{derived: b, lease: l, batch: batch, args: args, columns: columns, cache: b.batch(columns)}, nil
}

// extent returns the range of a column's values. ok is false if it is unknown.
func (v *batchView) extent(k int, as *comparator) (extent, bool) {
	if v.nulls(k) == v.columns.Rows {
		return extent{allNull: true}, true
	}
	if k >= len(v.columns.Attributes) {
		return extent{}, false
	}
	d := v.cache
	d.mu.Lock()
	l := d.ranges[k]
	if l == nil {
		l = columnRangeOf(&v.columns.Attributes[k], v.columns.Rows)
		d.ranges[k] = l
	}
	d.mu.Unlock()
	if !l.known {
		return extent{}, false
	}
	var in extent
	in.low, in.high = as.bounds(l.low, l.high)
	if l.nan || l.highTruncated {
		in.high = nil
	}
	return in, true
}

// nulls returns how many rows of a column are null.
func (v *batchView) nulls(k int) int {
	if k < len(v.columns.Attributes) {
		return v.columns.Attributes[k].Nulls
	}
	return v.columns.Geometry.Nulls
}

// meets reports whether there may be a row whose geometry's bounding box, as DuckDB computes it,
// meets a box.
func (v *batchView) meets(box [4]float64) bool {
	boxes := v.lease.table.Load().Boxes
	return boxes == nil || meets(box, boxes[v.batch]) || !v.validPositions()
}

// validPositions reports whether x and y of all positions in the batch are numbers. The catalog's
// boxes ignore other positions, and DuckDB's do not.
func (v *batchView) validPositions() bool {
	d := v.cache
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.validPositions == nil {
		sound := v.columns.Geometry.ValidPositions()
		d.validPositions = &sound
	}
	return *d.validPositions
}
