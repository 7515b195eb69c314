package catalog

import (
	"context"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// liveBatches is how many batches wait for those who read a table while it is parsed. Who falls behind reads on when the parse is over.
const liveBatches = 4

// live is the table of a parse under way whose shape is known from an earlier one: its batches are given as they come.
type live struct {
	table *readers.Table // all but the rows

	mu      sync.Mutex
	recent  []*geoarrow.Columns // the last batches that came
	came    int                 // how many came
	over    bool
	changed chan struct{} // closed at the next change
}

func newLive(shape *readers.Shape, bbox *[4]float64) *live {
	l := &live{table: shape.Table(), changed: make(chan struct{})}
	l.table.BBox = bbox
	return l
}

// put adds the next batch.
func (l *live) put(_ int, b *geoarrow.Columns) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.recent) == liveBatches {
		copy(l.recent, l.recent[1:])
		l.recent = l.recent[:liveBatches-1]
	}
	l.recent = append(l.recent, b)
	l.came++
	l.tell()
}

// end says that the parse is over, well or not.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over, l.recent = true, nil
	l.tell()
}

// complete reports whether all batches came.
func (l *live) complete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.came == len(l.table.Batches)
}

func (l *live) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// batch waits for batch i. It gives nil if that is not to be had any more: then the whole table soon is, or why there is none.
func (l *live) batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	for {
		l.mu.Lock()
		first := l.came - len(l.recent)
		if l.over || i < first {
			l.mu.Unlock()
			return nil, nil
		}
		if i < l.came {
			defer l.mu.Unlock()
			return l.recent[i-first], nil
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
