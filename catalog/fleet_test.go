package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/readers"
)

// fastTimes are the times of replicas in tests.
var fastTimes = lease.Times{
	Renew: 50 * time.Millisecond, MinPoll: 5 * time.Millisecond, MaxPoll: 10 * time.Millisecond,
	Patience: 50 * time.Millisecond,
}

// replicas are catalogs of the same files, with one store of leases and one cache.
type replicas struct {
	*world
	store  *fleettest.Memory
	passed atomic.Int64 // nanoseconds by which the clock of the store is ahead of ours
	parsed atomic.Int64 // without an error
	failed atomic.Int64
	all    []*Catalog
	leases []*mortal
}

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
	r := &replicas{world: newWorld(t)}
	r.store = fleettest.NewMemory(func() time.Time { return time.Now().Add(time.Duration(r.passed.Load())) })
	for i := range n {
		m := &mortal{Leases: r.store}
		r.change = func(c *Config) {
			c.Fleet = &Fleet{ID: fmt.Sprint("replica ", i), Leases: m, Times: fastTimes}
			c.Parsed = func(p ParseReport) {
				if p.Err != nil {
					r.failed.Add(1)
				} else {
					r.parsed.Add(1)
				}
			}
			for _, f := range change {
				f(c)
			}
		}
		r.all = append(r.all, r.open())
		r.leases = append(r.leases, m)
	}
	return r
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

// TestFleetParsesOnce: 64 callers of four replicas ask for 200 files at once.
func TestFleetParsesOnce(t *testing.T) {
	files, callers := 200, 64
	if testing.Short() {
		files = 60
	}
	r := openReplicas(t, 4)
	texts := make([]string, files)
	for i := range texts {
		texts[i] = textOf(i, 50+i)
		r.write(fmt.Sprintf("%d.rows", i), texts[i])
	}
	r.refresh()
	answers := make([]sync.Map, files)
	var wait sync.WaitGroup
	for k := range callers {
		wait.Go(func() {
			for n := range files {
				i := (n*7 + k*13) % files
				a, err := ask(t.Context(), r.all[(k+n)%len(r.all)], Request{Name: fmt.Sprintf("%d.rows", i)}, texts[i])
				if err != nil {
					t.Errorf("%d.rows: %v", i, err)
					return
				}
				a.cached = false
				answers[i].Store(fmt.Sprint(a), true)
			}
		})
	}
	wait.Wait()
	r.wantParsed(int64(files), 0)
	for i := range answers {
		n := 0
		answers[i].Range(func(_, _ any) bool { n++; return true })
		if n != 1 {
			t.Errorf("%d.rows: %d different answers", i, n)
		}
	}
	r.wantNoLease()
	for i, c := range r.all {
		s := c.Stats().Leases
		t.Logf("replica %d: %+v", i, *s)
		if s.Takeovers+s.Lost+s.Unavailable > 0 {
			t.Errorf("replica %d: %+v", i, *s)
		}
	}
}

// TestFleetProgress: the replicas that wait report the progress of the one that parses, and polls of
// their clients count as under way.
func TestFleetProgress(t *testing.T) {
	r := openReplicas(t, 3)
	text := textOf(1, 20_000)
	r.write("a.rows", text)
	r.refresh()
	begun, resume := r.pauseParses()
	defer resume()
	first := r.ask(0, "a.rows", text)
	<-begun
	var others []chan result
	for i := 1; i < 3; i++ {
		others = append(others, r.ask(i, "a.rows", text))
		r.awaitWaiting(i, 1)
	}
	j, err := r.all[1].job(t.Context(), Request{Name: "a.rows"})
	must(t, err)
	for i := range r.all {
		eventually(t, "progress", func() error {
			if p := r.all[i].progress(j); p <= 0 || p > 1 || p != r.all[0].progress(j) {
				return fmt.Errorf("progress %v at replica %d, %v at the owner", p, i, r.all[0].progress(j))
			}
			return nil
		})
	}
	if p := r.all[1].Progress(); p.Parsing != 0 {
		t.Errorf("%d slots are taken while the replica waits", p.Parsing)
	}
	r.all[1].polls.Wait = 10 * time.Millisecond
	h, p, err := r.all[1].Poll(t.Context(), Request{Name: "a.rows"}, "")
	if h != nil || err != nil || p.Progress <= 0 {
		t.Errorf("poll: %v, %+v, %v", h, p, err)
	}
	resume()
	a := r.wantResult(first)
	for _, done := range others {
		b := r.wantResult(done)
		if a.cached || !b.cached {
			t.Errorf("cached: %v for the owner, %v for another replica", a.cached, b.cached)
		}
	}
	r.wantParsed(1, 0)
	r.wantNoLease()
}

// TestFleetTakesOver kills the replica that parses: one of the others parses the file.
func TestFleetTakesOver(t *testing.T) {
	r := openReplicas(t, 4)
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.refresh()
	begun, resume := r.pauseParses()
	defer resume()
	killed := r.ask(0, "a.rows", text)
	<-begun
	var others []chan result
	for i := 1; i < 4; i++ {
		others = append(others, r.ask(i, "a.rows", text))
		r.awaitWaiting(i, 1)
	}
	r.leases[0].dead.Store(true)
	time.Sleep(20 * time.Millisecond)
	select {
	case <-begun:
		t.Error("a replica has taken over before the lease has expired")
	default:
	}
	r.passed.Add(int64(fleet.LeaseTime + time.Second))
	<-begun // another parse
	time.Sleep(50 * time.Millisecond)
	select {
	case <-begun:
		t.Error("two replicas have taken over")
	default:
	}
	must(t, r.all[0].Close())
	if got := <-killed; !errors.Is(got.err, ErrClosed) {
		t.Errorf("the killed replica: %v", got.err)
	}
	resume()
	for _, done := range others {
		r.wantResult(done)
	}
	r.wantParsed(1, 1)
	r.wantNoLease()
	var takeovers int64
	for _, c := range r.all[1:] {
		takeovers += c.Stats().Leases.Takeovers
	}
	if takeovers != 1 {
		t.Errorf("%d takeovers, want 1", takeovers)
	}
}

// TestFleetCanceled: a caller that leaves ends its wait, and the parse if it is the last one. Then
// another replica parses.
func TestFleetCanceled(t *testing.T) {
	r := openReplicas(t, 3)
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.refresh()
	begun, resume := r.pauseParses()
	defer resume()
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := r.all[0].Table(ctx, Request{Name: "a.rows"})
		first <- err
	}()
	<-begun
	waits, leave := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() {
		_, err := r.all[1].Table(waits, Request{Name: "a.rows"})
		second <- err
	}()
	r.awaitWaiting(1, 1)
	third := r.ask(2, "a.rows", text)
	r.awaitWaiting(2, 1)
	leave()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	r.awaitWaiting(1, 0)
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	<-begun
	resume()
	r.wantResult(third)
	r.wantParsed(1, 1)
	r.wantNoLease()
}

// TestFleetStoreAway: without the store, each replica parses the file itself. The wait for a replica
// ends too. A table that is parsed meanwhile is used when the store is back.
func TestFleetStoreAway(t *testing.T) {
	r := openReplicas(t, 3)
	text := textOf(1, 500)
	for _, name := range []string{"a.rows", "b.rows", "c.rows"} {
		r.write(name, text)
	}
	r.refresh()
	begun, resume := r.pauseParses()
	defer resume()
	first := r.ask(0, "a.rows", text)
	<-begun
	second := r.ask(1, "a.rows", text)
	r.awaitWaiting(1, 1)
	r.store.SetAway(true)
	third := r.ask(2, "a.rows", text)
	<-begun
	<-begun
	resume()
	for _, done := range []chan result{first, second, third} {
		r.wantResult(done)
	}
	r.wantParsed(3, 0)
	r.wantResult(r.ask(0, "b.rows", text))
	for i, c := range r.all {
		c.awaitSaves()
		if s := c.Stats().Leases; s.Unavailable != 1 {
			t.Errorf("replica %d: %+v, want one parse without a lease", i, *s)
		}
	}
	r.store.SetAway(false)
	r.parsed.Store(0)
	eventually(t, "leases again", func() error {
		for i, c := range r.all {
			c.tables.Drop()
			before := c.Stats().Leases.Acquired
			_, err := c.Evict(t.Context(), "c.rows")
			must(t, err)
			r.wantResult(r.ask(i, "c.rows", text))
			if c.Stats().Leases.Acquired == before {
				return fmt.Errorf("replica %d has not asked the store again", i)
			}
		}
		return nil
	})
}

// TestFleetParseErrors: each caller gets the error that it would get from one server.
func TestFleetParseErrors(t *testing.T) {
	alone := newWorld(t)
	text := textOf(1, 300) + "!\n"
	alone.write("a.rows", text)
	_, want := ask(t.Context(), alone.open(), Request{Name: "a.rows"}, text)
	var position *readers.ParseError
	if !errors.As(want, &position) {
		t.Fatalf("error %v, want a parse error", want)
	}
	r := openReplicas(t, 4)
	r.write("a.rows", text)
	r.refresh()
	var all []chan result
	for i := range 16 {
		all = append(all, r.ask(i%4, "a.rows", text))
	}
	for _, done := range all {
		got := <-done
		var p *readers.ParseError
		if got.err == nil || got.err.Error() != want.Error() || !errors.As(got.err, &p) || p.Offset != position.Offset {
			t.Errorf("error %v, want %v", got.err, want)
		}
	}
	r.wantNoLease()
	if n := r.failed.Load(); n < 4 || n > 16 {
		t.Errorf("%d parses", n)
	}
	// the file is repaired: one parse
	text = textOf(1, 300)
	r.failed.Store(0)
	r.write("a.rows", text)
	r.refresh()
	for i := range r.all {
		r.wantResult(r.ask(i, "a.rows", text))
	}
	r.wantParsed(1, 0)
}

// TestFleetFileChanges changes the file while one replica parses it and another waits.
func TestFleetFileChanges(t *testing.T) {
	r := openReplicas(t, 3)
	text, next := textOf(1, 500), textOf(2, 400)
	r.write("a.rows", text)
	r.refresh()
	begun, resume := r.pauseParses()
	defer resume()
	first := r.ask(0, "a.rows", next)
	<-begun
	others := []chan result{r.ask(1, "a.rows", next), r.ask(2, "a.rows", next)}
	r.awaitWaiting(1, 1)
	r.awaitWaiting(2, 1)
	must(t, os.Remove(r.path("a.rows")))
	r.write("a.rows", next)
	resume()
	r.wantResult(first)
	for _, done := range others {
		r.wantResult(done)
	}
	// The waiting replicas open the file of the former version and notice the change.
	if n := r.parsed.Load(); n != 1 {
		t.Errorf("%d parses of the new version, want 1", n)
	}
	r.wantNoLease()
}

// TestFleetLostTable: when the tables are lost, one replica parses the file again.
func TestFleetLostTable(t *testing.T) {
	r := openReplicas(t, 4)
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.refresh()
	for i := range r.all {
		r.wantResult(r.ask(i, "a.rows", text))
	}
	r.wantParsed(1, 0)
	for range 3 {
		for _, c := range r.all {
			c.awaitSaves()
			c.tables.Drop()
		}
		for _, path := range r.tables() {
			must(t, os.Remove(path))
		}
		var all []chan result
		for i := range 16 {
			all = append(all, r.ask(i%4, "a.rows", text))
		}
		for _, done := range all {
			r.wantResult(done)
		}
		r.wantParsed(1, 0)
	}
}
