package catalog

import (
	"container/list"
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// key says which table a parse gives.
type key struct {
	name     string // of the file
	layer    string // "": the first one
	format   string // that it is read as
	identity source.Identity
	options  [32]byte // digest of the options, and of the layer
	columns  string   // readers.Projection.Key of those that have values
}

// ofTable is the key of the whole table.
func (k key) ofTable() key {
	k.columns = ""
	return k
}

// cacheEntry is a table of the cache. What is guarded by tables.mu says so.
type cacheEntry struct {
	key     key
	columns readers.Projection // that have values
	*tableData
	views views

	pins      int           // guarded: how many hold it
	kept      bool          // guarded: askers find it
	forgotten bool          // guarded: it is not to be found in the cache either
	at        *list.Element // guarded: in tables.recent; nil for a table larger than the budget
}

// tables is the cache of parsed tables and the parses under way.
//
// The budget bounds the tables that are kept, held or not. A table that somebody holds is not
// evicted, since that would free nothing and cost a parse; so tables that are held can pass the
// budget together, and the one released next is evicted if they still do. A table larger than the
// budget evicts nothing: askers share it while somebody holds it, then it goes. A table that lies
// in a file takes nothing of the budget; of these so many are kept open.
type tables struct {
	mu       sync.Mutex
	budget   int64
	bytes    int64 // of the tables in recent
	open     int   // of them, in files
	recent   *list.List
	byName   map[string]map[key]*cacheEntry
	flights  map[key]*parseCall
	failures map[key]failure
	polls    map[string]*poll // by ID
	closed   bool
	count    counters

	wg    sync.WaitGroup // flights
	slots chan struct{}  // parses that may run; what lies in the cache does not wait for them
	freed chan int64     // bytes that were dropped
}

// maxOpen is how many tables in files are kept open though nobody uses them.
const maxOpen = 256

type counters struct {
	hits, misses, shared, evictions, parses, parseErrors int64
	parseTime                                            time.Duration
}

func newTables(budget int64) *tables {
	return &tables{
		budget: max(0, budget), recent: list.New(), byName: map[string]map[key]*cacheEntry{},
		flights: map[key]*parseCall{}, failures: map[key]failure{}, polls: map[string]*poll{},
		slots: make(chan struct{}, maxParses), freed: make(chan int64, 1),
	}
}

// hit gives the table of a job, or one of more columns, pinned, or nil; t.mu is held.
func (t *tables) hit(j job) *cacheEntry {
	p := t.find(j)
	if p == nil {
		return nil
	}
	p.pins++
	if p.at != nil {
		t.recent.MoveToFront(p.at)
	}
	return p
}

func (t *tables) find(j job) *cacheEntry {
	same := t.byName[j.key.name]
	if p := same[j.key]; p != nil {
		return p
	}
	for k, p := range same {
		if k.ofTable() == j.key.ofTable() && p.columns.Covers(j.columns) {
			return p
		}
	}
	return nil
}

// put adds the table of a job, which so many hold, in place of those that have no other columns;
// t.mu is held.
func (t *tables) put(j job, l *tableData, pins int) *cacheEntry {
	k, bytes := j.key, l.memory()
	for other, p := range t.byName[k.name] {
		if other == k || bytes <= t.budget && other.ofTable() == k.ofTable() && j.columns.Covers(p.columns) {
			t.remove(p)
		}
	}
	p := &cacheEntry{key: k, columns: j.columns, tableData: l, pins: pins}
	if bytes > t.budget && pins == 0 {
		l.release()
		return p
	}
	p.kept = true
	if t.byName[k.name] == nil {
		t.byName[k.name] = map[key]*cacheEntry{}
	}
	t.byName[k.name][k] = p
	if bytes <= t.budget {
		p.at = t.recent.PushFront(p)
		t.bytes += bytes
		if l.file != nil {
			t.open++
		}
		t.trim()
	}
	return p
}

// exchange puts the mapped file of a table in the place of the same table in memory, whose memory
// is free when nobody holds it any more.
func (t *tables) exchange(j job, p *cacheEntry, mapped *tableData) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !p.kept || t.closed {
		mapped.release()
		return
	}
	t.put(j, mapped, 0)
}

// release ends one pin.
func (t *tables) release(p *cacheEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.pins--
	switch {
	case p.pins > 0:
	case !p.kept:
		p.tableData.release()
	case p.at == nil:
		t.remove(p)
	default:
		t.trim()
	}
}

// trim evicts the tables used longest ago, as long as the budget is passed and nobody holds them;
// t.mu is held.
func (t *tables) trim() {
	for e := t.recent.Back(); e != nil && (t.bytes > t.budget || t.open > maxOpen); {
		p := e.Value.(*cacheEntry)
		e = e.Prev()
		if p.pins == 0 && (t.bytes > t.budget && p.memory() > 0 || t.open > maxOpen && p.file != nil) {
			t.remove(p)
			t.count.evictions++
		}
	}
}

// remove forgets a table; t.mu is held.
func (t *tables) remove(p *cacheEntry) {
	p.kept = false
	same := t.byName[p.key.name]
	delete(same, p.key)
	if len(same) == 0 {
		delete(t.byName, p.key.name)
	}
	bytes := p.memory()
	if p.at != nil {
		t.recent.Remove(p.at)
		t.bytes -= bytes
		if p.file != nil {
			t.open--
		}
	}
	if p.pins == 0 {
		p.tableData.release()
	}
	select {
	case before := <-t.freed:
		bytes += before
	default:
	}
	select {
	case t.freed <- bytes:
	default: // only under t.mu is anything sent, so there is room
	}
}

// dropOthers forgets the tables of a name that are of another identity: its file changed.
func (t *tables) dropOthers(name string, now source.Identity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, p := range t.byName[name] {
		if k.identity != now {
			t.remove(p)
		}
	}
}

// drop forgets all tables; those that are held stay valid.
func (t *tables) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, same := range t.byName {
		for _, p := range same {
			t.remove(p)
		}
	}
}

// evict forgets the tables of a file, or of one of its layers, and gives the options of each.
func (t *tables) evict(name string, layer *string) [][32]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	var evicted [][32]byte
	for k, p := range t.byName[name] {
		if layer != nil && k.layer != *layer {
			continue
		}
		p.forgotten = true
		t.remove(p)
		evicted = append(evicted, k.options)
	}
	return evicted
}

// forgotten reports whether a table was evicted by name while it was saved.
func (t *tables) forgotten(p *cacheEntry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.forgotten
}

// peek gives the table of k without counting as a use.
func (t *tables) peek(k key) *readers.Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.byName[k.name][k]; p != nil {
		return p.table
	}
	return nil
}

// has reports whether any table of the name is kept.
func (t *tables) has(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byName[name]) > 0
}

const (
	// memoryWorthReturning is how much must have been dropped before it is collected: that is not
	// free.
	memoryWorthReturning = 64 << 20
	memoryReturnInterval = 5 * time.Second
)

// returnMemory collects the memory of dropped tables until ctx ends, so that the next table takes
// it as it is, already mapped in. What none has taken for a while goes back to the system.
func (t *tables) returnMemory(ctx context.Context) {
	var (
		bytes int64
		quiet <-chan time.Time // nil: all was returned
	)
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-t.freed:
			if bytes += n; bytes >= memoryWorthReturning {
				bytes = 0
				runtime.GC()
				quiet = time.After(memoryReturnInterval)
			}
		case <-quiet:
			debug.FreeOSMemory()
			quiet = nil
		}
	}
}
