package load

import (
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestGroup checks which batches are parsed together with the one that a scan requests.
func TestGroup(t *testing.T) {
	const batchBytes = 100
	var p part
	for i := range int64(10) {
		p.spans = append(p.spans, readers.Span{From: i * batchBytes, To: (i + 1) * batchBytes})
		p.shape.Starts = append(p.shape.Starts, i)
	}
	p.shape.Starts = append(p.shape.Starts, 10)
	p.src = &source.File{}
	tests := []struct {
		name    string
		order   []int
		workers int
		memory  int64
		batch   int
		want    []int
	}{
		{"one for each worker", []int{1, 3, 4, 7, 9}, 3, 1 << 30, 3, []int{3, 4, 7}},
		{"up to the last one", []int{1, 3, 4, 7, 9}, 3, 1 << 30, 7, []int{7, 9}},
		{"within the share of the memory", []int{1, 3, 4, 7, 9}, 8, 2 * batchBytes * groupShare, 1, []int{1, 3}},
		{"one that is larger than the share", []int{1, 3, 4}, 8, 1, 3, []int{3}},
		{"not in the order", []int{1, 3}, 8, 1 << 30, 2, []int{2}},
		{"no order", nil, 8, 1 << 30, 2, []int{2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.order = tt.order
			p.loader = &Loader{Config: Config{Limits: readers.Limits{Workers: tt.workers, Memory: tt.memory}}}
			if got := p.group(tt.batch); !slices.Equal(got, tt.want) {
				t.Errorf("batches %v, want %v", got, tt.want)
			}
		})
	}
}
