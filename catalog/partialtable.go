package catalog

import (
	"context"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// liveBatches is how many batches wait for those who read a table while it is parsed, beside those
// at its beginning that the spool keeps in memory anyway. Who falls behind reads on when the parse
// is over.
const liveBatches = 4

// partialTable is the table of a parse under way whose shape is known from an earlier one: its
// batches are given as they come.
type partialTable struct {
	table *readers.Table // all but the rows

	mu      sync.Mutex
	room    int64               // bytes that first may still take
	first   []*geoarrow.Columns // the batches at the beginning that are in memory until the parse is over
	recent  []*geoarrow.Columns // the last ones of those behind
	came    int                 // how many came
	over    bool
	changed chan struct{} // closed at the next change

	rest  chan struct{} // closed when the rows behind the first batch may be parsed
	letOn func()        // closes it
}

// newLive is for a table of a shape, the first room bytes of which stay in memory.
func newLive(shape *readers.Shape, bbox *[4]float64, room int64) *partialTable {
	l := &partialTable{table: shape.Table(), room: room, changed: make(chan struct{}), rest: make(chan struct{})}
	l.table.BBox = bbox
	l.letOn = sync.OnceFunc(func() { close(l.rest) })
	return l
}

// put adds the next batch.
func (l *partialTable) put(_ int, b *geoarrow.Columns) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.tell()
	l.came++
	if l.room -= b.Bytes(); l.room >= 0 {
		l.first = append(l.first, b)
		return
	}
	if len(l.recent) == liveBatches {
		copy(l.recent, l.recent[1:])
		l.recent = l.recent[:liveBatches-1]
	}
	l.recent = append(l.recent, b)
}

// end says that the parse is over, well or not.
func (l *partialTable) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over, l.first, l.recent = true, nil, nil
	l.tell()
}

// complete reports whether all batches came.
func (l *partialTable) complete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.came == len(l.table.Batches)
}

func (l *partialTable) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// batch waits for batch i. It gives nil if that is not to be had any more: then the whole table
// soon is, or why there is none.
func (l *partialTable) batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	for {
		l.mu.Lock()
		b, lost := l.have(i)
		if b != nil || lost {
			l.mu.Unlock()
			return b, nil
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

// have gives batch i if it is here, and says whether it was and is not any more. live.mu is held.
func (l *partialTable) have(i int) (b *geoarrow.Columns, lost bool) {
	recent := l.came - len(l.recent)
	switch {
	case l.over:
		return nil, true
	case i < len(l.first):
		return l.first[i], false
	case i < recent:
		return nil, true
	case i < l.came:
		return l.recent[i-recent], false
	}
	return nil, false
}

// joinTime is about how long a client takes to join what has come to its socket, on a host where it
// took so long to come there.
func joinTime(sending time.Duration) time.Duration { return 2 * sending }

// sent is what to call when the batches that came so far were sent to somebody; nil: nothing. Those
// behind the first one wait for that one.
func (l *partialTable) sent() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.rest:
		return nil
	default:
	}
	if l.came == 0 {
		return nil
	}
	began := time.Now()
	return func() { time.AfterFunc(joinTime(time.Since(began)), l.letOn) }
}
