package persist

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// TestBatchBoxes stores boxes with values that JSON has no numbers for.
func TestBatchBoxes(t *testing.T) {
	whole := &geoarrow.Columns{Rows: 30, Attributes: []geoarrow.Column{
		numberColumn("n", arrow.PrimitiveTypes.Int32, make([]*int32, 30)),
	}}
	table := inBatches(whole, 10)
	table.Starts = []int64{0, 10, 20, 30}
	table.Boxes = []readers.Box{
		{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)},
		{math.Inf(-1), -0.5, math.MaxFloat64, 5e-324},
		{1, 2, 3, 4},
	}
	for i := range 3 {
		table.Spans = append(table.Spans, readers.Span{
			From: int64(i), To: int64(i + 1), Inside: true,
			State: math.MaxUint64,
		})
	}
	if got := metaOf(table, readers.Limits{BatchRows: 10}).BatchBoxes(); !slices.Equal(got, table.Boxes) {
		t.Errorf("boxes %v, want %v", got, table.Boxes)
	}
	for _, tt := range []struct {
		name   string
		change func(t *readers.Table)
		boxes  bool // are known
	}{
		{"rows were left out", func(t *readers.Table) { t.Summary.Skipped.Count = 1 }, true},
		{"no spans", func(t *readers.Table) { t.Spans = nil }, true},
		{"a span that is no chunk's", func(t *readers.Table) { t.Spans = slices.Repeat([]readers.Span{{}}, 3) }, true},
		{"no boxes", func(t *readers.Table) { t.Boxes = nil }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := *table
			tt.change(&other)
			k := metaOf(&other, readers.Limits{BatchRows: 10})
			if got := k.BatchBoxes(); (got != nil) != tt.boxes || len(k.Spans) != 0 {
				t.Errorf("boxes %v, want some: %v; spans %v, want none", got, tt.boxes, k.Spans)
			}
		})
	}
}
