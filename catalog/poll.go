package catalog

import (
	"context"
	"time"
)

const (
	// pollWait is how long a poll waits for the table: most parses are over by then.
	pollWait = time.Second
	// pollLease is how long a parse goes on though nobody polls any more, and how long its table or its error is kept for the next poll.
	pollLease = time.Minute
)

// failure is an error that a poll has not told yet.
type failure struct {
	err error
	at  time.Time
}

// Poll is Table for those who would rather ask again than wait. If there is no table after a moment it gives nil, and how much of the file is read,
// from 0 to 1; the parse goes on for pollLease.
func (c *Catalog) Poll(ctx context.Context, req Request) (h *Held, progress float64, err error) {
	j, err := c.request(req)
	if err != nil {
		return nil, 0, err
	}
	if err := c.tables.failed(j.key, c.pollLease); err != nil {
		return nil, 0, err
	}
	type answer struct {
		h   *Held
		err error
	}
	answers := make(chan answer)
	gone := make(chan struct{})
	if !c.begin(func() {
		lease, cancel := context.WithTimeout(c.ctx, c.pollLease)
		defer cancel()
		h, err := c.Table(lease, req)
		if err != nil && c.ctx.Err() != nil {
			err = ErrClosed
		}
		select {
		case answers <- answer{h, err}:
		case <-gone:
			if err == nil {
				<-lease.Done() // a table beyond the budget would be gone before anybody polls again
				h.Release()
			} else if lease.Err() == nil {
				c.tables.fail(j.key, err, c.pollLease)
			}
		}
	}) {
		return nil, 0, ErrClosed
	}
	moment := time.NewTimer(c.pollWait)
	defer moment.Stop()
	select {
	case a := <-answers:
		return a.h, 1, a.err
	case <-moment.C:
		close(gone)
		return nil, c.tables.progress(j), nil
	case <-ctx.Done():
		close(gone)
		return nil, 0, ctx.Err()
	}
}

// begin runs f in a goroutine that Close waits for, unless the catalog is closed.
func (c *Catalog) begin(f func()) bool {
	c.tables.mu.Lock()
	defer c.tables.mu.Unlock()
	if c.tables.closed {
		return false
	}
	c.wg.Go(f)
	return true
}

// progress is how much of its file a parse under way has read.
func (t *tables) progress(j job) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.underWay(j); f != nil {
		return f.progress()
	}
	return 0
}

// fail keeps an error for the next poll.
func (t *tables) fail(k key, err error, lease time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, f := range t.failures {
		if time.Since(f.at) > lease {
			delete(t.failures, k)
		}
	}
	t.failures[k] = failure{err, time.Now()}
}

// failed gives the error that is kept, once.
func (t *tables) failed(k key, lease time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.failures[k]
	delete(t.failures, k)
	if !ok || time.Since(f.at) > lease {
		return nil
	}
	return f.err
}
