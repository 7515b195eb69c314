package tables

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// MaxParses is the number of files that are parsed at a time. Each parse uses several cores, and
// the memory of its table.
const MaxParses = 8

// Call is one parse that any number of callers wait for.
type Call struct {
	key     job.Key
	columns readers.Projection // that the table will have, at least
	cancel  context.CancelFunc
	packed  atomic.Pointer[source.File] // that is unpacked first; nil: the file is not packed
	src     atomic.Pointer[source.File] // that is read; nil until then
	started time.Time                   // of the parse; zero if the table was loaded
	held    *lease.Lease                // of the parse, until the table is saved; nil: there is none
	other   atomic.Uint64               // bits of the progress of another replica that parses the file; or 0

	begun   chan struct{} // closed when partial is set, or never will be
	partial *PartialTable // nil: rows are available only after the parse
	once    sync.Once     // closes begun

	// Guarded by Cache.mu.
	waiters int
	over    bool

	// Set before done is closed.
	done   chan struct{}
	entry  *cacheEntry
	cached bool // the table was in the archive
	err    error
}

// Start is called when the parse starts, for its duration.
func (f *Call) Start() { f.started = time.Now() }

// Unpacks sets the file that is unpacked before its content is read.
func (f *Call) Unpacks(src *source.File) { f.packed.Store(src) }

// Reads sets the file that is read.
func (f *Call) Reads(src *source.File) { f.src.Store(src) }

// Holds sets the lease of the parse, which is released when the table is saved.
func (f *Call) Holds(held *lease.Lease) { f.held = held }

// Waits sets the progress of another replica that parses the file; 0: none does.
func (f *Call) Waits(progress float64) { f.other.Store(math.Float64bits(progress)) }

// Begin tells the waiters that rows are available while the file is parsed, or with nil, that they
// are not. Calls after the first do nothing.
func (f *Call) Begin(l *PartialTable) {
	f.once.Do(func() {
		f.partial = l
		close(f.begun)
	})
}

// Progress returns the share of the file that was read, from 0 to 1. Unpacking counts as half.
func (f *Call) Progress() float64 {
	if other := math.Float64frombits(f.other.Load()); other > 0 {
		return other
	}
	packed, src := f.packed.Load(), f.src.Load()
	if packed == nil {
		return shareRead(src)
	}
	return (shareRead(packed) + shareRead(src)) / 2
}

func shareRead(src *source.File) float64 {
	if src == nil || src.Size == 0 {
		return 0
	}
	return min(1, float64(src.BytesRead())/float64(max(1, src.AllBytes())))
}

// BytesRead returns how many bytes of the file, unpacked, were read.
func (f *Call) BytesRead() int64 {
	if src := f.src.Load(); src != nil {
		return src.BytesRead()
	}
	return 0
}

// complete reports whether all rows are known to be parsed.
func (f *Call) complete() bool {
	select {
	case <-f.begun:
		return f.partial != nil && f.partial.complete()
	default:
		return false
	}
}

// get returns the table of a job, pinned: from the cache, or from a parse that is joined or begun.
func (t *Cache) get(ctx context.Context, j job.Job) (p *cacheEntry, cached bool, err error) {
	p, f, err := t.getOrJoin(ctx, j)
	if err != nil || p != nil {
		return p, p != nil, err
	}
	return t.wait(ctx, f)
}

// wait returns the table of a parse that the caller has joined.
func (t *Cache) wait(ctx context.Context, f *Call) (p *cacheEntry, cached bool, err error) {
	select {
	case <-f.done:
		return f.entry, f.cached, f.err
	case <-ctx.Done():
		t.leave(f)
		return nil, false, ctx.Err()
	}
}

// getOrJoin returns the cached table of a job, pinned, or joins the parse of it, until wait or
// leave. A table with more columns is as good.
func (t *Cache) getOrJoin(ctx context.Context, j job.Job) (*cacheEntry, *Call, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil { // Config.Failed may have canceled it
		return nil, nil, err
	}
	if t.closed {
		return nil, nil, tree.ErrClosed
	}
	if p := t.hit(j); p != nil {
		t.count.Hits++
		return p, nil, nil
	}
	f := t.underWay(j)
	if f == nil {
		t.count.Misses++
		own, cancel := context.WithCancel(t.ctx)
		if t.cfg.Queue != nil {
			own = t.cfg.Queue.Inherit(own, ctx)
		}
		f = &Call{
			key: j.Key, columns: j.Columns, done: make(chan struct{}), begun: make(chan struct{}),
			cancel: cancel,
		}
		t.calls[j.Key] = f
		t.wg.Go(func() { t.do(own, f, j) })
	} else {
		t.count.Shared++
	}
	f.waiters++
	return nil, f, nil
}

// underWay returns the parse of a job, or one of more columns of the same table; t.mu is held.
func (t *Cache) underWay(j job.Job) *Call {
	if f := t.calls[j.Key]; f != nil {
		return f
	}
	for _, f := range t.calls {
		if f.key.WholeTable() == j.Key.WholeTable() && f.columns.Covers(j.Columns) {
			return f
		}
	}
	return nil
}

// leave is called by a waiter that no longer waits. When the last one leaves, the parse is
// canceled, and the next caller begins another one.
func (t *Cache) leave(f *Call) {
	t.mu.Lock()
	if f.over {
		t.mu.Unlock()
		if f.err == nil {
			t.release(f.entry)
		}
		return
	}
	defer t.mu.Unlock()
	f.waiters--
	if f.waiters == 0 && !f.complete() { // else the table only has to be cached
		f.cancel()
		if t.calls[f.key] == f {
			delete(t.calls, f.key)
		}
	}
}

// do loads the table of a job and hands it to all waiters.
func (t *Cache) do(ctx context.Context, f *Call, j job.Job) {
	defer f.cancel()
	l, parsed, err := t.cfg.Load(ctx, f, j)
	took := time.Since(f.started)
	loaded, err := t.cfg.Loaded(j, l, err)
	if err != nil && t.ctx.Err() != nil {
		err = tree.ErrClosed
	}
	f.Begin(nil)
	if f.partial != nil {
		defer f.partial.end() // after the table is available
	}

	saves := err == nil && parsed && t.cfg.Archive.OnDisk()
	if !saves {
		f.held.Release()
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls[j.Key] == f {
		delete(t.calls, j.Key)
	}
	if parsed {
		t.count.Parses++
		t.count.ParseTime += took
	}
	if err == nil {
		pins := f.waiters
		if saves {
			pins++ // that of the save
		}
		f.entry, f.cached = t.put(loaded, l, pins), !parsed
		if saves {
			t.saves.Add(1)
			t.wg.Go(func() {
				defer t.saves.Done()
				t.save(loaded, f.entry, f.held)
			})
		}
	} else if f.waiters > 0 {
		t.count.ParseErrors++
		if !errors.Is(err, source.ErrChanged) { // the caller tries that again
			t.cfg.Failed(j.Key, err)
		}
	}
	f.err, f.over = err, true
	close(f.done)
}

// save writes a parsed table to the archive while its callers use it, and removes its pin. Then it
// releases the lease of the parse: other replicas find the table.
func (t *Cache) save(j job.Job, p *cacheEntry, held *lease.Lease) {
	a, log := t.cfg.Archive, t.cfg.Log
	defer held.Release()
	defer t.release(p)
	defer func() {
		if r := recover(); r != nil {
			log.Error().Str("name", j.Entry.Name).Interface("panic", r).Stack().Msg("panic while saving a table")
		}
	}()
	select {
	case t.saving <- struct{}{}:
		defer func() { <-t.saving }()
	case <-t.ctx.Done():
		return
	}
	if t.wasEvicted(p) {
		return
	}
	if _, ok := held.Stored(); ok && j.Maker != nil {
		if err := j.Maker.Record(t.ctx); err != nil && t.ctx.Err() == nil {
			log.Warn().Err(err).Str("name", j.Entry.Name).Msg("what is known of a pack can't be stored")
		}
	}
	mapped, err := a.Save(t.ctx, j, p.Data, held)
	if err == nil && t.wasEvicted(p) {
		err = a.Forget(t.ctx, j)
	}
	if mapped != nil {
		t.exchange(j, p, mapped)
	}
	if err != nil && t.ctx.Err() == nil && !errors.Is(err, source.ErrChanged) {
		a.CountSaveError()
		log.Warn().Err(err).Str("name", j.Entry.Name).Msg("the parsed table is not in the cache: " +
			"it is parsed again when it is not in memory any more")
	}
}
