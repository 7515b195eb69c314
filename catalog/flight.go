package catalog

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/readers/source"
)

// maxParses is how many files are parsed at the same time; each parse uses several cores and the memory of its table.
const maxParses = 8

// flight is one parse that any number of askers wait for.
type flight struct {
	done   chan struct{} // closed at the end
	cancel context.CancelFunc
	src    atomic.Pointer[source.File] // that is read; nil before

	// Guarded by tables.mu.
	waiters int
	over    bool

	// Set before done is closed.
	parsed *parsed
	cached bool // it lay in the cache
	err    error
}

// reads tells which file the parse reads.
func (f *flight) reads(src *source.File) { f.src.Store(src) }

// progress is how much of the file was read, from 0 to 1.
func (f *flight) progress() float64 {
	src := f.src.Load()
	if src == nil || src.Size == 0 {
		return 0
	}
	return min(1, float64(src.BytesRead())/float64(src.Size))
}

// join gives the table of a job, pinned: the kept one, that of a parse under way, or that of a new parse.
func (c *Catalog) join(ctx context.Context, j job) (p *parsed, cached bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	t := c.tables
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, false, ErrClosed
	}
	if p := t.hit(j.key); p != nil {
		t.count.hits++
		t.mu.Unlock()
		return p, true, nil
	}
	f := t.flights[j.key]
	if f == nil {
		t.count.misses++
		own, cancel := context.WithCancel(c.ctx)
		f = &flight{done: make(chan struct{}), cancel: cancel}
		t.flights[j.key] = f
		t.wg.Go(func() { c.fly(own, f, j) })
	} else {
		t.count.shared++
	}
	f.waiters++
	t.mu.Unlock()

	select {
	case <-f.done:
		return f.parsed, f.cached, f.err
	case <-ctx.Done():
		t.leave(f, j.key)
		return nil, false, ctx.Err()
	}
}

// leave is for a waiter who no longer waits. With the last one the parse ends, and whoever asks next begins another.
func (t *tables) leave(f *flight, k key) {
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
	if f.waiters == 0 {
		f.cancel()
		if t.flights[k] == f {
			delete(t.flights, k)
		}
	}
}

// fly parses and hands the table to all who wait.
func (c *Catalog) fly(ctx context.Context, f *flight, j job) {
	defer f.cancel()
	t := c.tables
	var l *loaded
	var parsed bool
	var took time.Duration
	var err error
	select {
	case t.slots <- struct{}{}:
		begin := time.Now()
		l, parsed, err = c.obtain(ctx, f, j)
		took = time.Since(begin)
		<-t.slots
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && c.ctx.Err() != nil {
		err = ErrClosed
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
		f.parsed, f.cached = t.put(j.key, l, pins), !parsed
		if pins > f.waiters {
			t.wg.Go(func() { c.save(j, f.parsed) })
		}
	} else if f.waiters > 0 {
		t.count.parseErrors++
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
