package tables

import (
	"context"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// maxWaiting is the number of batches that are kept for the readers of a table that is being
// parsed, in addition to those at its beginning that the spool has in memory anyway. A reader that
// is slower continues when the parse is over.
const maxWaiting = 4

// PartialTable is a table that is being parsed and whose shape is known from an earlier parse. Its
// batches are given to readers as they are parsed.
type PartialTable struct {
	table *readers.Table // without the rows

	mu      sync.Mutex
	room    int64               // bytes that may be added to first
	first   []*geoarrow.Columns // the batches at the beginning, kept until the parse is over
	recent  []*geoarrow.Columns // the last ones of the following batches
	parsed  int                 // number of batches
	over    bool
	changed chan struct{} // closed at the next change

	rest      chan struct{} // closed when the rows after the first batch may be parsed
	closeRest func()
}

// NewPartialTable returns a table of a shape. Its first room bytes stay in memory until the parse
// is over.
func NewPartialTable(shape *readers.Shape, bbox *[4]float64, room int64) *PartialTable {
	l := &PartialTable{table: shape.Table(), room: room, changed: make(chan struct{}), rest: make(chan struct{})}
	l.table.BBox = bbox
	l.closeRest = sync.OnceFunc(func() { close(l.rest) })
	return l
}

// Rest returns a channel that is closed when the rows after the first batch may be parsed: when the
// first batch has been sent.
func (l *PartialTable) Rest() <-chan struct{} { return l.rest }

// Put adds batch i, which follows those before, or is there already.
func (l *PartialTable) Put(i int, b *geoarrow.Columns) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i < l.parsed {
		return
	}
	defer l.notify()
	l.parsed++
	if l.room -= b.Bytes(); l.room >= 0 {
		l.first = append(l.first, b)
		return
	}
	if len(l.recent) == maxWaiting {
		copy(l.recent, l.recent[1:])
		l.recent = l.recent[:maxWaiting-1]
	}
	l.recent = append(l.recent, b)
}

// end is called when the parse is over, with or without an error.
func (l *PartialTable) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over, l.first, l.recent = true, nil, nil
	l.notify()
}

// complete reports whether all batches are parsed.
func (l *PartialTable) complete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parsed == len(l.table.Batches)
}

func (l *PartialTable) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// batch waits for batch i. It returns nil if the batch is not kept any more: then the parse is
// over, or will be soon.
func (l *PartialTable) batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	for {
		l.mu.Lock()
		b, lost := l.kept(i)
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

// kept returns batch i, or nil. lost reports whether it will never be available; l.mu is held.
func (l *PartialTable) kept(i int) (b *geoarrow.Columns, lost bool) {
	recent := l.parsed - len(l.recent)
	switch {
	case l.over:
		return nil, true
	case i < len(l.first):
		return l.first[i], false
	case i < recent:
		return nil, true
	case i < l.parsed:
		return l.recent[i-recent], false
	}
	return nil, false
}

// joinTime estimates how long a client takes to join the frames of a batch that took so long to
// send.
func joinTime(sending time.Duration) time.Duration { return 2 * sending }

// sent returns a function to call when the batches parsed so far have been sent, or nil. The rows
// after the first batch wait for that call.
func (l *PartialTable) sent() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.rest:
		return nil
	default:
	}
	if l.parsed == 0 {
		return nil
	}
	began := time.Now()
	return func() { time.AfterFunc(joinTime(time.Since(began)), l.closeRest) }
}
