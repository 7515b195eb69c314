package flightsrv

import (
	"math"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

func TestEndpointOf(t *testing.T) {
	none := readers.Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	table := &readers.Table{
		Starts: []int64{0, 10, 30, 60, 61},
		Boxes:  []readers.Box{{1, 2, 3, 4}, none, {-5, 3, 2, 9}, {0, 0, math.Inf(1), 0}},
	}
	for _, c := range []struct {
		name    string
		batches []int
		rows    int64
		box     *[4]float64
	}{
		{"one", []int{0}, 10, &[4]float64{1, 2, 3, 4}},
		{"no positions", []int{1}, 20, nil},
		{"several", []int{0, 1, 2}, 60, &[4]float64{-5, 2, 3, 9}},
		{"some left out", []int{0, 2}, 40, &[4]float64{-5, 2, 3, 9}},
		{"not a number of JSON", []int{3}, 1, nil},
	} {
		got := endpointOf(table, c.batches)
		if got.Rows != c.rows || (got.BBox == nil) != (c.box == nil) || got.BBox != nil && *got.BBox != *c.box {
			t.Errorf("%s: %d rows, box %v, want %d, %v", c.name, got.Rows, got.BBox, c.rows, c.box)
		}
	}
}
