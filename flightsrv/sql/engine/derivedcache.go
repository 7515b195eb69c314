package engine

import (
	"container/list"
	"runtime"
	"sync"
	"unsafe"
	"weak"

	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// derivedCache keeps what queries made of the batches of tables, as long as the batches are there:
// geometries as WKB, within a budget of bytes, and the ranges of columns, which are small. What was
// made for one version of a file serves the next where the catalog shares the batches of both.
type derivedCache struct {
	mu      sync.Mutex
	budget  int64
	shares  bool // WKB is written to memory files, which workers map
	bytes   int64
	lru     *list.List // of *batchCache that have WKB, the one used last first
	batches map[weak.Pointer[geoarrow.Columns]]*batchCache
}

// batchCache is what was made of one batch.
type batchCache struct {
	batch weak.Pointer[geoarrow.Columns]

	wkbMu   sync.Mutex // held while WKB is made, so that it is made once
	wkb     *geoarrow.Geometry
	shared  *worker.Shared // memory of wkb; nil: the garbage collector's
	bytes   int64
	element *list.Element // in derivedCache.recent; nil: no WKB is kept
	pins    int           // runs that read it where it is

	mu             sync.Mutex // guards what follows
	ranges         map[int]*columnRange
	validPositions *bool // boxes tell where the geometries are
}

func newDerivedCache(budget int64, shares bool) *derivedCache {
	return &derivedCache{
		budget: budget, shares: shares, lru: list.New(),
		batches: map[weak.Pointer[geoarrow.Columns]]*batchCache{},
	}
}

// batch returns the place for what is made of a batch. It goes when the batch does.
func (b *derivedCache) batch(batch *geoarrow.Columns) *batchCache {
	key := weak.Make(batch)
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.batches[key]
	if d == nil {
		d = &batchCache{batch: key, ranges: map[int]*columnRange{}}
		b.batches[key] = d
		runtime.AddCleanup(batch, b.forget, key)
	}
	return d
}

// forget drops what was made of a batch that is gone.
func (b *derivedCache) forget(batch weak.Pointer[geoarrow.Columns]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.batches[batch]; d != nil {
		b.evict(d)
		delete(b.batches, batch)
	}
}

// wkb returns the geometries of a batch as WKB, which are made once and kept while there is room. The
// caller releases the memory that they lie in, nil for the garbage collector's.
func (b *derivedCache) wkb(batch *geoarrow.Columns) (*geoarrow.Geometry, *worker.Shared, error) {
	g, d, err := b.pin(batch)
	if d == nil {
		return g, nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d.pins--
	d.shared.Retain()
	return g, d.shared, nil
}

// pin returns the geometries of a batch as WKB, and has them kept until d is unpinned. d is nil where
// there is no room, and where the batch has its geometries as WKB itself.
func (b *derivedCache) pin(batch *geoarrow.Columns) (g *geoarrow.Geometry, d *batchCache, err error) {
	if batch.Geometry.Kind == geoarrow.NoKind {
		return batch.Geometry, nil, nil
	}
	d = b.batch(batch)
	d.wkbMu.Lock()
	defer d.wkbMu.Unlock()
	if g := b.use(d); g != nil {
		return g, d, nil
	}
	if g, err = batch.Geometry.ToWKB(); err != nil {
		return nil, nil, err
	}
	// Valid and Kinds may be the batch's own, whose memory may be a mapped file's.
	if !b.reserve(d, int64(len(g.WKB))+4*int64(len(g.Offsets))) {
		return g, nil, nil
	}
	var shared *worker.Shared
	if b.shares {
		if shared, err = worker.Share(geoarrow.AsBytes(g.Offsets), g.WKB); err == nil {
			g.WKB, g.Offsets = shared.Part(1), asOffsets(shared.Part(0))
		} // else workers get copies
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d.wkb, d.shared = g, shared
	return g, d, nil
}

func asOffsets(b []byte) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func (b *derivedCache) unpin(d *batchCache) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d.pins--
}

// use pins the WKB that is kept, as the one used last.
func (b *derivedCache) use(d *batchCache) *geoarrow.Geometry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.element == nil {
		return nil
	}
	b.lru.MoveToFront(d.element)
	d.pins++
	return d.wkb
}

// reserve takes room for WKB, which is pinned, and reports whether there is some: not in the place
// of what is pinned.
func (b *derivedCache) reserve(d *batchCache, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > b.budget {
		return false
	}
	for at := b.lru.Back(); at != nil && b.bytes+bytes > b.budget; {
		old := at.Value.(*batchCache)
		at = at.Prev()
		if old.pins == 0 {
			b.evict(old)
		}
	}
	if b.bytes+bytes > b.budget {
		return false
	}
	d.bytes, d.element = bytes, b.lru.PushFront(d)
	d.pins++
	b.bytes += bytes
	return true
}

// evict drops the WKB of a batch; b.mu is held. Queries that use it keep it.
func (b *derivedCache) evict(d *batchCache) {
	if d.element == nil {
		return
	}
	b.lru.Remove(d.element)
	b.bytes -= d.bytes
	d.shared.Release()
	d.wkb, d.shared, d.bytes, d.element = nil, nil, 0, nil
}

// size is how many bytes of WKB are kept.
func (b *derivedCache) size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}
