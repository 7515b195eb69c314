package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
)

var fast = Times{
	Lease: 200 * time.Millisecond, Renew: 10 * time.Millisecond, MinPoll: 2 * time.Millisecond,
	MaxPoll: 4 * time.Millisecond, Call: time.Second, Patience: 30 * time.Millisecond,
}

// countingStore counts the calls of a store.
type countingStore struct {
	*fleettest.Memory
	calls  atomic.Int64
	passed atomic.Int64 // nanoseconds by which its clock is ahead
}

func newStore() *countingStore {
	s := &countingStore{}
	s.Memory = fleettest.NewMemory(func() time.Time { return time.Now().Add(time.Duration(s.passed.Load())) })
	return s
}

func (s *countingStore) Holder(ctx context.Context, key fleet.WorkKey) (fleet.Lease, bool, error) {
	s.calls.Add(1)
	return s.Memory.Holder(ctx, key)
}

func (s *countingStore) Acquire(ctx context.Context, key fleet.WorkKey, owner, name string) (fleet.Lease, bool, error) {
	s.calls.Add(1)
	return s.Memory.Acquire(ctx, key, owner, name)
}

// logText is a log that may be read while it is written.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func keeper(s fleet.Leases, id string, log *logText) *Keeper {
	cfg := Config{ID: id, Leases: s, Times: fast, Log: zerolog.Nop()}
	if log != nil {
		cfg.Log = zerolog.New(log)
	}
	return New(cfg)
}

// work returns work whose result is not there, and for which there is always a slot.
func work(change ...func(*Work)) *Work {
	w := &Work{
		Key: fleet.WorkKey{1}, Name: "a.rows",
		Done: func(context.Context, bool) bool { return false },
		Slot: func(context.Context) (func(), error) { return func() {}, nil },
		Progress: func() float64 {
			return 0
		},
		Waits: func(float64) {},
	}
	for _, f := range change {
		f(w)
	}
	return w
}

// begin expects a turn.
func begin(t *testing.T, k *Keeper, w *Work) *Turn {
	t.Helper()
	turn, err := k.Begin(t.Context(), w)
	if turn == nil || err != nil {
		t.Fatalf("turn %v, error %v", turn, err)
	}
	return turn
}

func (turn *Turn) end() {
	turn.Free()
	turn.Lease.Release()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

func TestAlone(t *testing.T) {
	var k *Keeper
	turn := begin(t, k, work())
	if _, ok := turn.Lease.Stored(); ok || turn.Lease.Lost() {
		t.Error("alone there is a lease")
	}
	turn.end()
}

// TestOneWorks: many callers of several replicas want the same results at once. Each is made once,
// with a slot of the replica that makes it.
func TestOneWorks(t *testing.T) {
	const keys, callers, slots = 30, 12, 3
	s := newStore()
	var made [keys]atomic.Int64
	var wait sync.WaitGroup
	keepers := []*Keeper{keeper(s, "a", nil), keeper(s, "b", nil), keeper(s, "c", nil)}
	for _, k := range keepers {
		free := make(chan struct{}, slots)
		for c := range callers {
			wait.Go(func() {
				for n := range keys {
					i := (n + c) % keys
					turn, err := k.Begin(t.Context(), work(func(w *Work) {
						w.Key = fleet.WorkKey{byte(i)}
						w.Done = func(context.Context, bool) bool { return made[i].Load() > 0 }
						w.Slot = func(ctx context.Context) (func(), error) {
							select {
							case free <- struct{}{}:
								return func() { <-free }, nil
							case <-ctx.Done():
								return nil, context.Cause(ctx)
							}
						}
					}))
					if err != nil {
						t.Error(err)
					}
					if turn == nil {
						continue
					}
					time.Sleep(time.Millisecond)
					if made[i].Add(1) != 1 {
						t.Errorf("result %d was made twice", i)
					}
					turn.end()
				}
			})
		}
	}
	wait.Wait()
	for _, k := range keepers {
		if n := k.Stats(); n.Held+n.Waiting > 0 || n.Takeovers+n.Lost+n.Unavailable > 0 {
			t.Errorf("%s: %+v", k.cfg.ID, n)
		}
	}
}

// TestProgress: the progress of the owner reaches the callers that wait, and ends with the wait.
func TestProgress(t *testing.T) {
	s := newStore()
	owner, other := keeper(s, "a", nil), keeper(s, "b", nil)
	turn := begin(t, owner, work(func(w *Work) { w.Progress = func() float64 { return 0.25 } }))
	var seen atomic.Value
	var most atomic.Value
	done := make(chan *Turn)
	go func() {
		turn, _ := other.Begin(t.Context(), work(func(w *Work) {
			w.Waits = func(p float64) {
				seen.Store(p)
				if p > 0 {
					most.Store(p)
				}
			}
		}))
		done <- turn
	}()
	eventually(t, "no progress", func() bool { return most.Load() == 0.25 })
	turn.end()
	if turn := <-done; turn == nil {
		t.Error("no turn after the release")
	} else {
		turn.end()
	}
	if seen.Load() != 0.0 {
		t.Errorf("progress %v after the wait", seen.Load())
	}
}

// TestSlotIsLeft: a caller that waits for a slot stops when another replica does the work.
func TestSlotIsLeft(t *testing.T) {
	s := newStore()
	owner, other := keeper(s, "a", nil), keeper(s, "b", nil)
	var made atomic.Bool
	asked := make(chan struct{}, 1)
	done := make(chan error)
	go func() {
		turn, err := other.Begin(t.Context(), work(func(w *Work) {
			w.Done = func(context.Context, bool) bool { return made.Load() }
			w.Slot = func(ctx context.Context) (func(), error) { // none is ever free
				asked <- struct{}{}
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
		}))
		if turn != nil {
			err = errors.New("a turn without a slot")
		}
		done <- err
	}()
	<-asked
	turn := begin(t, owner, work())
	eventually(t, "it does not wait for the other replica", func() bool { return other.Stats().Waiting == 1 })
	made.Store(true)
	turn.end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTakeover(t *testing.T) {
	s := newStore()
	key := fleet.WorkKey{1}
	if _, ok, err := s.Memory.Acquire(t.Context(), key, "dead", "a.rows"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	turns := make(chan *Turn)
	var keepers []*Keeper
	for i := range 4 {
		k := keeper(s, fmt.Sprint(i), nil)
		keepers = append(keepers, k)
		go func() {
			turn, err := k.Begin(t.Context(), work())
			if err != nil {
				t.Error(err)
			}
			turns <- turn
		}()
		eventually(t, "it does not wait", func() bool { return k.Stats().Waiting == 1 })
	}
	s.passed.Add(int64(fleet.LeaseTime + time.Second))
	for n := range keepers {
		turn := <-turns
		select {
		case <-turns:
			t.Fatal("two turns at once")
		case <-time.After(20 * time.Millisecond):
		}
		var took int64
		for _, k := range keepers {
			took += k.Stats().Takeovers
		}
		if took != 1 {
			t.Errorf("%d takeovers after %d turns, want 1", took, n+1)
		}
		turn.end()
	}
}

// TestLost: the owner notices that another replica has its lease, and does not release that.
func TestLost(t *testing.T) {
	s := newStore()
	var log logText
	k := keeper(s, "a", &log)
	turn := begin(t, k, work())
	l, _ := turn.Lease.Stored()
	// as if the owner had slept
	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Memory.Acquire(t.Context(), l.Key, "b", "a.rows"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	eventually(t, "the lease is not lost", turn.Lease.Lost)
	turn.end()
	if held, ok, err := s.Memory.Holder(t.Context(), l.Key); !ok || err != nil || held.Owner != "b" {
		t.Errorf("holder %v, %v, %v", held, ok, err)
	}
	if n := k.Stats(); n.Lost != 1 || n.Held != 0 || strings.Count(log.String(), "is lost") != 1 {
		t.Errorf("%+v, log %s", n, &log)
	}
}

// TestStoreAway: callers go on alone, a few of them ask the store, and one line is logged. A lease that
// can't be renewed counts as lost by the clock of the host, until the store is back.
func TestStoreAway(t *testing.T) {
	s := newStore()
	var log logText
	k := keeper(s, "a", &log)
	turn := begin(t, k, work(func(w *Work) { w.Key = fleet.WorkKey{2} }))
	s.SetAway(true)
	s.calls.Store(0)
	for range 100 {
		turn := begin(t, k, work())
		if _, ok := turn.Lease.Stored(); ok {
			t.Error("a lease without a store")
		}
		turn.end()
	}
	if n := k.Stats(); n.Unavailable != 100 || s.calls.Load() > 5 {
		t.Errorf("%+v, %d calls of the store", n, s.calls.Load())
	}
	eventually(t, "the lease is not lost", turn.Lease.Lost)
	if n := strings.Count(log.String(), "is away"); n != 1 {
		t.Errorf("the outage was logged %d times: %s", n, &log)
	}
	s.SetAway(false)
	eventually(t, "the lease stays lost", func() bool { return !turn.Lease.Lost() })
	turn.end()
	turn = begin(t, k, work())
	if _, ok := turn.Lease.Stored(); !ok {
		t.Error("no lease after the outage")
	}
	turn.end()
	if n := strings.Count(log.String(), "answers again"); n != 1 {
		t.Errorf("the end was logged %d times: %s", n, &log)
	}
}

// TestOutageWhileWaiting: a short outage does not end a wait, a long one does.
func TestOutageWhileWaiting(t *testing.T) {
	s := newStore()
	k := keeper(s, "b", nil)
	k.times.Patience = time.Second
	owner := begin(t, keeper(s, "a", nil), work())
	done := make(chan *Turn)
	wait := func() {
		turn, _ := k.Begin(t.Context(), work())
		done <- turn
	}
	go wait()
	eventually(t, "b does not wait", func() bool { return k.Stats().Waiting == 1 })
	s.SetAway(true)
	time.Sleep(20 * time.Millisecond)
	s.SetAway(false)
	eventually(t, "the outage does not end", func() bool { return k.mayAsk() })
	select {
	case <-done:
		t.Fatal("a short outage ended the wait")
	case <-time.After(20 * time.Millisecond):
	}
	s.SetAway(true)
	turn := <-done
	if _, ok := turn.Lease.Stored(); ok || k.Stats().Unavailable != 1 {
		t.Errorf("%+v", k.Stats())
	}
	turn.end()
	s.SetAway(false)
	owner.end()
}

// TestCanceled: a caller leaves at once, wherever it waits, and no lease or slot is left.
func TestCanceled(t *testing.T) {
	s := newStore()
	a, b := keeper(s, "a", nil), keeper(s, "b", nil)
	turn := begin(t, a, work())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := b.Begin(ctx, work())
		done <- err
	}()
	eventually(t, "b does not wait", func() bool { return b.Stats().Waiting == 1 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	turn.end()
	ctx, cancel = context.WithCancel(t.Context())
	freed := false
	_, err := b.Begin(ctx, work(func(w *Work) {
		w.Slot = func(context.Context) (func(), error) {
			cancel()
			return func() { freed = true }, nil
		}
	}))
	if !errors.Is(err, context.Canceled) || !freed {
		t.Errorf("error %v, slot freed: %v", err, freed)
	}
	if n := b.Stats(); n.Held+n.Waiting > 0 || n.Unavailable > 0 {
		t.Errorf("%+v", n)
	}
}

// TestPanic: a panic of the caller's functions leaves neither a lease nor a slot.
func TestPanic(t *testing.T) {
	s := newStore()
	k := keeper(s, "a", nil)
	freed := false
	func() {
		defer func() { _ = recover() }()
		_, _ = k.Begin(t.Context(), work(func(w *Work) {
			w.Done = func(context.Context, bool) bool { panic("damaged") }
			w.Slot = func(context.Context) (func(), error) { return func() { freed = true }, nil }
		}))
	}()
	if n := k.Stats(); n.Held > 0 || !freed {
		t.Errorf("%+v, slot freed: %v", n, freed)
	}
}
