// Package tables shares parsed tables between callers: one parse serves all who request the same
// table, and finished tables are cached within a budget of bytes.
//
// Tables are immutable. A table that leaves the cache stays valid for its holders.
package tables

import (
	"container/list"
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// cacheEntry is a cached table.
type cacheEntry struct {
	key     job.Key
	columns readers.Projection // that have values
	*persist.Data
	views scan.Views

	// Guarded by Cache.mu.
	pins    int           // holders
	cached  bool          // callers find it
	evicted bool          // by name: it must not be saved either
	at      *list.Element // in Cache.recent; nil for a table larger than the budget
}

// ParseQueue chooses which of the parses that wait runs next.
type ParseQueue interface {
	// Parse waits until a parse may run.
	Parse(ctx context.Context) (free func(), err error)
	// Inherit returns the context of a parse with what Parse needs to know of the caller that
	// begins it.
	Inherit(own, caller context.Context) context.Context
}

// Config configures a Cache. The functions are required.
type Config struct {
	Budget int64 // bytes of tables in memory
	// Load returns the table of a job that is not cached, and whether its file was parsed for it.
	Load func(ctx context.Context, call *Call, j job.Job) (l *persist.Data, parsed bool, err error)
	// Loaded is called with the result of Load. It returns the job and the error to use from then
	// on.
	Loaded func(j job.Job, l *persist.Data, err error) (job.Job, error)
	// Failed is called with the error of a parse that callers wait for. The cache is locked.
	Failed func(k job.Key, err error)
	Queue  ParseQueue // chooses the parses that run; nil: MaxParses in the order of their calls
	Saves  int        // tables that are saved at a time; 0: 1
	// Archive saves the tables; Log gets what fails.
	Archive *persist.Archive
	Log     zerolog.Logger
}

// Cache has the parsed tables and the parses under way.
//
// The budget bounds the cached tables in memory. A table with holders is not evicted, because that
// would free nothing and cost a parse. So tables with holders may exceed the budget together; the
// one released next is evicted if they still do. A table larger than the budget evicts nothing: it
// is shared as long as it has holders. A mapped table does not count; the number of those is
// bounded.
type Cache struct {
	cfg    Config
	ctx    context.Context // canceled by Close
	stop   context.CancelFunc
	mu     sync.Mutex
	bytes  int64 // of the tables in recent
	open   int   // mapped tables in recent
	recent *list.List
	byName map[string]map[job.Key]*cacheEntry
	calls  map[job.Key]*Call
	closed bool
	count  Stats

	wg         sync.WaitGroup // parses and saves
	background sync.WaitGroup // returnMemory
	saves      sync.WaitGroup
	saving     chan struct{} // limits the tables that are saved at a time
	slots      chan struct{} // limits the parses that run at a time
	freed      chan int64    // bytes of tables that left the cache
}

// maxOpen is the number of mapped tables that are kept open without holders.
const maxOpen = 256

// New returns an empty cache whose parses end with ctx. The caller closes it.
func New(ctx context.Context, cfg Config) *Cache {
	cfg.Budget = max(0, cfg.Budget)
	t := &Cache{
		cfg: cfg, recent: list.New(), byName: map[string]map[job.Key]*cacheEntry{}, calls: map[job.Key]*Call{},
		saving: make(chan struct{}, max(1, cfg.Saves)), slots: make(chan struct{}, MaxParses),
		freed: make(chan int64, 1),
	}
	t.ctx, t.stop = context.WithCancel(ctx)
	cfg.Archive.SetCloseIdle(t.closeIdle)
	t.background.Go(t.returnMemory)
	return t
}

// Close cancels the parses, waits for them and drops all tables.
func (t *Cache) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop()
	t.wg.Wait()
	t.background.Wait()
	t.Drop()
}

// Begin counts work that Close waits for. It returns false after Close.
func (t *Cache) Begin() (end func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	t.wg.Add(1)
	return t.wg.Done, true
}

// Slot waits until another parse may run. Tables of the archive do not wait for it.
func (t *Cache) Slot(ctx context.Context) (free func(), err error) {
	if t.cfg.Queue != nil {
		return t.cfg.Queue.Parse(ctx)
	}
	select {
	case t.slots <- struct{}{}:
		return func() { <-t.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Wait waits for the parses and saves under way. No table may be requested meanwhile.
func (t *Cache) Wait() { t.wg.Wait() }

// HoldSaves holds back the saves that have not begun until resume is called.
func (t *Cache) HoldSaves() (resume func()) {
	for range cap(t.saving) {
		t.saving <- struct{}{}
	}
	return func() {
		for range cap(t.saving) {
			<-t.saving
		}
	}
}

// Saved waits until every parsed table is saved, or could not be saved, or ctx has ended.
func (t *Cache) Saved(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		t.saves.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// hit returns the table of a job, or one of more columns, pinned, or nil; t.mu is held.
func (t *Cache) hit(j job.Job) *cacheEntry {
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

func (t *Cache) find(j job.Job) *cacheEntry {
	same := t.byName[j.Key.Name]
	if p := same[j.Key]; p != nil {
		return p
	}
	for k, p := range same {
		if k.WholeTable() == j.Key.WholeTable() && p.columns.Covers(j.Columns) {
			return p
		}
	}
	return nil
}

// put caches the table of a job, which has the given number of holders. It replaces the tables of a
// subset of its columns; t.mu is held.
func (t *Cache) put(j job.Job, l *persist.Data, pins int) *cacheEntry {
	k, bytes := j.Key, l.Memory()
	for other, p := range t.byName[k.Name] {
		if other == k || bytes <= t.cfg.Budget && other.WholeTable() == k.WholeTable() && j.Columns.Covers(p.columns) {
			t.remove(p)
		}
	}
	p := &cacheEntry{key: k, columns: j.Columns, Data: l, pins: pins}
	if bytes > t.cfg.Budget && pins == 0 {
		l.Release()
		return p
	}
	p.cached = true
	if t.byName[k.Name] == nil {
		t.byName[k.Name] = map[job.Key]*cacheEntry{}
	}
	t.byName[k.Name][k] = p
	if bytes <= t.cfg.Budget {
		p.at = t.recent.PushFront(p)
		t.bytes += bytes
		if l.Mapped() {
			t.open++
		}
		t.trim()
	}
	return p
}

// exchange replaces a table in memory by the same table mapped from its file. The memory is free
// once it has no holder.
func (t *Cache) exchange(j job.Job, p *cacheEntry, mapped *persist.Data) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !p.cached || t.closed {
		mapped.Release()
		return
	}
	mapped.Table.Summary.Resident = p.Table.Summary.Resident
	t.put(j, mapped, 0)
}

// release removes one pin.
func (t *Cache) release(p *cacheEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.pins--
	switch {
	case p.pins > 0:
	case !p.cached:
		p.Data.Release()
	case p.at == nil:
		t.remove(p)
	default:
		t.trim()
	}
}

// trim evicts the least recently used tables without holders while the budget is exceeded; t.mu is
// held.
func (t *Cache) trim() {
	for e := t.recent.Back(); e != nil && (t.bytes > t.cfg.Budget || t.open > maxOpen); {
		p := e.Value.(*cacheEntry)
		e = e.Prev()
		if p.pins == 0 && (t.bytes > t.cfg.Budget && p.Memory() > 0 || t.open > maxOpen && p.Mapped()) {
			t.remove(p)
			t.count.Evictions++
		}
	}
}

// remove drops a table from the cache; t.mu is held.
func (t *Cache) remove(p *cacheEntry) {
	p.cached = false
	same := t.byName[p.key.Name]
	delete(same, p.key)
	if len(same) == 0 {
		delete(t.byName, p.key.Name)
	}
	bytes := p.Memory()
	if p.at != nil {
		t.recent.Remove(p.at)
		t.bytes -= bytes
		if p.Mapped() {
			t.open--
		}
	}
	if p.pins == 0 {
		p.Data.Release()
	}
	select {
	case before := <-t.freed:
		bytes += before
	default:
	}
	select {
	case t.freed <- bytes:
	default: // all senders hold t.mu, so there is room
	}
}

// DropOthers drops the tables of a name whose identity is not the present one: its file has
// changed.
func (t *Cache) DropOthers(name string, now source.Identity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, p := range t.byName[name] {
		if k.Identity != now {
			t.remove(p)
		}
	}
}

// Drop drops all tables.
func (t *Cache) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, same := range t.byName {
		for _, p := range same {
			t.remove(p)
		}
	}
}

// Evict drops the tables of a file, or of one of its layers if layer is not nil. It returns the
// options of each.
func (t *Cache) Evict(name string, layer *string) [][32]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	var evicted [][32]byte
	for k, p := range t.byName[name] {
		if layer != nil && k.Layer != *layer {
			continue
		}
		p.evicted = true
		t.remove(p)
		evicted = append(evicted, k.Options)
	}
	return evicted
}

// wasEvicted reports whether a table was evicted by name while it was saved.
func (t *Cache) wasEvicted(p *cacheEntry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.evicted
}

// Peek returns the cached table of a key, or nil, without counting as a use.
func (t *Cache) Peek(k job.Key) *readers.Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.byName[k.Name][k]; p != nil {
		return p.Table
	}
	return nil
}

// Has reports whether any table of a file is cached.
func (t *Cache) Has(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byName[name]) > 0
}

const (
	// memoryWorthReturning is the number of dropped bytes that make a garbage collection worth its
	// cost.
	memoryWorthReturning = 64 << 20
	memoryReturnInterval = 5 * time.Second
)

// returnMemory collects the memory of dropped tables until the cache is closed, so that the next
// table reuses it while it is still mapped. Memory unused for a while is returned to the system.
func (t *Cache) returnMemory() {
	var (
		bytes int64
		quiet <-chan time.Time // nil: all memory was returned
	)
	for {
		select {
		case <-t.ctx.Done():
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

// closeIdle drops the least recently used mapped table without holders. It returns false if there
// is none.
func (t *Cache) closeIdle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.recent.Back(); e != nil; e = e.Prev() {
		if p := e.Value.(*cacheEntry); p.pins == 0 && p.UsesFile() {
			t.remove(p)
			t.count.Evictions++
			return true
		}
	}
	return false
}

// Serves reports whether the table of a job is cached.
func (t *Cache) Serves(j job.Job) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(j) != nil
}

// ServesOrParses reports whether the table of a job is cached, or is being parsed.
func (t *Cache) ServesOrParses(j job.Job) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(j) != nil || t.underWay(j) != nil
}

// Progress returns the share of the job's file that a parse under way has read, from 0 to 1.
func (t *Cache) Progress(j job.Job) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.underWay(j); f != nil {
		return f.Progress()
	}
	return 0
}
