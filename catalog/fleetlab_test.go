package catalog

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
	"github.com/vibeflight/vibeflight/catalog/store/sqlite"
)

// fastTimes are the times of replicas in tests.
var fastTimes = lease.Times{
	Renew: 50 * time.Millisecond, MinPoll: 5 * time.Millisecond, MaxPoll: 10 * time.Millisecond,
	Patience: 50 * time.Millisecond,
}

// replicas are catalogs of the same files, with a shared cache and a shared database. Each has a cache
// folder of its own.
type replicas struct {
	*fleetWorld
	db     *database
	passed atomic.Int64 // nanoseconds by which the clock of the database is ahead of ours
	parsed atomic.Int64 // without an error
	failed atomic.Int64
	all    []*Catalog
	leases []*mortal
	caches []string
}

// database is what Postgres is in a real fleet.
type database struct {
	*fleettest.Memory
	*sqlite.Store
}

// here returns fleet.ErrAway if the database is away.
func (d *database) here(ctx context.Context) error {
	_, err := d.Replicas(ctx)
	return err
}

func (d *database) Prepare(ctx context.Context) error { return d.here(ctx) }

func (d *database) Get(ctx context.Context, key store.Key) (store.Record, bool, error) {
	if err := d.here(ctx); err != nil {
		return store.Record{}, false, err
	}
	return d.Store.Get(ctx, key)
}

func (d *database) Put(ctx context.Context, r store.Record) error {
	if err := d.here(ctx); err != nil {
		return err
	}
	return d.Store.Put(ctx, r)
}

func (d *database) PutNewer(ctx context.Context, r store.Record) error { return d.Put(ctx, r) }

func (d *database) PutHeld(ctx context.Context, r store.Record, l fleet.Lease) error {
	if err := d.here(ctx); err != nil {
		return err
	}
	if !d.Holds(l) {
		return fleet.ErrLost
	}
	return d.Put(ctx, r)
}

// Close does nothing: each replica closes its connection.
func (d *database) Close() error { return nil }

// mortal is the leases of a replica that may be killed: nothing is renewed or released then.
type mortal struct {
	fleet.Leases
	dead atomic.Bool
}

func (m *mortal) Renew(ctx context.Context, l fleet.Lease) error {
	if m.dead.Load() {
		return nil
	}
	return m.Leases.Renew(ctx, l)
}

func (m *mortal) Release(ctx context.Context, l fleet.Lease) error {
	if m.dead.Load() {
		return nil
	}
	return m.Leases.Release(ctx, l)
}

// openReplicas opens n catalogs.
func openReplicas(t *testing.T, n int, change ...func(*Config)) *replicas {
	t.Helper()
	r := &replicas{fleetWorld: newFleetWorld(t)}
	records, err := sqlite.Open(filepath.Join(t.TempDir(), "database"), zerolog.Nop())
	must(t, err)
	t.Cleanup(func() { _ = records.Close() })
	now := func() time.Time { return time.Now().Add(time.Duration(r.passed.Load())) }
	r.db = &database{fleettest.NewMemory(now), records}
	inner := r.change
	r.change = func(c *Config) {
		inner(c)
		for _, f := range change {
			f(c)
		}
	}
	for i := range n {
		c, m := r.replica(i)
		r.all, r.leases, r.caches = append(r.all, c), append(r.leases, m), append(r.caches, r.cache)
	}
	return r
}

// replica opens a catalog.
func (r *replicas) replica(n int) (*Catalog, *mortal) {
	r.t.Helper()
	remote := shared.New(r.db, zerolog.Nop())
	must(r.t, remote.Start(context.Background()))
	r.t.Cleanup(func() { _ = remote.Close() })
	m := &mortal{Leases: remote}
	change := r.change
	defer func() { r.change = change }()
	r.change = func(c *Config) {
		c.Shared = remote
		c.Fleet = &Fleet{ID: fmt.Sprint("replica ", n), Leases: m, Times: fastTimes}
		c.Parsed = func(p ParseReport) {
			if p.Err != nil {
				r.failed.Add(1)
			} else {
				r.parsed.Add(1)
			}
		}
		change(c)
	}
	return r.server(), m
}

func (r *replicas) refresh() {
	r.t.Helper()
	for _, c := range r.all {
		must(r.t, c.Refresh(r.t.Context()))
	}
}

// wantParsed checks the number of parses of all replicas since the last call.
func (r *replicas) wantParsed(parsed, failed int64) {
	r.t.Helper()
	if p, f := r.parsed.Swap(0), r.failed.Swap(0); p != parsed || f != failed {
		r.t.Errorf("%d parses and %d with an error, want %d and %d", p, f, parsed, failed)
	}
}

// wantNoLease waits until no replica has a lease.
func (r *replicas) wantNoLease() {
	r.t.Helper()
	eventually(r.t, "no lease", func() error {
		for i, c := range r.all {
			if n := c.Stats().Leases.Held; n > 0 && !r.leases[i].dead.Load() {
				return fmt.Errorf("replica %d has %d leases", i, n)
			}
		}
		return nil
	})
}

// pauseParses makes parses wait until resume is called, or their context ends. begun gets the row of
// each.
func (w *world) pauseParses() (begun chan int64, resume func()) {
	begun, open := make(chan int64, 1000), make(chan struct{})
	pause := func(ctx context.Context, row int64) error {
		begun <- row
		select {
		case <-open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.format.pause.Store(&pause)
	return begun, sync.OnceFunc(func() { w.format.pause.Store(nil); close(open) })
}

// result is what a caller of Table gets.
type result struct {
	answer answer
	err    error
}

// ask requests a table of a replica in the background.
func (r *replicas) ask(replica int, name, text string) chan result {
	done := make(chan result, 1)
	go func() {
		a, err := ask(context.Background(), r.all[replica], Request{Name: name}, text)
		done <- result{a, err}
	}()
	return done
}

func (r *replicas) wantResult(done chan result) answer {
	r.t.Helper()
	got := <-done
	if got.err != nil {
		r.t.Error(got.err)
	}
	return got.answer
}

func (r *replicas) awaitWaiting(replica, n int) {
	r.t.Helper()
	eventually(r.t, "a replica waits", func() error {
		if s := r.all[replica].Stats().Leases; s.Waiting != n {
			return fmt.Errorf("%d callers wait, want %d", s.Waiting, n)
		}
		return nil
	})
}
