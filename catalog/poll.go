package catalog

import (
	"context"
	"crypto/rand"
	"errors"
	"time"
)

const (
	// pollWait is how long a poll waits for the table: most parses are over by then.
	pollWait = time.Second
	// pollLease is how long a parse goes on though nobody polls any more, and how long its table or
	// its error is kept for the next poll.
	pollLease = time.Minute
	// mostExpected is how many files are parsed at a time for who will ask for their rows, as it
	// seems: somebody may only look at what there is.
	mostExpected = 2
)

// errExpected says that enough is expected.
var errExpected = errors.New("catalog: enough files are parsed that nobody has asked for")

// Polled is where a parse is that a poll did not see the end of.
type Polled struct {
	ID       string    // of the poll, for the next one and for CancelPoll
	Progress float64   // how much of the file is read, from 0 to 1
	Until    time.Time // when it is given up, unless there is another poll
}

// poll is a parse that somebody polls for, among others who may wait for it.
type poll struct {
	id    string
	key   key
	lease context.Context // ends when nobody polls any more
	end   context.CancelFunc
	stop  context.CancelFunc // ends its share in the parse, of which all is told
	timer *time.Timer        // calls end
	done  chan struct{}      // closed when held or err is set

	expected bool // nobody has asked for it yet

	// Guarded by tables.mu.
	asking int // calls that wait for it
	held   *TableRef
	err    error
}

// failure is an error that a poll has not told yet.
type failure struct {
	err error
	at  time.Time
}

// Poll is Table for those who would rather ask again than wait. If there is no table after a moment
// it gives nil, and what it knows; the parse goes on for pollLease. id is that of an earlier poll
// for the same, or "": whoever polls with it has one share in the parse, which CancelPoll ends.
func (c *Catalog) Poll(ctx context.Context, req Request, id string) (*TableRef, Polled, error) {
	j, err := c.request(req)
	if err != nil {
		return nil, Polled{}, err
	}
	t := c.tables
	p := t.joinPoll(id, j.key, c.pollLease)
	if p == nil {
		if p, err = c.beginPoll(req, &poll{id: rand.Text(), key: j.key}); err != nil {
			return nil, Polled{}, err
		}
	}
	moment := time.NewTimer(c.pollWait)
	defer moment.Stop()
	select {
	case <-p.done:
		h, err := t.takePoll(p)
		if h == nil && err == nil { // another poll of the same id has it
			h, err = c.Table(ctx, req)
		}
		return h, Polled{Progress: 1}, err
	case <-moment.C:
		t.leavePoll(p, c.pollLease)
		return nil, Polled{ID: p.id, Progress: t.progress(j), Until: time.Now().Add(c.pollLease)}, nil
	case <-ctx.Done():
		t.leavePoll(p, c.pollLease)
		return nil, Polled{}, ctx.Err()
	}
}

// CancelPoll ends the share of a poll in a parse, and the parse if nobody else waits for it. It is
// false if there is nothing to end any more.
func (c *Catalog) CancelPoll(id string) bool {
	c.tables.mu.Lock()
	defer c.tables.mu.Unlock()
	p := c.tables.polls[id]
	if p == nil {
		return false
	}
	delete(c.tables.polls, id)
	p.end()
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// beginPoll has a table parsed for who polls, unless there is a poll of that ID meanwhile, and
// counts the caller as one who asks. The error is ErrClosed, errExpected, or one that an earlier
// poll has not told.
func (c *Catalog) beginPoll(req Request, p *poll) (*poll, error) {
	t := c.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrClosed
	}
	if first := t.polls[p.id]; first != nil {
		first.asking++
		return first, nil
	}
	if p.expected && t.expecting() >= mostExpected {
		return nil, errExpected
	}
	if !p.expected { // nobody is told what becomes of that
		if err := t.failed(p.key, c.pollLease); err != nil {
			return nil, err
		}
	}
	p.done, p.asking = make(chan struct{}), 1
	p.lease, p.end = context.WithCancel(c.ctx)
	p.timer = time.AfterFunc(c.pollLease, p.end)
	t.polls[p.id] = p
	work, stop := context.WithCancel(p.lease)
	p.stop = stop
	c.wg.Go(func() {
		defer stop()
		h, err := c.Table(work, req)
		if err != nil && c.ctx.Err() != nil {
			err = ErrClosed
		}
		t.endPoll(p, h, err, c.pollLease)
		<-p.lease.Done() // a table beyond the budget would be gone before anybody polls again
		p.timer.Stop()
		t.forgetPoll(p).Release()
	})
	return p, nil
}

// expecting is how many files are being parsed for who will ask for them. t.mu is held.
func (t *tables) expecting() (n int) {
	for _, p := range t.polls {
		if p.expected && !p.over() {
			n++
		}
	}
	return n
}

// over reports whether the end of the parse was told.
func (p *poll) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// endPoll tells all who ask the end of a parse, unless failPolls did. An error that nobody asks for
// is kept.
func (t *tables) endPoll(p *poll, h *TableRef, err error, lease time.Duration) {
	t.mu.Lock()
	told := p.over()
	if !told {
		p.held, p.err = h, err
		close(p.done)
		t.keepError(p, lease)
	}
	t.mu.Unlock()
	if told {
		h.Release()
	}
}

// failPolls tells the polls of a table the error of its parse when that ends: one that has not
// joined it, or whoever polls before the others have noticed, would have the file parsed again.
// t.mu is held.
func (t *tables) failPolls(k key, err error, lease time.Duration) {
	for _, p := range t.polls {
		if p.key == k && !p.over() {
			p.err = err
			close(p.done)
			p.stop()
			t.keepError(p, lease)
		}
	}
}

// keepError keeps the error of a poll for whoever polls next, unless somebody is about to get it,
// or the poll was given up. t.mu is held.
func (t *tables) keepError(p *poll, lease time.Duration) {
	if p.err == nil || p.asking > 0 {
		return
	}
	if p.lease.Err() == nil {
		t.fail(p.key, p.err, lease)
	}
	t.dropPoll(p)
	p.end()
}

// dropPoll takes a poll away, and none that has its ID by now. t.mu is held.
func (t *tables) dropPoll(p *poll) {
	if t.polls[p.id] == p {
		delete(t.polls, p.id)
	}
}

// joinPoll gives the poll of an id, with another lease, and counts the caller as one who asks; nil:
// there is none, or it is about another version.
func (t *tables) joinPoll(id string, k key, lease time.Duration) *poll {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.polls[id]
	if p == nil || p.key != k {
		return nil
	}
	p.asking++
	p.timer.Reset(lease)
	return p
}

// leavePoll is for a call that no longer waits. The lease begins with it.
func (t *tables) leavePoll(p *poll, lease time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.asking--
	p.timer.Reset(lease)
	if p.over() {
		t.keepError(p, lease)
	}
}

// takePoll gives what a poll has come to, and ends it.
func (t *tables) takePoll(p *poll) (*TableRef, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := p.held
	p.held = nil
	p.asking--
	t.dropPoll(p)
	p.end()
	return h, p.err
}

// forgetPoll gives the table that nobody has taken.
func (t *tables) forgetPoll(p *poll) *TableRef {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropPoll(p)
	h := p.held
	p.held = nil
	return h
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

// fail keeps an error for the next poll. t.mu is held.
func (t *tables) fail(k key, err error, lease time.Duration) {
	for k, f := range t.failures {
		if time.Since(f.at) > lease {
			delete(t.failures, k)
		}
	}
	t.failures[k] = failure{err, time.Now()}
}

// failed gives the error that is kept, once. t.mu is held.
func (t *tables) failed(k key, lease time.Duration) error {
	f, ok := t.failures[k]
	delete(t.failures, k)
	if !ok || time.Since(f.at) > lease {
		return nil
	}
	return f.err
}
