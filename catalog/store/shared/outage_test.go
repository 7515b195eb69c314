package shared

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/sqlite"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

// begin returns a server with a database in memory.
func begin(t *testing.T, away bool) (server, *fake, *storetest.Log) {
	t.Helper()
	db, log := newFake(away), &storetest.Log{}
	s := open(t, db, filepath.Join(t.TempDir(), "catalog.db"), zerolog.New(log))
	t.Cleanup(func() { _ = s.Close() })
	return s, db, log
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// caughtUp waits until the database has all records.
func caughtUp(t *testing.T, s server) {
	t.Helper()
	eventually(t, "caught up", func() bool {
		stats := s.remote.Stats()
		s.mu.Lock()
		defer s.mu.Unlock()
		return !stats.Away && stats.Pending == 0 && !s.writing && !s.overflow
	})
}

func names(records []store.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, fmt.Sprint(r.Name, r.FormatVersion))
	}
	return strings.Join(all, " ")
}

// TestOutage puts and deletes records during an outage.
func TestOutage(t *testing.T) {
	s, db, log := begin(t, false)
	storetest.Put(t, s, storetest.Sample("a", 1), storetest.Sample("b", 1), storetest.Sample("c", 1))
	if got := names(storetest.All(t, db.Store)); got != "a1 b1 c1" {
		t.Errorf("the database has %s", got)
	}
	db.SetAway(true)
	storetest.Put(t, s, storetest.Sample("b", 2), storetest.Sample("d", 1), storetest.Sample("b", 3))
	if err := s.Delete(t.Context(), storetest.Sample("a", 0).Key); err != nil {
		t.Error(err)
	}
	if got := names(storetest.All(t, s)); got != "b3 c1 d1" {
		t.Errorf("alone: %s", got)
	}
	if got := names(storetest.All(t, db.Store)); got != "a1 b1 c1" {
		t.Errorf("the database has %s while it is away", got)
	}
	stats := s.remote.Stats()
	if !stats.Away || stats.Outages != 1 || stats.Failures != 1 || stats.Pending != 3 {
		t.Errorf("%+v", stats)
	}
	if _, err := s.remote.Replicas(t.Context()); !errors.Is(err, fleet.ErrAway) {
		t.Errorf("replicas: %v", err)
	}
	db.SetAway(false)
	caughtUp(t, s)
	if got := names(storetest.All(t, db.Store)); got != "b3 c1 d1" {
		t.Errorf("the database has %s", got)
	}
	stats = s.remote.Stats()
	if stats.Late != 3 || stats.Rejected != 0 {
		t.Errorf("%+v", stats)
	}
	if text := log.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "is away") ||
		!strings.Contains(text, "is back") {
		t.Errorf("log %s, want one line for the beginning and one for the end", text)
	}
}

// TestStartAway starts while the database is away.
func TestStartAway(t *testing.T) {
	s, db, _ := begin(t, true)
	if err := s.remote.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Works(t, s)
	db.SetAway(false)
	caughtUp(t, s)
	if got := names(storetest.All(t, db.Store)); got != "works1" {
		t.Errorf("the database has %s", got)
	}
	l, ok, err := s.remote.Acquire(t.Context(), fleet.WorkKey{1}, "a", "")
	if !ok || err != nil || l.Owner != "a" {
		t.Errorf("acquired %+v, %v, %v", l, ok, err)
	}
}

// TestRestartDuringOutage starts again during an outage, and with it lost which records were missed.
func TestRestartDuringOutage(t *testing.T) {
	db, path := newFake(true), filepath.Join(t.TempDir(), "catalog.db")
	first := open(t, db, path, zerolog.Nop())
	storetest.Put(t, first, storetest.Sample("a", 1), storetest.Sample("b", 1))
	if err := first.Records.Close(); err != nil {
		t.Fatal(err)
	}
	local, err := sqlite.Open(path, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	r := New(db, zerolog.Nop())
	r.first = time.Millisecond
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := server{r.Join(local), r}
	defer second.Close()
	db.SetAway(false)
	caughtUp(t, second)
	if got := names(storetest.All(t, db.Store)); got != "a1 b1" {
		t.Errorf("the database has %s", got)
	}
}

func TestPermanentError(t *testing.T) {
	s, _, _ := begin(t, true)
	if err := s.remote.Start(t.Context(), fleet.ErrAway); !errors.Is(err, fleet.ErrAway) {
		t.Errorf("start: %v", err)
	}
}

// TestRememberedRecords reads records of another server, and then goes on alone.
func TestRememberedRecords(t *testing.T) {
	s, db, _ := begin(t, false)
	storetest.Put(t, s, storetest.Sample("b", 1))
	storetest.Put(t, db.Store, storetest.Sample("a", 1), storetest.Sample("b", 2))
	for _, name := range []string{"a", "b"} {
		if r, ok, err := s.Get(t.Context(), storetest.Sample(name, 0).Key); !ok || err != nil {
			t.Error(name, ok, err)
		} else {
			storetest.Intact(t, r)
		}
	}
	db.SetAway(true)
	if got := names(storetest.All(t, s)); got != "a1 b2" {
		t.Errorf("alone: %s", got)
	}
}

// TestListingDuringOutage lets the database go away in the middle of a listing.
func TestListingDuringOutage(t *testing.T) {
	s, db, _ := begin(t, false)
	for _, name := range []string{"a", "b", "c", "d"} {
		storetest.Put(t, s, storetest.Sample(name, 1))
	}
	storetest.Put(t, db.Store, storetest.Sample("bb", 1)) // of another server
	var got []store.Record
	if err := s.All(t.Context(), func(r store.Record) error {
		got = append(got, r)
		db.SetAway(r.Name >= "bb")
		return nil
	}); err != nil {
		t.Error(err)
	}
	if names(got) != "a1 b1 bb1 c1 d1" {
		t.Errorf("listed %s", names(got))
	}
	stop := errors.New("enough")
	if err := s.All(t.Context(), func(store.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("listing: %v", err)
	}
}

// TestListingDuringCatchUp lists records while the database has older ones.
func TestListingDuringCatchUp(t *testing.T) {
	s, db, _ := begin(t, false)
	layered := storetest.Sample("f", 1)
	layered.Layers = []string{"one", "two"}
	for _, name := range []string{"b", "c", "d"} {
		storetest.Put(t, s, storetest.Sample(name, 1))
	}
	db.SetAway(true)
	storetest.Put(t, s, storetest.Sample("a", 1), storetest.Sample("c", 2), storetest.Sample("e", 1), layered)
	if err := s.Delete(t.Context(), storetest.Sample("d", 0).Key); err != nil {
		t.Error(err)
	}
	db.puts = make(chan store.Record) // the catch-up waits
	db.SetAway(false)
	eventually(t, "back", func() bool { return !s.remote.Stats().Away })
	if got := names(storetest.All(t, s)); got != "a1 b1 c2 e1 f1" {
		t.Errorf("all: %s", got)
	}
	for name, want := range map[string]string{"c": "c2", "b": "b1", "e": "e1", "x": ""} {
		var got []store.Record
		err := s.Of(t.Context(), name, func(r store.Record) error { got = append(got, r); return nil })
		if err != nil || names(got) != want {
			t.Errorf("of %s: %q, %v, want %q", name, names(got), err, want)
		}
	}
	var got []store.Record
	if err := s.Layered(t.Context(), func(r store.Record) error { got = append(got, r); return nil }); err != nil ||
		names(got) != "f1" {
		t.Errorf("with layers: %s, %v", names(got), err)
	}
	if r, ok, err := s.Get(t.Context(), storetest.Sample("c", 0).Key); !ok || err != nil || r.FormatVersion != 2 {
		t.Errorf("get: version %d, %v, %v", r.FormatVersion, ok, err)
	}
	// a change during the catch-up is written too
	storetest.Put(t, s, storetest.Sample("c", 3))
	go func() {
		for range db.puts {
		}
	}()
	defer close(db.puts)
	caughtUp(t, s)
	if got := names(storetest.All(t, db.Store)); got != "a1 b1 c3 e1 f1" {
		t.Errorf("the database has %s", got)
	}
}

// TestManyMissed has more missed records than keys are remembered.
func TestManyMissed(t *testing.T) {
	s, db, _ := begin(t, true)
	s.max = 10
	for i := range 500 {
		storetest.Put(t, s, storetest.Sample(fmt.Sprintf("%03d", i), i))
	}
	if n := s.remote.Stats().Pending; n != 10 {
		t.Errorf("%d pending, want 10", n)
	}
	db.SetAway(false)
	caughtUp(t, s)
	got := storetest.All(t, db.Store)
	if len(got) != 500 {
		t.Errorf("the database has %d records", len(got))
	}
}

// TestHeldRecords puts records with a lease.
func TestHeldRecords(t *testing.T) {
	s, db, _ := begin(t, false)
	l, _, err := s.remote.Acquire(t.Context(), fleet.WorkKey{1}, "a", "")
	if err != nil {
		t.Fatal(err)
	}
	r := storetest.Sample("a", 1)
	if err := s.PutHeld(t.Context(), r, l); err != nil {
		t.Error(err)
	}
	if err := s.remote.Release(t.Context(), l); err != nil {
		t.Error(err)
	}
	if err := s.PutHeld(t.Context(), storetest.Sample("a", 2), l); !errors.Is(err, fleet.ErrLost) {
		t.Errorf("put of a lost lease: %v", err)
	}
	for _, of := range []store.Store{s.local, db.Store} {
		if got := names(storetest.All(t, of)); got != "a1" {
			t.Errorf("has %s, want a1", got)
		}
	}
	db.SetAway(true)
	if err := s.PutHeld(t.Context(), storetest.Sample("a", 3), l); err != nil {
		t.Errorf("put while the database is away: %v", err)
	}
	db.SetAway(false)
	caughtUp(t, s)
	if got := names(storetest.All(t, db.Store)); got != "a3" {
		t.Errorf("the database has %s, want a3", got)
	}
}
