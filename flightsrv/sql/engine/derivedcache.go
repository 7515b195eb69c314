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

// derivedCache keeps what queries computed from batches, as long as the batches exist: geometries
// as WKB, within a budget, and the ranges of columns, which are small. Two versions of a file share
// it if the catalog shares their batches.
type derivedCache struct {
	mu      sync.Mutex
	budget  int64
	shares  bool // WKB is written to memory files, which workers map
	bytes   int64
	lru     *list.List // of *batchCache with WKB, the most recently used first
	batches map[weak.Pointer[geoarrow.Columns]]*batchCache
}

// batchCache is what was computed from one batch.
type batchCache struct {
	batch weak.Pointer[geoarrow.Columns]

	wkbMu   sync.Mutex // held while WKB is computed, so that it is computed once
	wkb     *geoarrow.Geometry
	shared  *worker.SharedBuffers // memory of wkb; nil: Go's heap
	bytes   int64
	element *list.Element // in derivedCache.lru; nil: no WKB is kept
	pins    int           // runs that read it in place

	mu             sync.Mutex // guards the following fields
	ranges         map[int]*columnRange
	validPositions *bool // all positions are numbers; nil: unknown
}

func newDerivedCache(budget int64, shares bool) *derivedCache {
	return &derivedCache{
		budget: budget, shares: shares, lru: list.New(),
		batches: map[weak.Pointer[geoarrow.Columns]]*batchCache{},
	}
}

// batch returns the cache of a batch. It is removed with the batch.
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

// forget removes the cache of a batch that was collected.
func (b *derivedCache) forget(batch weak.Pointer[geoarrow.Columns]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.batches[batch]; d != nil {
		b.evict(d)
		delete(b.batches, batch)
	}
}

// wkb returns the geometries of a batch as WKB. They are computed once and kept within the budget.
// The caller releases their memory, which is nil on Go's heap.
func (b *derivedCache) wkb(batch *geoarrow.Columns) (*geoarrow.Geometry, *worker.SharedBuffers, error) {
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

// pin returns the geometries of a batch as WKB, and keeps them until d is unpinned. d is nil if the
// budget is exceeded, or if the batch itself has WKB.
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
	// Valid and Kinds may share the batch's memory, which may be in a mapped file.
	if !b.reserve(d, int64(len(g.WKB))+4*int64(len(g.Offsets))) {
		return g, nil, nil
	}
	var shared *worker.SharedBuffers
	if b.shares {
		if shared, err = worker.Share(geoarrow.AsBytes(g.Offsets), g.WKB); err == nil {
			g.WKB, g.Offsets = shared.Part(1), asOffsets(shared.Part(0))
		} // otherwise workers get copies
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

// use pins the WKB that is kept, and marks it as most recently used.
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

// reserve reserves room for WKB and pins it. It reports whether there is room; it evicts nothing
// that is pinned.
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

// evict removes the WKB of a batch; b.mu is held. Queries that use it keep it.
func (b *derivedCache) evict(d *batchCache) {
	if d.element == nil {
		return
	}
	b.lru.Remove(d.element)
	b.bytes -= d.bytes
	d.shared.Release()
	d.wkb, d.shared, d.bytes, d.element = nil, nil, 0, nil
}

// size returns how many bytes of WKB are kept.
func (b *derivedCache) size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}
