package catalog

import (
	"context"
	"time"

	"github.com/vibeflight/vibeflight/readers"
)

// maxParses is how many files are parsed at the same time; each parse uses several cores and the memory of its table.
const maxParses = 8

// flight is one parse that any number of askers wait for.
type flight struct {
	done   chan struct{} // closed at the end
	cancel context.CancelFunc

	// Guarded by tables.mu.
	waiters int
	over    bool

	// Set before done is closed.
	parsed *parsed
	err    error
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
		return f.parsed, false, f.err
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
	var table *readers.Table
	var took time.Duration
	var err error
	select {
	case t.slots <- struct{}{}:
		begin := time.Now()
		table, err = c.parse(ctx, j)
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
	t.count.parses++
	t.count.parseTime += took
	if err == nil {
		f.parsed = t.put(j.key, table, f.waiters)
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
