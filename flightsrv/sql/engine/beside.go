package engine

import (
	"container/list"
	"runtime"
	"sync"
	"weak"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// beside keeps what queries made of the batches of tables, as long as the batches are there: geometries as WKB, within a budget of bytes, and the ranges of
// columns, which are small. What was made for one version of a file serves the next where the catalog shares the batches of both.
type beside struct {
	mu     sync.Mutex
	budget int64
	bytes  int64
	recent *list.List // of *derived that have WKB, the one used last in front
	of     map[weak.Pointer[geoarrow.Columns]]*derived
}

// derived is what was made of one batch.
type derived struct {
	batch weak.Pointer[geoarrow.Columns]

	making sync.Mutex // held by who makes WKB, so that nobody else does
	wkb    *geoarrow.Geometry
	bytes  int64
	at     *list.Element // in beside.recent; nil: there is no WKB, or no room for it
	pins   int           // runs that read it where it is

	found  sync.Mutex // guards what follows
	ranges map[int]*limits
	sound  *bool // boxes tell where the geometries are
}

func newBeside(budget int64) *beside {
	return &beside{budget: budget, recent: list.New(), of: map[weak.Pointer[geoarrow.Columns]]*derived{}}
}

// derived gives the place for what is made of a batch. It goes when the batch does.
func (b *beside) derived(batch *geoarrow.Columns) *derived {
	key := weak.Make(batch)
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.of[key]
	if d == nil {
		d = &derived{batch: key, ranges: map[int]*limits{}}
		b.of[key] = d
		runtime.AddCleanup(batch, b.forget, key)
	}
	return d
}

// forget drops what was made of a batch that is gone.
func (b *beside) forget(batch weak.Pointer[geoarrow.Columns]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.of[batch]; d != nil {
		b.evict(d)
		delete(b.of, batch)
	}
}

// wkb gives the geometries of a batch as WKB, which are made once and kept while there is room.
func (b *beside) wkb(batch *geoarrow.Columns) (*geoarrow.Geometry, error) {
	g, _, err := b.made(batch, 0)
	return g, err
}

// pin is wkb, and has them kept until d is unpinned. d is nil where there is no room, and where the batch has its geometries as WKB itself.
func (b *beside) pin(batch *geoarrow.Columns) (g *geoarrow.Geometry, d *derived, err error) {
	return b.made(batch, 1)
}

func (b *beside) unpin(d *derived) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d.pins--
}

func (b *beside) made(batch *geoarrow.Columns, pins int) (*geoarrow.Geometry, *derived, error) {
	if batch.Geometry.Kind == geoarrow.NoKind {
		return batch.Geometry, nil, nil
	}
	d := b.derived(batch)
	d.making.Lock()
	defer d.making.Unlock()
	if g := b.use(d, pins); g != nil {
		return g, d, nil
	}
	g, err := batch.Geometry.ToWKB()
	if err != nil {
		return nil, nil, err
	}
	// Valid and Kinds may be the batch's own, whose memory may be a mapped file's.
	if !b.keep(d, g, int64(len(g.WKB))+4*int64(len(g.Offsets)), pins) {
		return g, nil, nil
	}
	return g, d, nil
}

// use gives the WKB that is kept, as the one used last.
func (b *beside) use(d *derived, pins int) *geoarrow.Geometry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.at == nil {
		return nil
	}
	b.recent.MoveToFront(d.at)
	d.pins += pins
	return d.wkb
}

// keep reports whether there is room, beside what is pinned.
func (b *beside) keep(d *derived, g *geoarrow.Geometry, bytes int64, pins int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > b.budget {
		return false
	}
	for at := b.recent.Back(); at != nil && b.bytes+bytes > b.budget; {
		old := at.Value.(*derived)
		at = at.Prev()
		if old.pins == 0 {
			b.evict(old)
		}
	}
	if b.bytes+bytes > b.budget {
		return false
	}
	d.wkb, d.bytes, d.at = g, bytes, b.recent.PushFront(d)
	d.pins += pins
	b.bytes += bytes
	return true
}

// evict drops the WKB of a batch; b.mu is held. Queries that use it keep it.
func (b *beside) evict(d *derived) {
	if d.at == nil {
		return
	}
	b.recent.Remove(d.at)
	b.bytes -= d.bytes
	d.wkb, d.bytes, d.at = nil, 0, nil
}

// size is how many bytes of WKB are kept.
func (b *beside) size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}
