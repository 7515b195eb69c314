package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
)

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

// TestFleetCopy: a file that no replica has a record of is parsed at once. It is not read for its
// digest first, though a replica may have parsed a copy of it.
func TestFleetCopy(t *testing.T) {
	r := openReplicas(t, 2)
	text := textOf(1, 500)
	r.write("a.rows", text)
	r.write("b.rows", text)
	r.refresh()
	for i, name := range []string{"a.rows", "b.rows"} {
		r.wantResult(r.ask(i, name, text))
		r.all[i].awaitSaves()
	}
	r.wantParsed(2, 0)
	r.wantNoLease()
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
