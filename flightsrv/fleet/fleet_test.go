package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
)

const (
	renew    = 5 * time.Millisecond
	presence = 200 * time.Millisecond
)

// lab is a store with a clock that the test sets forward, and counts of its calls.
type lab struct {
	*fleettest.Memory
	t       *testing.T
	ahead   atomic.Int64 // of the clock, in ns
	keepers atomic.Int64 // calls of Keepers
	slow    atomic.Int64 // time that Keepers takes, in ns
}

func newLab(t *testing.T) *lab {
	l := &lab{t: t}
	l.Memory = fleettest.NewMemory(func() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())) })
	return l
}

func (l *lab) Keepers(ctx context.Context, key fleetstore.TableKey) ([]string, error) {
	l.keepers.Add(1)
	time.Sleep(time.Duration(l.slow.Load()))
	return l.Memory.Keepers(ctx, key)
}

// join starts a replica. set changes its tables.
func (l *lab) join(id string) (f *Fleet, set func(tables ...fleetstore.TableKey)) {
	l.t.Helper()
	var tables atomic.Pointer[[]fleetstore.TableKey]
	set = func(now ...fleetstore.TableKey) { tables.Store(&now) }
	set()
	f = New(Config{
		Store: l, ID: id, Locations: []string{"grpc://" + id + ":1"}, Load: func() int64 { return int64(len(id)) },
		Tables: func() []fleetstore.TableKey { return *tables.Load() },
		Has:    func(k fleetstore.TableKey) bool { return slices.Contains(*tables.Load(), k) },
		Log:    zerolog.Nop(), Renew: renew, Presence: presence,
	})
	f.Start()
	l.t.Cleanup(f.Close)
	return f, set
}

func replicaIDs(all []fleetstore.Replica) (out []string) {
	for _, r := range all {
		out = append(out, r.ID)
	}
	return out
}

func (l *lab) soon(what string, ok func() bool) {
	l.t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("%s: not seen in time", what)
		}
	}
}

// sees waits until a replica knows these and no others to be alive.
func (l *lab) sees(f *Fleet, want ...string) {
	l.t.Helper()
	l.soon(fmt.Sprintf("%s sees %v", f.ID(), want), func() bool { return slices.Equal(replicaIDs(f.Replicas()), want) })
}

func TestReplicasComeAndGo(t *testing.T) {
	l := newLab(t)
	a, _ := l.join("a")
	l.sees(a, "a")
	b, _ := l.join("b")
	c, _ := l.join("c")
	for _, f := range []*Fleet{a, b, c} {
		l.sees(f, "a", "b", "c")
	}
	if r, ok := a.Find("c"); !ok || r.Locations[0] != "grpc://c:1" {
		t.Errorf("found %+v, %v", r, ok)
	}
	b.Leave()
	l.sees(a, "a", "c")
	l.sees(b, "a", "c") // it still knows the others
	c.Close()           // is silent
	l.ahead.Add(int64(fleetstore.PresenceTime))
	l.sees(a, "a")
	if s := a.Stats(); s.ID != "a" || len(s.Replicas) != 1 || s.Replicas[0].Calls != 1 || !s.StoreAnswers {
		t.Errorf("stats %+v", s)
	}
}

func TestStoreThatIsAway(t *testing.T) {
	l := newLab(t)
	a, set := l.join("a")
	l.join("b")
	l.sees(a, "a", "b")
	l.SetAway(true)
	l.soon("away", func() bool { return !a.Answers() })
	set(fleetstore.TableKey{1})
	if got := replicaIDs(a.Replicas()); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("just after: %v", got)
	}
	l.sees(a, "a") // after the presence
	if r, gone := a.Made([]byte(Tag("b") + "0123456789abcdef")); r == nil || gone {
		t.Errorf("a handle of b: %v, %v; b may be there", r, gone)
	}
	begin := time.Now()
	key := fleetstore.TableKey{1}
	if got, _ := a.Placement(t.Context(), &key, true); !slices.Equal(ids(got), []string{"a"}) {
		t.Errorf("placement %v", got)
	}
	if took := time.Since(begin); took > keepersWait {
		t.Errorf("a client waited %v for a store that is away", took)
	}
	l.SetAway(false)
	l.sees(a, "a", "b")
	l.soon("the table is reported", func() bool {
		got, _ := l.Memory.Keepers(t.Context(), key)
		return slices.Equal(got, []string{"a"})
	})
}

func TestTablesAreReported(t *testing.T) {
	l := newLab(t)
	_, set := l.join("a")
	var keys []fleetstore.TableKey
	for i := range 2500 {
		keys = append(keys, fleetstore.TableKey{byte(i), byte(i >> 8)})
	}
	keeps := func(k fleetstore.TableKey, want ...string) {
		t.Helper()
		l.soon(fmt.Sprint("keepers of ", k[:2]), func() bool {
			got, err := l.Memory.Keepers(t.Context(), k)
			return err == nil && slices.Equal(got, want)
		})
	}
	set(keys...)
	keeps(keys[0], "a")
	keeps(keys[2499], "a")
	b, setB := l.join("b")
	setB(keys[7])
	keeps(keys[7], "a", "b")
	set(keys[1:]...)
	keeps(keys[0])
	keeps(keys[1], "a")

	// Another process with the same ID has other tables.
	b.Close()
	_, setAgain := l.join("b")
	setAgain(keys[8])
	keeps(keys[8], "a", "b")
	keeps(keys[7], "a")
}

func TestPlacementOfKeepers(t *testing.T) {
	l := newLab(t)
	a, _ := l.join("a")
	b, setB := l.join("b")
	c, setC := l.join("c")
	all := []*Fleet{a, b, c}
	for _, f := range all {
		l.sees(f, "a", "b", "c")
	}
	key := fleetstore.TableKey{9}
	place := func(f *Fleet) []string {
		order, n := f.Placement(t.Context(), &key, true)
		return ids(order[:n])
	}
	want := place(a)
	if len(want) != 3 {
		t.Errorf("placement %v of a table that none has", want)
	}
	for _, f := range all {
		l.soon("the same order", func() bool { return slices.Equal(place(f), want) })
	}
	setC(key)
	for _, f := range all {
		l.soon("the keeper", func() bool { return slices.Equal(place(f), []string{"c"}) })
	}
	setB(key)
	want = slices.DeleteFunc(slices.Clone(want), func(id string) bool { return id == "a" })
	for _, f := range all {
		l.soon("both keepers", func() bool { return slices.Equal(place(f), want) })
	}
	c.Leave()
	l.soon("the keeper that stays", func() bool { return slices.Equal(place(a), []string{"b"}) })
}

// TestKeepersAreRemembered checks that many calls ask the store once, and do not wait for it long.
func TestKeepersAreRemembered(t *testing.T) {
	l := newLab(t)
	f := New(Config{Store: l, ID: "a", Load: func() int64 { return 0 }, Log: zerolog.Nop()})
	f.Start()
	defer f.Close()
	l.soon("an answer", f.Answers)
	key := fleetstore.TableKey{1}
	for range 1000 {
		f.Placement(t.Context(), &key, true)
	}
	if n := l.keepers.Load(); n != 1 {
		t.Errorf("1000 calls asked the store %d times", n)
	}
	other := fleetstore.TableKey{2}
	f.Placement(t.Context(), &other, false)
	if n := l.keepers.Load(); n != 1 {
		t.Error("a call that can't wait asked the store")
	}
	l.slow.Store(int64(400 * time.Millisecond))
	begin := time.Now()
	f.Placement(t.Context(), &other, true)
	if took := time.Since(begin); took < keepersWait || took > 3*keepersWait {
		t.Errorf("a call waited %v for a slow store", took)
	}
	for i := range 2 * maxKeepers {
		l.slow.Store(0)
		f.keepers.of(t.Context(), fleetstore.TableKey{byte(i), byte(i >> 8), 1}, true)
	}
	if n := len(f.keepers.tables); n > maxKeepers+maxKeepersAsks {
		t.Errorf("%d tables are remembered", n)
	}
}

func TestHandlesAreRecognized(t *testing.T) {
	l := newLab(t)
	a, _ := l.join("a")
	b, _ := l.join("b")
	l.sees(a, "a", "b")
	const random = "0123456789abcdef"
	for handle, want := range map[string]string{
		Tag("b") + random: "b", Tag("a") + random: "", Tag("c") + random: "", random: "", "": "", Tag("b"): "b",
		Tag("b")[:7]: "", "b" + random: "",
	} {
		r, gone := a.Made([]byte(handle))
		if (r == nil) != (want == "") || r != nil && r.ID != want || gone {
			t.Errorf("%x: %v, %v, want %q", handle, r, gone, want)
		}
	}
	b.Leave()
	l.sees(a, "a")
	if r, gone := a.Made([]byte(Tag("b") + random)); r == nil || gone {
		t.Errorf("just after it left: %v, %v; it may drain", r, gone)
	}
	a.mu.Lock()
	a.others[Tag("b")].gone = time.Now().Add(-2 * goneTime)
	a.mu.Unlock()
	if r, gone := a.Made([]byte(Tag("b") + random)); r == nil || !gone {
		t.Errorf("later: %v, %v", r, gone)
	}
	if a.Callable("b") {
		t.Error("a replica that has gone is called")
	}
	a.mu.Lock()
	a.others[Tag("b")].gone = time.Now().Add(-2 * rememberedTime)
	a.mu.Unlock()
	l.soon("it is forgotten", func() bool {
		r, _ := a.Made([]byte(Tag("b") + random))
		return r == nil
	})
}

func TestRememberedReplicasAreBounded(t *testing.T) {
	f := New(Config{Store: newLab(t), ID: "a", Load: func() int64 { return 0 }, Log: zerolog.Nop()})
	for i := range 3 * maxRemembered {
		f.update([]fleetstore.Replica{{ID: fmt.Sprint("r", i)}})
	}
	if n := len(f.others); n > maxRemembered+1 {
		t.Errorf("%d replicas are remembered", n)
	}
	if r, _ := f.Made([]byte(Tag(fmt.Sprint("r", 3*maxRemembered-2)))); r == nil {
		t.Error("the last one that left is not")
	}
}

func TestServersOfOneIDAreLogged(t *testing.T) {
	var log strings.Builder
	f := New(Config{
		Store: newLab(t), ID: "a", Locations: []string{"grpc://a:1"}, Load: func() int64 { return 0 },
		Log: zerolog.New(&log),
	})
	f.update([]fleetstore.Replica{{ID: "a", Locations: []string{"grpc://a:1"}}})
	if log.Len() > 0 {
		t.Errorf("logged %s", &log)
	}
	for range 2 {
		f.update([]fleetstore.Replica{{ID: "a", Locations: []string{"grpc://b:1"}}})
	}
	if n := strings.Count(log.String(), "--replica"); n != 1 || len(f.list) != 0 {
		t.Errorf("logged %d times: %s", n, &log)
	}
}

func TestIDs(t *testing.T) {
	for range 10 {
		if id := NewID(); CheckID(id) != nil || id == NewID() {
			t.Errorf("ID %q", id)
		}
	}
	for _, id := range []string{"a", "flight-0.flight.example:8815", strings.Repeat("x", 128)} {
		if err := CheckID(id); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"", "a b", "ä", "a\n", strings.Repeat("x", 129)} {
		if CheckID(id) == nil {
			t.Errorf("%q is accepted", id)
		}
	}
}

// TestOverloadedKeeper sends many calls to the only replica that has a table. Others may then serve it
// too, until the loads are read again.
func TestOverloadedKeeper(t *testing.T) {
	key := fleetstore.TableKey{1}
	f := New(Config{
		Store: newLab(t), ID: "a", Locations: []string{"grpc://a:1"}, Load: func() int64 { return 0 },
		Has: func(k fleetstore.TableKey) bool { return k == key }, Log: zerolog.Nop(),
	})
	list := []fleetstore.Replica{
		{ID: "a", Locations: []string{"grpc://a:1"}},
		{ID: "b", Locations: []string{"grpc://b:1"}},
	}
	check := func(when, best string, n int) {
		t.Helper()
		if order, got := f.Placement(t.Context(), &key, false); len(order) != 2 || order[0].ID != best || got != n {
			t.Errorf("%s: %v, the first %d of it; want %s first, and %d", when, ids(order), got, best, n)
		}
	}
	f.update(list)
	check("idle", "a", 1)
	for range 2 * freeSent {
		f.Sent("grpc://a:1")
	}
	check("after many calls", "b", 2)
	f.update(list)
	check("with new loads", "a", 1)
}
