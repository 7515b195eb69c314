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
	for what, change := range map[string]func(t *readers.Table){
		"rows were left out":     func(t *readers.Table) { t.Summary.Skipped.Count = 1 },
		"nobody knows where":     func(t *readers.Table) { t.Spans = nil },
		"a span is no chunk's":   func(t *readers.Table) { t.Spans = slices.Repeat([]readers.Span{{}}, 3) },
		"nobody looked for them": func(t *readers.Table) { t.Boxes = nil },
	} {
		other := *table
		change(&other)
		if got := metaOf(&other, readers.Limits{BatchRows: 10}).BatchBoxes(); got != nil {
			t.Errorf("%s: boxes %v", what, got)
		}
	}
}
