package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/store"
)

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

// TestFleetStoreAway: without the store, each replica parses the file itself. The wait for a replica
// ends too. A table that is parsed meanwhile is used when the store is back.
func TestFleetStoreAway(t *testing.T) {
	r := openReplicas(t, 3)
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.write("b.rows", textOf(2, 500))
	r.refresh()
	begun, resume := r.pauseParses()
	defer resume()
	first := r.ask(0, "a.rows", text)
	<-begun
	second := r.ask(1, "a.rows", text)
	r.awaitWaiting(1, 1)
	r.db.SetAway(true)
	third := r.ask(2, "a.rows", text)
	<-begun
	<-begun
	resume()
	for _, done := range []chan result{first, second, third} {
		r.wantResult(done)
	}
	r.wantParsed(3, 0)
	r.wantResult(r.ask(0, "b.rows", textOf(2, 500)))
	for i, c := range r.all {
		c.awaitSaves()
		if s := c.Stats().Leases; s.Unavailable != 1 {
			t.Errorf("replica %d: %+v, want one parse without a lease", i, *s)
		}
	}
	r.db.SetAway(false)
	r.parsed.Store(0)
	n := 0
	eventually(t, "leases again", func() error {
		for i, c := range r.all {
			name, text := fmt.Sprintf("again%d.rows", n), textOf(n, 100)
			n++
			r.write(name, text)
			must(t, c.Refresh(t.Context()))
			before := c.Stats().Leases.Acquired
			r.wantResult(r.ask(i, name, text))
			if c.Stats().Leases.Acquired == before {
				return fmt.Errorf("replica %d has not asked the store again", i)
			}
		}
		return nil
	})
}

// record returns what the shared database knows of a file.
func (r *replicas) record(name string) store.Record {
	r.t.Helper()
	j, err := r.all[0].job(context.Background(), Request{Name: name})
	must(r.t, err)
	x, ok, err := r.db.Store.Get(context.Background(), persist.StoreKey(j))
	if err != nil || !ok {
		r.t.Fatalf("record of %s: %v, %v", name, ok, err)
	}
	return x
}

// TestFleetFence: a replica that was suspended for longer than its lease lasts gives its caller the
// right rows, and does not replace the record of the replica that has taken over.
func TestFleetFence(t *testing.T) {
	r := openReplicas(t, 2)
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.refresh()
	begun, resume := r.pauseParses()
	defer resume()
	suspended := r.ask(0, "a.rows", text)
	<-begun
	r.leases[0].dead.Store(true) // it renews nothing
	r.passed.Add(int64(fleet.LeaseTime + time.Second))
	r.format.pause.Store(nil) // for the parse of the other replica
	r.wantResult(r.ask(1, "a.rows", text))
	r.all[1].awaitSaves()
	want := r.record("a.rows")
	resume()
	r.wantResult(suspended)
	r.all[0].awaitSaves()
	r.wantParsed(2, 0)
	if got := r.record("a.rows"); !got.ParsedAt.Equal(want.ParsedAt) {
		t.Errorf("the record is of %v, want that of %v", got.ParsedAt, want.ParsedAt)
	}
}

// TestFleetFenceOfErrors: the same for a parse that fails after the lease was lost.
func TestFleetFenceOfErrors(t *testing.T) {
	r := openReplicas(t, 2)
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.refresh()
	failing, open := errors.New("out of memory"), make(chan struct{})
	begun := make(chan int64, 100)
	pause := func(_ context.Context, row int64) error {
		begun <- row
		<-open
		return failing
	}
	r.format.pause.Store(&pause)
	suspended := r.ask(0, "a.rows", text)
	<-begun
	r.leases[0].dead.Store(true)
	r.passed.Add(int64(fleet.LeaseTime + time.Second))
	r.format.pause.Store(nil)
	r.wantResult(r.ask(1, "a.rows", text))
	r.all[1].awaitSaves()
	close(open)
	if got := <-suspended; !errors.Is(got.err, failing) {
		t.Errorf("error %v, want %v", got.err, failing)
	}
	r.all[0].awaitSaves()
	if got := r.record("a.rows"); got.LastError != "" || got.Content == nil {
		t.Errorf("the record has the error %q of a replica without the lease", got.LastError)
	}
}

// TestFleetUnderAttack kills replicas, opens others, changes files and takes the database away, while
// callers read. Every answer is that of a version of the file.
func TestFleetUnderAttack(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 15
	}
	const files = 8
	r := openReplicas(t, 4)
	name := func(i int) string { return fmt.Sprintf("%d.rows", i) }
	for i := range files {
		r.write(name(i), textOf(i, 200))
	}
	r.refresh()
	var mu sync.RWMutex // of r.all
	end := make(chan struct{})
	var wait sync.WaitGroup
	var answers atomic.Int64
	for k := range 8 {
		wait.Go(func() {
			for n := k; ; n++ {
				select {
				case <-end:
					return
				default:
				}
				mu.RLock()
				c := r.all[n%len(r.all)]
				mu.RUnlock()
				_, err := ask(context.Background(), c, Request{Name: name(n % files)}, textOf(n%files, 200))
				if err == nil {
					answers.Add(1)
				} else if !errors.Is(err, ErrClosed) {
					t.Errorf("%s: %v", name(n%files), err)
					return
				}
				if n%5 == k%5 { // so that there is something to parse
					_, _ = c.Evict(context.Background(), name(rand.IntN(files)))
				}
			}
		})
	}
	for range rounds {
		switch victim := rand.IntN(len(r.all)); rand.IntN(3) {
		case 0:
			r.leases[victim].dead.Store(true)
			must(t, r.all[victim].Close())
			r.passed.Add(int64(fleet.LeaseTime / 2))
			c, m := r.replica(len(r.leases))
			mu.Lock()
			r.all[victim], r.leases = c, append(r.leases, m)
			r.leases[victim] = m
			mu.Unlock()
		case 1:
			r.db.SetAway(true)
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			r.db.SetAway(false)
		case 2:
			r.passed.Add(int64(fleet.LeaseTime / 3))
		}
		time.Sleep(5 * time.Millisecond)
	}
	close(end)
	wait.Wait()
	t.Logf("%d answers, %d parses", answers.Load(), r.parsed.Load())
}
