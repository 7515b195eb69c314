// Package poll lets clients wait for the parse of a table by asking again instead of holding a call
// open. A parse that is polled for continues between the calls, for a lease.
package poll

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
)

const (
	// DefaultWait is how long a poll waits for the table: most parses are over by then.
	DefaultWait = time.Second
	// DefaultLease is how long a parse continues without a poll, and how long its table or its
	// error is kept for the next poll.
	DefaultLease = time.Minute
	// MaxPrefetched is the number of files that are parsed at a time before a client requests their
	// rows: it may only want to know what there is.
	MaxPrefetched = 2
)

// errPrefetching says that enough files are being prefetched.
var errPrefetching = errors.New("catalog: enough files are parsed that no client has requested")

// Progress is the state of a parse that a poll did not see the end of.
type Progress struct {
	ID       string    // of the poll, for the next call and for Cancel
	Progress float64   // share of the file that was read, from 0 to 1
	Until    time.Time // when the parse is given up, unless there is another poll
}

// Polls are the parses that clients poll for. It is safe for concurrent use. A table's cache may
// call Failed while it is locked, so no function here calls the cache with the mutex held.
type Polls struct {
	Wait, Lease time.Duration

	ctx      context.Context // ends with the catalog
	wg       sync.WaitGroup
	progress func(job.Job) float64

	mu       sync.Mutex
	closed   bool
	byID     map[string]*poll
	failures map[job.Key]failure
}

// poll is a parse that a client polls for. Other callers may wait for it too.
type poll struct {
	id       string
	owner    string // by whose calls alone it is joined and canceled
	key      job.Key
	lease    context.Context // ends when no client polls any more
	end      context.CancelFunc
	stop     context.CancelFunc // leaves the parse, after its result was delivered
	timer    *time.Timer        // calls end
	done     chan struct{}      // closed when ref or err is set
	prefetch bool               // no client has polled for it yet

	// Guarded by Polls.mu.
	waiting int // calls that wait for it
	ref     *tables.Ref
	err     error
}

// failure is an error that was not returned to a client yet.
type failure struct {
	err error
	at  time.Time
}

// Table gets the table of a poll, which may take long.
type Table func(ctx context.Context) (*tables.Ref, error)

// New returns an empty set of polls. They end with ctx. progress returns the share of a job's file
// that was read. The caller closes it.
func New(ctx context.Context, progress func(job.Job) float64) *Polls {
	return &Polls{
		Wait: DefaultWait, Lease: DefaultLease, ctx: ctx, progress: progress,
		byID: map[string]*poll{}, failures: map[job.Key]failure{},
	}
}

// Close refuses new polls and waits for the end of all, after their context has ended.
func (ps *Polls) Close() {
	ps.mu.Lock()
	ps.closed = true
	ps.mu.Unlock()
	ps.wg.Wait()
}

// Poll returns the table of a job, or after Wait nil and the progress of its parse, which continues
// for Lease. id is that of an earlier poll for the same job, or "". All calls with one id have one
// share in the parse, which Cancel ends.
func (ps *Polls) Poll(ctx context.Context, j job.Job, table Table, id string) (*tables.Ref, Progress, error) {
	owner := access.OwnerOf(ctx)
	p := ps.join(id, owner, j.Key)
	if p == nil {
		var err error
		if p, err = ps.begin(table, &poll{id: rand.Text(), owner: owner, key: j.Key}); err != nil {
			return nil, Progress{}, err
		}
	}
	moment := time.NewTimer(ps.Wait)
	defer moment.Stop()
	select {
	case <-p.done:
		h, err := ps.take(p)
		if h == nil && err == nil { // another call with the id has taken it
			h, err = table(ctx)
		}
		return h, Progress{Progress: 1}, err
	case <-moment.C:
		ps.leave(p)
		return nil, Progress{ID: p.id, Progress: ps.progress(j), Until: time.Now().Add(ps.Lease)}, nil
	case <-ctx.Done():
		ps.leave(p)
		return nil, Progress{}, ctx.Err()
	}
}

// prefetcher is the owner of the polls of Prefetch. No caller has this name.
const prefetcher = "\x00prefetch"

// Prefetch begins the parse of a job as if a client polled for it, unless enough are under way. It
// does so once, however often it is called.
func (ps *Polls) Prefetch(j job.Job, table Table) error {
	id := fmt.Sprint("prefetch ", j.Key) // not the ID of any client's poll
	p := ps.join(id, prefetcher, j.Key)
	if p == nil {
		var err error
		p, err = ps.begin(table, &poll{id: id, owner: prefetcher, key: j.Key, prefetch: true})
		if errors.Is(err, errPrefetching) {
			return nil
		} else if err != nil {
			return err
		}
	}
	ps.leave(p)
	return nil
}

// Len returns the number of polls.
func (ps *Polls) Len() int {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return len(ps.byID)
}

// Cancel ends the share of a poll in a parse, and the parse if no other caller waits for it. It
// returns false if the parse is over, or the poll has another owner than the context.
func (ps *Polls) Cancel(ctx context.Context, id string) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.byID[id]
	if p == nil || p.owner != access.OwnerOf(ctx) {
		return false
	}
	delete(ps.byID, id)
	p.end()
	return !p.over()
}

// begin starts to get a table, unless another call began the same poll meanwhile, and counts the
// caller as waiting. The error is tree.ErrClosed, errPrefetching, or one that an earlier poll has
// not returned.
func (ps *Polls) begin(table Table, p *poll) (*poll, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.closed {
		return nil, tree.ErrClosed
	}
	if first := ps.byID[p.id]; first != nil {
		first.waiting++
		return first, nil
	}
	if p.prefetch && ps.prefetching() >= MaxPrefetched {
		return nil, errPrefetching
	}
	if !p.prefetch { // which returns no error of the parse to a client
		if err := ps.failed(p.key); err != nil {
			return nil, err
		}
	}
	p.done, p.waiting = make(chan struct{}), 1
	p.lease, p.end = context.WithCancel(ps.ctx)
	p.timer = time.AfterFunc(ps.Lease, p.end)
	ps.byID[p.id] = p
	work, stop := context.WithCancel(p.lease)
	p.stop = stop
	ps.wg.Go(func() {
		defer stop()
		h, err := table(work)
		if err != nil && ps.ctx.Err() != nil {
			err = tree.ErrClosed
		}
		ps.deliver(p, h, err)
		<-p.lease.Done() // a table larger than the budget would be dropped before the next poll
		p.timer.Stop()
		ps.forget(p).Release()
	})
	return p, nil
}

// prefetching returns the number of parses that no client has polled for; ps.mu is held.
func (ps *Polls) prefetching() (n int) {
	for _, p := range ps.byID {
		if p.prefetch && !p.over() {
			n++
		}
	}
	return n
}

// over reports whether the result is known.
func (p *poll) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// deliver gives the result to the waiting calls, unless Failed did. An error that no call waits for
// is kept.
func (ps *Polls) deliver(p *poll, h *tables.Ref, err error) {
	ps.mu.Lock()
	delivered := p.over()
	if !delivered {
		p.ref, p.err = h, err
		close(p.done)
		ps.keepError(p)
	}
	ps.mu.Unlock()
	if delivered {
		h.Release()
	}
}

// Failed gives the polls of a table the error of its parse when the parse ends. A poll that has not
// joined the parse, or that comes before the others have noticed, would otherwise parse the file
// again.
func (ps *Polls) Failed(k job.Key, err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.byID {
		if p.key == k && !p.over() {
			p.err = err
			close(p.done)
			p.stop()
			ps.keepError(p)
		}
	}
}

// keepError keeps the error of a poll for the next one, unless a call is about to get it, or the
// poll was given up; ps.mu is held.
func (ps *Polls) keepError(p *poll) {
	if p.err == nil || p.waiting > 0 {
		return
	}
	if p.lease.Err() == nil {
		ps.fail(p.key, p.err)
	}
	ps.remove(p)
	p.end()
}

// remove removes a poll, but not a later one with the same ID; ps.mu is held.
func (ps *Polls) remove(p *poll) {
	if ps.byID[p.id] == p {
		delete(ps.byID, p.id)
	}
}

// join returns the poll of an ID, renews its lease and counts the caller as waiting. It returns nil
// if there is no such poll, it has another owner, or it is for another version.
func (ps *Polls) join(id, owner string, k job.Key) *poll {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.byID[id]
	if p == nil || p.owner != owner || p.key != k {
		return nil
	}
	p.waiting++
	p.timer.Reset(ps.Lease)
	return p
}

// leave is called by a call that no longer waits. It renews the lease.
func (ps *Polls) leave(p *poll) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p.waiting--
	p.timer.Reset(ps.Lease)
	if p.over() {
		ps.keepError(p)
	}
}

// take returns the result of a poll, and ends it.
func (ps *Polls) take(p *poll) (*tables.Ref, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	h := p.ref
	p.ref = nil
	p.waiting--
	ps.remove(p)
	p.end()
	return h, p.err
}

// forget removes a poll and returns its table, if no call has taken it.
func (ps *Polls) forget(p *poll) *tables.Ref {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.remove(p)
	h := p.ref
	p.ref = nil
	return h
}

// fail keeps an error for the next poll; ps.mu is held.
func (ps *Polls) fail(k job.Key, err error) {
	for k, f := range ps.failures {
		if time.Since(f.at) > ps.Lease {
			delete(ps.failures, k)
		}
	}
	ps.failures[k] = failure{err, time.Now()}
}

// failed returns the error that is kept, once; ps.mu is held.
func (ps *Polls) failed(k job.Key) error {
	f, ok := ps.failures[k]
	delete(ps.failures, k)
	if !ok || time.Since(f.at) > ps.Lease {
		return nil
	}
	return f.err
}
