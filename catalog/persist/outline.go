package persist

import (
	"time"

	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/readers"
)

// Outline describes a table in addition to its shape. With both, a table can be described without
// its rows.
type Outline struct {
	Engine        string          `json:"engine"`
	ParseTime     time.Duration   `json:"parse_time"`
	GeometryTypes []string        `json:"geometry_types"`
	Summary       readers.Summary `json:"summary"`
	Rounded       int64           `json:"rounded"`
	Replaced      int64           `json:"replaced"`
	// bytes of each attribute's slices, and of the geometry's where there is one
	Columns []int64 `json:"columns"`
	Batches []int64 `json:"batches"` // bytes of each batch's slices
}

// outlineOf returns the outline of a table.
func outlineOf(t *readers.Table) *Outline {
	return &Outline{
		Engine: t.Engine, ParseTime: t.ParseTime, GeometryTypes: t.GeometryTypes, Summary: t.Summary,
		Rounded: t.RoundedIntegers, Replaced: t.ReplacedCharacters,
		Columns: scan.ColumnBytes(t), Batches: scan.BatchBytes(t),
	}
}

// fits reports whether the outline can belong to a table of a shape: the stored one may be damaged.
func (o *Outline) fits(s *readers.Shape) bool {
	columns := len(s.IDs)
	if s.Shapes {
		columns++
	}
	return o != nil && len(o.Columns) == columns && len(o.Batches) == len(s.Starts)-1
}

// Complete adds the outline to a table of the shape, which has no rows.
func (k *Meta) Complete(t *readers.Table, format string) {
	o := k.Outline
	t.Format, t.Engine, t.ParseTime, t.Summary = format, o.Engine, o.ParseTime, o.Summary
	t.BBox, t.GeometryTypes, t.RoundedIntegers, t.ReplacedCharacters = k.BBox, o.GeometryTypes, o.Rounded, o.Replaced
	t.Boxes = k.BatchBoxes()
	for _, n := range o.Batches {
		t.Bytes += n
	}
}
