package tablefile

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/rtree"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// validate checks all numbers of a description against the size of the file, and returns the types
// of the columns. The size of the file then bounds the memory of the batches: each message has at
// least 16 bytes for each column.
func (d *description) validate(size int64) ([]arrow.DataType, error) {
	types := make([]arrow.DataType, len(d.Columns))
	for i := range d.Columns {
		t, ok := geoarrow.TypeNamed(d.Columns[i].Type)
		if !ok {
			return nil, fmt.Errorf("a column of type %q", d.Columns[i].Type)
		}
		types[i] = t
	}
	if g := d.Geometry; g != nil && (g.Kind > geoarrow.MultiPolygon || g.Dim > geoarrow.XYZM) {
		return nil, fmt.Errorf("geometries of kind %d, dimension %d", g.Kind, g.Dim)
	}
	n := len(d.Batches.Offset)
	if n == 0 {
		return nil, errors.New("no batch")
	}
	for _, s := range d.series() {
		if s != nil && len(s) != n {
			return nil, fmt.Errorf("%d numbers for %d batches", len(s), n)
		}
	}
	total := int64(0)
	for i := range n {
		b := &d.Batches
		at, metadata, body, rows := b.Offset.at(i), b.Metadata.at(i), b.Body.at(i), b.Rows.at(i)
		metadataFits := at%alignment == 0 && metadata%alignment == 0 && metadata >= pairBytes*int64(len(types)) &&
			within(extent{at, metadata}, size)
		if !metadataFits || !within(extent{at + metadata, body}, size) || rows < 0 || rows > math.MaxInt32 {
			return nil, fmt.Errorf("batch %d of %d rows at byte %d, %d and %d bytes", i, rows, at, metadata, body)
		}
		if total += metadata + body; total > size {
			return nil, errors.New("batches larger than the file")
		}
		items := b.TreeItems.at(i)
		if items < 0 || items > rows || !within(extent{b.TreeOffset.at(i), int64(rtree.Size(int(items)))}, size) {
			return nil, fmt.Errorf("batch %d: an index of %d rows at byte %d", i, items, b.TreeOffset.at(i))
		}
	}
	return types, nil
}

// series returns all series of a description.
func (d *description) series() []series {
	b := &d.Batches
	all := []series{b.Rows, b.Offset, b.Metadata, b.Body, b.Sum, b.TreeOffset, b.TreeItems, b.TreeSum}
	for i := range d.Columns {
		c := &d.Columns[i]
		all = append(all, c.Nulls, c.Rounded, c.Replaced, c.Elements, c.Bytes, c.Empty, c.Kinds, c.Digits,
			c.Zones, c.Offset, c.MinSec, c.MaxSec)
	}
	if g := d.Geometry; g != nil {
		all = append(all, g.Nulls, g.Kinds, g.Parts, g.Rings, g.Positions, g.Bytes)
	}
	return all
}
