package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
	"github.com/vibeflight/vibeflight/catalog/store/sqlite"
	"github.com/vibeflight/vibeflight/readers"
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
		for _, dir := range append(r.caches, r.shared) {
			found, err := filepath.Glob(filepath.Join(dir, "tables", "*.arrow"))
			must(t, err)
			for _, path := range found {
				must(t, os.Remove(path))
			}
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

// TestFleetGrowingFile: one replica parses the rows that were appended.
func TestFleetGrowingFile(t *testing.T) {
	r := openReplicas(t, 4)
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.refresh()
	for n := range 4 {
		var all []chan result
		for i := range 16 {
			all = append(all, r.ask(i%4, "a.rows", text))
		}
		for _, done := range all {
			r.wantResult(done)
		}
		r.wantParsed(1, 0)
		text += textOf(10+n, 300)
		r.write("a.rows", text)
		r.refresh()
	}
}

// TestFleetDataset: each small file of a dataset is parsed by one replica.
func TestFleetDataset(t *testing.T) {
	r := openReplicas(t, 4, ofParts(Dataset{}))
	var text strings.Builder
	const files = 50
	for i := range files {
		part := textOf(i, i*7%90)
		if i == 17 {
			part = textOf(i, 60_000) // a unit of its own
		}
		r.writePart(fmt.Sprintf("%03d.rows", i), part)
		text.WriteString(part)
	}
	r.refresh()
	for range 2 {
		var all []chan result
		for i := range 16 {
			all = append(all, r.ask(i%len(r.all), "all", text.String()))
		}
		for _, done := range all {
			r.wantResult(done)
		}
		var members int64
		for _, c := range r.all {
			members += c.Stats().MembersParsed
		}
		if members != files-1 {
			t.Errorf("%d small files were parsed, want %d", members, files-1)
		}
		for _, c := range r.all { // and from the shared cache
			c.awaitSaves()
			c.tables.Drop()
		}
	}
	r.wantNoLease()
}

// lender is a Fetcher that takes a table from the memory of another catalog.
type lender struct {
	*replicas
	fetched atomic.Int64
}

func (f *lender) Fetch(_ context.Context, replica string, j job.Job) (*persist.Data, error) {
	for i, c := range f.all {
		if t := c.tables.Peek(j.Key); t != nil && (replica == "" || replica == fmt.Sprint("replica ", i)) {
			f.fetched.Add(1)
			return persist.NewData(t), nil
		}
	}
	return nil, nil
}

// TestFleetFetches: without a shared cache, replicas get a table from the one that has parsed its file.
func TestFleetFetches(t *testing.T) {
	var f lender
	r := openReplicas(t, 4, func(c *Config) {
		must(t, c.SharedCache.Close())
		c.SharedCache, c.Fleet.Fetcher = nil, &f
	})
	f.replicas = r
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.refresh()
	begun, resume := r.pauseParses()
	defer resume()
	first := r.ask(0, "a.rows", text)
	<-begun
	others := []chan result{r.ask(1, "a.rows", text), r.ask(2, "a.rows", text)}
	r.awaitWaiting(1, 1)
	r.awaitWaiting(2, 1)
	resume()
	r.wantResult(first)
	for _, done := range others {
		r.wantResult(done)
	}
	r.wantResult(r.ask(3, "a.rows", text)) // later
	r.wantParsed(1, 0)
	if n := f.fetched.Load(); n != 3 {
		t.Errorf("%d tables were fetched, want 3", n)
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
