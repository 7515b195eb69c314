package catalog

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// maxParses is how many files are parsed at the same time; each parse uses several cores and the
// memory of its table.
const maxParses = 8

// parseCall is one parse that any number of askers wait for.
type parseCall struct {
	key     key
	columns readers.Projection // that the table will have, at least
	done    chan struct{}      // closed at the end
	cancel  context.CancelFunc
	packed  atomic.Pointer[source.File] // that is unpacked first; nil: it is not packed
	src     atomic.Pointer[source.File] // that is read; nil before
	record  *fileRecord                 // what is known of the file; nil: nothing; of doParse
	began   time.Time                   // the parse; zero if there was none; of doParse

	begun chan struct{} // closed when live is set, if it ever is
	live  *partialTable // the rows as they come; nil where they can't be told before the last one
	once  sync.Once

	// Guarded by tables.mu.
	waiters int
	over    bool

	// Set before done is closed.
	parsed *cacheEntry
	cached bool // it lay in the cache
	err    error
}

// reads tells which file the parse reads.
func (f *parseCall) reads(src *source.File) { f.src.Store(src) }

// unpacks tells which file is unpacked before the parse reads its content.
func (f *parseCall) unpacks(src *source.File) { f.packed.Store(src) }

// progress is how much of the file was read, from 0 to 1. To unpack it is half of the way.
func (f *parseCall) progress() float64 {
	packed, src := f.packed.Load(), f.src.Load()
	if packed == nil {
		return partRead(src)
	}
	return (partRead(packed) + partRead(src)) / 2
}

func partRead(src *source.File) float64 {
	if src == nil || src.Size == 0 {
		return 0
	}
	return min(1, float64(src.BytesRead())/float64(src.Size))
}

// begin says whether there are rows before the last one is parsed.
func (f *parseCall) begin(l *partialTable) {
	f.once.Do(func() {
		f.live = l
		close(f.begun)
	})
}

// complete reports whether all rows are parsed, as far as that is known.
func (f *parseCall) complete() bool {
	select {
	case <-f.begun:
		return f.live != nil && f.live.complete()
	default:
		return false
	}
}

// join gives the table of a job, pinned: the kept one, that of a parse under way, or that of a new
// parse.
func (c *Catalog) join(ctx context.Context, j job) (p *cacheEntry, cached bool, err error) {
	p, f, err := c.board(ctx, j)
	if err != nil || p != nil {
		return p, p != nil, err
	}
	return c.await(ctx, f)
}

// await gives the table of a parse that the caller has boarded.
func (c *Catalog) await(ctx context.Context, f *parseCall) (p *cacheEntry, cached bool, err error) {
	select {
	case <-f.done:
		return f.parsed, f.cached, f.err
	case <-ctx.Done():
		c.tables.leave(f)
		return nil, false, ctx.Err()
	}
}

// board gives the kept table of a job, pinned, or the parse of it, which counts the caller as one
// who waits: until await, or leave. A table of more columns than are asked for is as good.
func (c *Catalog) board(ctx context.Context, j job) (*cacheEntry, *parseCall, error) {
	t := c.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil { // failPolls may have been quicker
		return nil, nil, err
	}
	if t.closed {
		return nil, nil, ErrClosed
	}
	if p := t.hit(j); p != nil {
		t.count.hits++
		return p, nil, nil
	}
	f := t.underWay(j)
	if f == nil {
		t.count.misses++
		own, cancel := context.WithCancel(c.ctx)
		f = &parseCall{
			key: j.key, columns: j.columns, done: make(chan struct{}), begun: make(chan struct{}),
			cancel: cancel,
		}
		t.flights[j.key] = f
		t.wg.Go(func() { c.doParse(own, f, j) })
	} else {
		t.count.shared++
	}
	f.waiters++
	return nil, f, nil
}

// underWay gives the parse of a job, or one of more columns of the same table; t.mu is held.
func (t *tables) underWay(j job) *parseCall {
	if f := t.flights[j.key]; f != nil {
		return f
	}
	for _, f := range t.flights {
		if f.key.ofTable() == j.key.ofTable() && f.columns.Covers(j.columns) {
			return f
		}
	}
	return nil
}

// leave is for a waiter who no longer waits. With the last one the parse ends, and whoever asks
// next begins another.
func (t *tables) leave(f *parseCall) {
	t.mu.Lock()
	if f.over {
		t.mu.Unlock()
		if f.err == nil {
			t.release(f.parsed)
		}
		return
	}
	defer t.mu.Unlock()
	f.waiters--
	if f.waiters == 0 && !f.complete() { // else nothing is left to do but to keep the table
		f.cancel()
		if t.flights[f.key] == f {
			delete(t.flights, f.key)
		}
	}
}

// doParse parses and hands the table to all who wait.
func (c *Catalog) doParse(ctx context.Context, f *parseCall, j job) {
	defer f.cancel()
	t := c.tables
	l, parsed, err := c.obtain(ctx, f, j)
	took := time.Since(f.began)
	known, err := c.layersOf(j, l, err)
	if err != nil && c.ctx.Err() != nil {
		err = ErrClosed
	}
	f.begin(nil)
	if f.live != nil {
		defer f.live.end() // when the table can be had
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flights[j.key] == f {
		delete(t.flights, j.key)
	}
	if parsed {
		t.count.parses++
		t.count.parseTime += took
	}
	if err == nil {
		pins := f.waiters
		if parsed && c.archive != nil {
			pins++ // that of the save
		}
		f.parsed, f.cached = t.put(known, l, pins), !parsed
		if pins > f.waiters {
			c.saves.Add(1)
			t.wg.Go(func() {
				defer c.saves.Done()
				c.save(known, f.parsed)
			})
		}
	} else if f.waiters > 0 {
		t.count.parseErrors++
		if !errors.Is(err, source.ErrChanged) { // that is tried once more
			t.failPolls(j.key, err, c.pollLease)
		}
	}
	f.err, f.over = err, true
	close(f.done)
}

// close ends all parses' admission; they end with the catalog's context.
func (t *tables) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}
