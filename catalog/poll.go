package catalog

import (
	"context"
	"time"
)

const (
	// pollWait is how long a poll waits for the table: most parses are over by then.
	pollWait = time.Second
	// pollLease is how long a parse goes on though nobody polls any more, and how long its error is kept for the next poll.
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
	if err := c.tables.failed(j.key); err != nil {
		return nil, 0, err
	}
	type answer struct {
		h   *Held
		err error
	}
	answers := make(chan answer)
	gone := make(chan struct{})
	lease, cancel := context.WithTimeout(c.ctx, pollLease)
	c.wg.Go(func() {
		defer cancel()
		h, err := c.Table(lease, req)
		select {
		case answers <- answer{h, err}:
		case <-gone:
			h.Release()
			if err != nil && lease.Err() == nil {
				c.tables.fail(j.key, err)
			}
		}
	})
	moment := time.NewTimer(pollWait)
	defer moment.Stop()
	select {
	case a := <-answers:
		return a.h, 1, a.err
	case <-moment.C:
		close(gone)
		return nil, c.tables.progress(j.key), nil
	case <-ctx.Done():
		close(gone)
		return nil, 0, ctx.Err()
	}
}

// progress is how much of its file a parse under way has read.
func (t *tables) progress(k key) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.flights[k]; f != nil {
		return f.progress()
	}
	return 0
}

// fail keeps an error for the next poll.
func (t *tables) fail(k key, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, f := range t.failures {
		if time.Since(f.at) > pollLease {
			delete(t.failures, k)
		}
	}
	t.failures[k] = failure{err, time.Now()}
}

// failed gives the error that is kept, once.
func (t *tables) failed(k key) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.failures[k]
	delete(t.failures, k)
	if !ok || time.Since(f.at) > pollLease {
		return nil
	}
	return f.err
}
