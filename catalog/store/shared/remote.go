// Package shared joins the records of a server with those of a database that several servers share.
//
// A database that is away costs sharing and nothing else. After its first error it is not called
// again until a probe in the background succeeds, so that no call waits for it twice. What it missed
// meanwhile is written when it is back.
package shared

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store"
)

// Database is a store that several servers share. Its errors wrap fleet.ErrAway if it does not
// answer. It bounds the time of each call, or of each page of a listing.
type Database interface {
	store.Store
	fleet.Store

	// Prepare connects, and makes the database usable by this version of the program.
	Prepare(ctx context.Context) error
	// PutNewer stores a record, unless the one with its key is of a later parse.
	PutNewer(ctx context.Context, r store.Record) error
	// PutHeld stores a record while a lease has its owner and epoch, or returns fleet.ErrLost.
	PutHeld(ctx context.Context, r store.Record, l fleet.Lease) error
}

// Times between probes of a database that is away. Each is twice the one preceding it.
const (
	firstProbe = time.Second
	lastProbe  = 30 * time.Second
)

// Remote is a shared database that may be away. Its methods then return an error that wraps
// fleet.ErrAway, at once. It is safe for concurrent use.
type Remote struct {
	db    Database
	log   zerolog.Logger
	first time.Duration // firstProbe; shorter in tests

	ctx  context.Context // canceled by Close
	stop context.CancelFunc
	wg   sync.WaitGroup

	away atomic.Bool // written under mu

	mu        sync.Mutex
	closed    bool
	permanent []error // see Start
	records   map[*Records]bool

	calls, failures, skipped, outages atomic.Int64
	hits, localHits                   atomic.Int64
	late, rejected                    atomic.Int64
}

var _ fleet.Store = (*Remote)(nil)

// New returns the remote of a database, which it owns. The caller closes it.
func New(db Database, log zerolog.Logger) *Remote {
	r := &Remote{db: db, log: log, first: firstProbe, records: map[*Records]bool{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Start connects to the database. One that is away is not an error: it is probed from now on.
// permanent are errors for which waiting does not help.
func (r *Remote) Start(ctx context.Context, permanent ...error) error {
	r.mu.Lock()
	r.permanent = permanent
	r.mu.Unlock()
	err := r.do(ctx, func() error { return r.db.Prepare(ctx) })
	if errors.Is(err, fleet.ErrAway) && !r.isPermanent(err) {
		return nil
	}
	return err
}

func (r *Remote) isPermanent(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.permanent, func(p error) bool { return errors.Is(err, p) })
}

// Close closes the database after the calls in progress.
func (r *Remote) Close() error {
	r.mu.Lock()
	r.closed = true
	pending := r.pending()
	r.mu.Unlock()
	r.stop()
	r.wg.Wait()
	if pending > 0 {
		r.log.Warn().Int("records", pending).Msg("the shared store did not get all records of this server")
	}
	return r.db.Close()
}

// errOpen is the error of calls that are not made.
var errOpen = fmt.Errorf("not called since its last error: %w", fleet.ErrAway)

// do calls the database, unless it is away.
func (r *Remote) do(ctx context.Context, call func() error) error {
	if r.away.Load() {
		r.skipped.Add(1)
		return errOpen
	}
	r.calls.Add(1)
	err := call()
	if errors.Is(err, fleet.ErrAway) && ctx.Err() == nil {
		r.failures.Add(1)
		r.trip(err)
	}
	return err
}

// Away reports whether the database does not answer, so that it is not called.
func (r *Remote) Away() bool { return r.away.Load() }

// trip begins an outage. A goroutine ends it.
func (r *Remote) trip(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.away.Load() {
		return
	}
	r.away.Store(true)
	r.outages.Add(1)
	r.log.Warn().Err(cause).Msg("the shared store is away; this server goes on alone")
	r.wg.Go(func() { r.probe(time.Now()) })
}

// probe tries to reach the database until it answers.
func (r *Remote) probe(since time.Time) {
	warned := false
	for delay := r.first; ; delay = min(2*delay, lastProbe) {
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(delay):
		}
		err := r.db.Prepare(r.ctx)
		if err == nil {
			break
		}
		if r.isPermanent(err) && !warned {
			warned = true
			r.log.Error().Err(err).Msg("the shared store can no longer be used")
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.away.Store(false)
	r.log.Info().Dur("away_ms", time.Since(since)).Int("missed_records", r.pending()).Msg("the shared store is back")
	for records := range r.records {
		records.catchUp()
	}
}

// pending returns the number of records that the database lacks. The caller holds mu.
func (r *Remote) pending() (n int) {
	for records := range r.records {
		n += records.pending()
	}
	return n
}

// Stats are the numbers of a shared store since the server has started.
type Stats struct {
	Away      bool  `json:"away"`
	Calls     int64 `json:"calls"`      // of the store
	Failures  int64 `json:"failures"`   // of them, because the store did not answer
	Skipped   int64 `json:"skipped"`    // calls that were not made, because the store was away
	Outages   int64 `json:"outages"`    // times that the store went away
	Hits      int64 `json:"hits"`       // records that the store had
	LocalHits int64 `json:"local_hits"` // records that only this server had
	Pending   int   `json:"pending"`    // records that the store lacks and will get
	Late      int64 `json:"late"`       // records that it got after an outage
	Rejected  int64 `json:"rejected"`   // records that it did not accept
}

// Stats returns the current numbers.
func (r *Remote) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{
		Away: r.away.Load(), Calls: r.calls.Load(), Failures: r.failures.Load(), Skipped: r.skipped.Load(),
		Outages: r.outages.Load(), Hits: r.hits.Load(), LocalHits: r.localHits.Load(), Pending: r.pending(),
		Late: r.late.Load(), Rejected: r.rejected.Load(),
	}
}
