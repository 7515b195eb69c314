package persist

import (
	"github.com/vibeflight/vibeflight/readers"
)

// CoverMeta describes a table by its file's own metadata: readers.Format.Cover. Sizes are
// estimates.
func CoverMeta(t *readers.Table, limits readers.Limits) *Meta {
	k := &Meta{Shape: t.Shape(limits), BBox: t.BBox, Spans: t.Spans}
	for _, box := range t.Boxes {
		k.Boxes = AppendBox(k.Boxes, box)
	}
	columns := int64(len(k.IDs) + 1)
	k.Outline = &Outline{
		Engine: t.Engine, GeometryTypes: t.GeometryTypes,
		Summary: readers.Summary{CRS: t.CRS, Foreign: map[string]int64{}},
	}
	for range columns {
		k.Outline.Columns = append(k.Outline.Columns, t.Bytes/columns)
	}
	for i := range t.Spans {
		k.Outline.Batches = append(k.Outline.Batches, t.Bytes*(t.Starts[i+1]-t.Starts[i])/max(1, t.Rows))
	}
	return k
}
