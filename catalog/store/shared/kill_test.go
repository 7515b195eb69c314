package shared

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/postgres"
	"github.com/vibeflight/vibeflight/catalog/store/postgres/pgtest"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

// TestKilledDatabase kills PostgreSQL and PgBouncer at random moments, while several servers read,
// write and hold leases. No record is wrong, no call takes longer than its deadline, and the
// database has the last record of each key in the end.
func TestKilledDatabase(t *testing.T) {
	kills := 40
	if testing.Short() {
		kills = 4
	}
	const servers, limit = 4, time.Second
	p := pgtest.StartOwn(t)
	bouncer := p.Bouncer(t)
	name := p.Database(t)
	var all []server
	for i := range servers {
		url := p.URL(name)
		if i%2 == 0 {
			url = bouncer.URL(name)
		}
		s := open(t, connect(t, url, limit, zerolog.Nop()), filepath.Join(t.TempDir(), "catalog.db"), zerolog.Nop())
		t.Cleanup(func() { _ = s.Close() })
		all = append(all, s)
	}
	var load kill
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i, s := range all {
		for worker := range 2 {
			wg.Go(func() { load.records(t, s, fmt.Sprintf("own %d %d", i, worker), stop) })
		}
		wg.Go(func() { load.leases(t, s.remote, fmt.Sprint("replica ", i), stop) })
	}
	for i := range kills {
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		victim := p.Server
		if i%2 == 0 {
			victim = bouncer
		}
		victim.Kill()
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
		victim.Restart(t)
		if i%4 == 3 { // every other time all servers have come back
			for _, s := range all {
				eventually(t, "back", func() bool { return !s.remote.Stats().Away })
			}
		}
	}
	close(stop)
	wg.Wait()
	for _, s := range all {
		caughtUp(t, s)
	}
	load.check(t, p, name, limit)
	for i, s := range all {
		t.Logf("server %d: %+v", i, s.remote.Stats())
	}
}

// kill is the load of a test, and what it expects in the end.
type kill struct {
	mu   sync.Mutex
	last map[string]int // version of each record that only one worker puts; 0: deleted

	calls, errors atomic.Int64
	slowest       atomic.Int64 // ns
	acquired      atomic.Int64
	owners        [3]atomic.Int64 // epoch of the last owner of each key
}

// time measures a call.
func (k *kill) time(begin time.Time) {
	took := int64(time.Since(begin))
	k.calls.Add(1)
	for old := k.slowest.Load(); took > old && !k.slowest.CompareAndSwap(old, took); old = k.slowest.Load() {
	}
}

// records puts, reads and deletes records of its own, and puts and reads some that all servers put.
func (k *kill) records(t *testing.T, s server, prefix string, stop chan struct{}) {
	ctx := t.Context()
	versions := map[string]int{}
	for version := 1; ; version++ {
		select {
		case <-stop:
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.last == nil {
				k.last = map[string]int{}
			}
			for name, version := range versions {
				k.last[name] = version
			}
			return
		default:
		}
		name := fmt.Sprintf("%s %02d", prefix, rand.IntN(20))
		r := storetest.Sample(name, version)
		begin := time.Now()
		var err error
		switch rand.IntN(8) {
		case 0:
			err = s.Delete(ctx, r.Key)
			r.FormatVersion = 0
			versions[name] = 0
		case 1, 2, 3:
			r.ParsedAt = time.Now()
			err = s.Put(ctx, r)
			versions[name] = version
		case 4:
			err = s.Put(ctx, storetest.Sample(fmt.Sprint("common ", rand.IntN(5)), version))
		case 5:
			n := 0
			err = s.Of(ctx, fmt.Sprint("common ", rand.IntN(5)), func(r store.Record) error {
				storetest.Intact(t, r)
				n++
				return nil
			})
			if n > 1 {
				t.Errorf("%d records of one key", n)
			}
		default:
			var got store.Record
			var ok bool
			got, ok, err = s.Get(ctx, r.Key)
			want, known := versions[name]
			if err == nil && known && (ok != (want > 0) || ok && got.FormatVersion != want) {
				t.Errorf("%s: version %d, %v, want %d", name, got.FormatVersion, ok, want)
			}
		}
		k.time(begin)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// leases acquires leases and puts records with them. The epochs of a key increase.
func (k *kill) leases(t *testing.T, r *Remote, owner string, stop chan struct{}) {
	ctx := t.Context()
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		n := rand.IntN(len(k.owners))
		begin := time.Now()
		l, ok, err := r.Acquire(ctx, fleet.WorkKey{byte(n)}, owner, "")
		k.time(begin)
		if err != nil && !errors.Is(err, fleet.ErrAway) {
			t.Errorf("acquire: %v", err)
		}
		if err != nil || !ok {
			continue
		}
		k.acquired.Add(1)
		if last := k.owners[n].Swap(l.Epoch); last >= l.Epoch {
			t.Errorf("key %d: epoch %d after %d", n, l.Epoch, last)
		}
		for _, call := range []func() error{
			func() error { return r.Renew(ctx, l) },
			func() error { return r.Release(ctx, l) },
		} {
			begin := time.Now()
			err := call()
			k.time(begin)
			if err != nil && !errors.Is(err, fleet.ErrAway) {
				t.Errorf("renew or release: %v", err)
			}
		}
	}
}

// check compares the database with the records that were put last.
func (k *kill) check(t *testing.T, p *pgtest.Postgres, name string, limit time.Duration) {
	t.Helper()
	slowest := time.Duration(k.slowest.Load())
	t.Logf("%d calls, the slowest took %v; %d leases", k.calls.Load(), slowest, k.acquired.Load())
	// a call of the database, and one of SQLite on a machine that has other work
	if slowest > limit+time.Second {
		t.Errorf("a call took %v with a deadline of %v", slowest, limit)
	}
	db := connect(t, p.URL(name), postgres.DefaultTimeout, zerolog.Nop())
	defer db.Close()
	found := map[string]int{}
	for _, r := range storetest.All(t, db) {
		found[r.Name] = r.FormatVersion
	}
	for name, want := range k.last {
		if found[name] != want {
			t.Errorf("%s: the database has version %d, want %d", name, found[name], want)
		}
	}
	if len(k.last) < 100 || k.acquired.Load() == 0 {
		t.Errorf("%d records and %d leases: too few to mean something", len(k.last), k.acquired.Load())
	}
}
