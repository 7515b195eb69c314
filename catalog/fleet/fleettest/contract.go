package fleettest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

// A Clock makes time pass for a store: its leases and announcements become older by d.
type Clock func(d time.Duration)

// TestStore runs the tests that every store of a fleet passes. open returns an empty store, which
// lives until the end of the test, and its clock.
func TestStore(t *testing.T, open func(t *testing.T) (fleet.Store, Clock)) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, s fleet.Store, pass Clock)
	}{
		{"acquire and release", testAcquire},
		{"renew", testRenew},
		{"takeover at expiry", testTakeover},
		{"lost lease", testLost},
		{"one owner among many callers", testExclusion},
		{"one heir of a dead owner", testHeirs},
		{"replicas", testReplicas},
		{"keepers", testKeepers},
		{"many tables", testManyTables},
		{"canceled", testCanceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, pass := open(t)
			tt.run(t, s, pass)
		})
	}
}

func acquire(t *testing.T, s fleet.Store, key fleet.WorkKey, owner string) fleet.Lease {
	t.Helper()
	l, ok, err := s.Acquire(t.Context(), key, owner, "roads.geojson")
	if !ok || err != nil {
		t.Fatalf("acquire for %s: %v, %v", owner, ok, err)
	}
	return l
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func testAcquire(t *testing.T, s fleet.Store, _ Clock) {
	key := fleet.WorkKey{31: 1}
	if _, ok, err := s.Holder(t.Context(), key); ok || err != nil {
		t.Errorf("holder of a free lease: %v, %v", ok, err)
	}
	l := acquire(t, s, key, "a")
	if l.Key != key || l.Name != "roads.geojson" || l.Owner != "a" || l.Progress != 0 || l.Epoch < 1 {
		t.Errorf("acquired %+v", l)
	}
	for _, owner := range []string{"b", "a"} {
		held, ok, err := s.Acquire(t.Context(), key, owner, "other")
		if ok || err != nil || !same(held, l) {
			t.Errorf("acquire for %s: %+v, %v, %v, want the lease of a", owner, held, ok, err)
		}
	}
	if held, ok, err := s.Holder(t.Context(), key); !ok || err != nil || !same(held, l) {
		t.Errorf("holder: %+v, %v, %v, want %+v", held, ok, err, l)
	}
	acquire(t, s, fleet.WorkKey{31: 2}, "b") // another key is free
	for range 2 {
		check(t, s.Release(t.Context(), l))
	}
	if _, ok, err := s.Holder(t.Context(), key); ok || err != nil {
		t.Errorf("holder of a released lease: %v, %v", ok, err)
	}
	if next := acquire(t, s, key, "a"); next.Epoch <= l.Epoch || next.Progress != 0 {
		t.Errorf("acquired %+v after %+v", next, l)
	}
}

// same compares leases. Their times of expiry may be rounded.
func same(a, b fleet.Lease) bool {
	apart := a.Expires.Sub(b.Expires).Abs()
	a.Expires, b.Expires = time.Time{}, time.Time{}
	return a == b && apart < time.Millisecond
}

func testRenew(t *testing.T, s fleet.Store, pass Clock) {
	l := acquire(t, s, fleet.WorkKey{1}, "a")
	for i := range 4 {
		pass(fleet.LeaseTime * 2 / 3)
		l.Progress = float64(i) / 3
		check(t, s.Renew(t.Context(), l))
		held, ok, err := s.Holder(t.Context(), l.Key)
		if !ok || err != nil || held.Progress != l.Progress || held.Epoch != l.Epoch {
			t.Errorf("holder: %+v, %v, %v, want %+v", held, ok, err, l)
		}
	}
	// an expired lease that nobody has taken over can be renewed
	pass(2 * fleet.LeaseTime)
	if _, ok, err := s.Holder(t.Context(), l.Key); ok || err != nil {
		t.Errorf("holder of an expired lease: %v, %v", ok, err)
	}
	check(t, s.Renew(t.Context(), l))
	if held, ok, err := s.Acquire(t.Context(), l.Key, "b", ""); ok || err != nil || held.Owner != "a" {
		t.Errorf("acquire after the renewal: %+v, %v, %v", held, ok, err)
	}
}

func testTakeover(t *testing.T, s fleet.Store, pass Clock) {
	l := acquire(t, s, fleet.WorkKey{1}, "a")
	l.Progress = 0.5
	check(t, s.Renew(t.Context(), l))
	pass(fleet.LeaseTime - time.Second)
	if _, ok, err := s.Acquire(t.Context(), l.Key, "b", ""); ok || err != nil {
		t.Errorf("acquire just before the expiry: %v, %v", ok, err)
	}
	pass(2 * time.Second)
	next := acquire(t, s, l.Key, "b")
	if next.Owner != "b" || next.Epoch <= l.Epoch || next.Progress != 0 {
		t.Errorf("took over %+v after %+v", next, l)
	}
}

func testLost(t *testing.T, s fleet.Store, pass Clock) {
	old := acquire(t, s, fleet.WorkKey{1}, "a")
	pass(fleet.LeaseTime + time.Second)
	next := acquire(t, s, old.Key, "a") // the same replica, in another call
	if err := s.Renew(t.Context(), old); !errors.Is(err, fleet.ErrLost) {
		t.Errorf("renew of a lost lease: %v", err)
	}
	check(t, s.Release(t.Context(), old))
	if held, ok, err := s.Holder(t.Context(), old.Key); !ok || err != nil || held.Epoch != next.Epoch {
		t.Errorf("holder after the release of the lost lease: %+v, %v, %v, want %+v", held, ok, err, next)
	}
	check(t, s.Renew(t.Context(), next))
	stranger := next
	stranger.Owner = "c"
	if err := s.Renew(t.Context(), stranger); !errors.Is(err, fleet.ErrLost) {
		t.Errorf("renew of the lease of another: %v", err)
	}
	check(t, s.Release(t.Context(), next))
	for what, l := range map[string]fleet.Lease{
		"a released": next, "an unknown": {Key: fleet.WorkKey{9}, Owner: "a", Epoch: 1},
		"an empty": {Key: old.Key}, // owner and epoch are not set
	} {
		if err := s.Renew(t.Context(), l); !errors.Is(err, fleet.ErrLost) {
			t.Errorf("renew of %s lease: %v", what, err)
		}
		check(t, s.Release(t.Context(), l))
	}
}

// testExclusion lets many callers contend for few keys. A lease has one owner at a time, and epochs
// of a key increase.
func testExclusion(t *testing.T, s fleet.Store, _ Clock) {
	const callers, keys, each = 16, 3, 20
	var inside [keys]atomic.Int32
	var epochs [keys]atomic.Int64
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for done := 0; done < each; {
				k := (c + done) % keys
				l, ok, err := s.Acquire(t.Context(), fleet.WorkKey{byte(k)}, fmt.Sprint("replica ", c), "")
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					time.Sleep(time.Millisecond)
					continue
				}
				if inside[k].Add(1) != 1 {
					t.Errorf("key %d has two owners", k)
				}
				if before := epochs[k].Swap(l.Epoch); before >= l.Epoch {
					t.Errorf("key %d: epoch %d after %d", k, l.Epoch, before)
				}
				check(t, s.Renew(t.Context(), l))
				inside[k].Add(-1)
				check(t, s.Release(t.Context(), l))
				done++
			}
		})
	}
	wg.Wait()
}

// testHeirs lets many callers wait for the lease of an owner that has died.
func testHeirs(t *testing.T, s fleet.Store, pass Clock) {
	key := fleet.WorkKey{1}
	dead := acquire(t, s, key, "dead")
	pass(fleet.LeaseTime + time.Second)
	var heirs atomic.Int32
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			l, ok, err := s.Acquire(t.Context(), key, fmt.Sprint("replica ", c), "")
			if err != nil || l.Epoch <= dead.Epoch {
				t.Errorf("acquired %+v, %v after %+v", l, err, dead)
			}
			if ok {
				heirs.Add(1)
			}
		})
	}
	wg.Wait()
	if n := heirs.Load(); n != 1 {
		t.Errorf("%d heirs, want 1", n)
	}
}

func live(t *testing.T, s fleet.Store) []string {
	t.Helper()
	replicas, err := s.Replicas(t.Context())
	check(t, err)
	var ids []string
	for _, r := range replicas {
		ids = append(ids, r.ID)
	}
	return ids
}

func testReplicas(t *testing.T, s fleet.Store, pass Clock) {
	if got := live(t, s); len(got) != 0 {
		t.Errorf("replicas %q of an empty fleet", got)
	}
	want := fleet.Replica{ID: "b", Locations: []string{"grpc+tls://b:8815", "grpc://10.0.0.2:8815"}, Load: 3}
	for _, r := range []fleet.Replica{want, {ID: "a"}, {ID: "B"}} {
		check(t, s.Announce(t.Context(), r))
	}
	if got := live(t, s); !slices.Equal(got, []string{"B", "a", "b"}) {
		t.Errorf("replicas %q", got)
	}
	replicas, err := s.Replicas(t.Context())
	if err != nil || len(replicas) != 3 {
		t.Fatalf("%d replicas, %v", len(replicas), err)
	}
	got := replicas[2]
	if !slices.Equal(got.Locations, want.Locations) || got.Load != 3 || got.Seen.IsZero() {
		t.Errorf("got %+v, want %+v", got, want)
	}
	pass(fleet.PresenceTime * 2 / 3)
	want.Load = 4
	check(t, s.Announce(t.Context(), want))
	pass(fleet.PresenceTime * 2 / 3)
	replicas, err = s.Replicas(t.Context())
	if err != nil || len(replicas) != 1 || replicas[0].ID != "b" || replicas[0].Load != 4 {
		t.Errorf("replicas %+v, %v, want b only", replicas, err)
	}
	for range 2 {
		check(t, s.Leave(t.Context(), "b"))
	}
	if got := live(t, s); len(got) != 0 {
		t.Errorf("replicas %q after all have left", got)
	}
}

func wantKeepers(t *testing.T, s fleet.Store, table fleet.TableKey, want ...string) {
	t.Helper()
	got, err := s.Keepers(t.Context(), table)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("keepers of table %x: %q, %v, want %q", table[:1], got, err, want)
	}
}

func testKeepers(t *testing.T, s fleet.Store, pass Clock) {
	one, two := fleet.TableKey{1}, fleet.TableKey{2}
	wantKeepers(t, s, one)
	check(t, s.Keep(t.Context(), "b", []fleet.TableKey{one, two}, nil)) // not announced yet
	wantKeepers(t, s, one)
	for _, id := range []string{"b", "a"} {
		check(t, s.Announce(t.Context(), fleet.Replica{ID: id}))
	}
	for range 2 {
		check(t, s.Keep(t.Context(), "a", []fleet.TableKey{one}, []fleet.TableKey{two}))
	}
	wantKeepers(t, s, one, "a", "b")
	wantKeepers(t, s, two, "b")
	check(t, s.Keep(t.Context(), "b", nil, []fleet.TableKey{one}))
	check(t, s.Keep(t.Context(), "a", nil, nil))
	wantKeepers(t, s, one, "a")

	pass(fleet.PresenceTime - time.Second)
	check(t, s.Announce(t.Context(), fleet.Replica{ID: "b"}))
	pass(2 * time.Second)
	wantKeepers(t, s, one)
	wantKeepers(t, s, two, "b")
	// a replica that comes back still has its tables
	check(t, s.Announce(t.Context(), fleet.Replica{ID: "a"}))
	wantKeepers(t, s, one, "a")
	check(t, s.Leave(t.Context(), "a"))
	check(t, s.Announce(t.Context(), fleet.Replica{ID: "a"}))
	wantKeepers(t, s, one)
}

func testManyTables(t *testing.T, s fleet.Store, _ Clock) {
	tables := make([]fleet.TableKey, 5000)
	for i := range tables {
		tables[i] = fleet.TableKey{byte(i >> 8), byte(i)}
	}
	check(t, s.Announce(t.Context(), fleet.Replica{ID: "a"}))
	check(t, s.Keep(t.Context(), "a", tables, nil))
	check(t, s.Keep(t.Context(), "a", nil, tables[1000:]))
	wantKeepers(t, s, tables[999], "a")
	wantKeepers(t, s, tables[1000])
}

func testCanceled(t *testing.T, s fleet.Store, _ Clock) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	key := fleet.WorkKey{1}
	if _, _, err := s.Acquire(ctx, key, "a", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("acquire, canceled: %v", err)
	}
	if _, ok, err := s.Holder(t.Context(), key); ok || err != nil {
		t.Errorf("holder: %v, %v", ok, err)
	}
	if err := s.Announce(ctx, fleet.Replica{ID: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("announce, canceled: %v", err)
	}
}
