package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/readers"
)

// together requests a table in several goroutines at once and compares the results.
func (w *world) together(c *Catalog, callers int, name string) {
	w.t.Helper()
	rows := rowsOfText(w.read(name), 0)
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for range callers {
		wg.Go(func() {
			<-begin
			h, err := c.Table(context.Background(), Request{Name: name})
			if err != nil {
				w.t.Error(err)
				return
			}
			defer h.Release()
			if err := sameRows(context.Background(), h, Selection{}, rows); err != nil {
				w.t.Error(err)
			}
		})
	}
	close(begin)
	wg.Wait()
}

func TestManyAskForOneFile(t *testing.T) {
	for _, memoryBytes := range []int64{-1, 1 << 20} { // the table is in a file, or in memory
		w := newWorld(t, memory(memoryBytes))
		w.write("a.rows", textOf(1, 500))
		c := w.open()
		w.together(c, 64, "a.rows")
		w.wantParses(1)
		w.close(c)
		c = w.open()
		w.together(c, 64, "a.rows")
		w.wantParses(0)
		if s := c.Stats(); s.Cache.Loads != 1 || s.Misses != 1 || s.Hits+s.Shared != 63 {
			t.Errorf("stats %+v, %+v, want 1 load", s, s.Cache)
		}
		w.close(c)
		w.wantTables(1)
		w.wantTidy()
	}
}

// TestSlowParsesDoNotStopTheCache expects that slow parses do not delay tables in the cache.
func TestSlowParsesDoNotStopTheCache(t *testing.T) {
	w := newWorld(t)
	w.write("cached.rows", textOf(1, 50))
	c := w.open()
	w.want(c, "cached.rows")
	w.close(c)
	c = w.open()
	parsing, open := make(chan struct{}, 2*tables.MaxParses), make(chan struct{})
	pause := func(ctx context.Context, _ int64) error {
		parsing <- struct{}{}
		select {
		case <-open:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	w.format.pause.Store(&pause)
	var wg sync.WaitGroup
	for i := range tables.MaxParses {
		name := fmt.Sprintf("slow%d.rows", i)
		w.write(name, textOf(2+i, 50))
		wg.Go(func() {
			h, err := c.Table(t.Context(), Request{Name: name})
			if err != nil {
				t.Error(err)
			}
			h.Release()
		})
	}
	for range tables.MaxParses {
		<-parsing
	}
	if a := w.want(c, "cached.rows"); !a.cached {
		t.Error("it was parsed again")
	}
	close(open)
	wg.Wait()
	w.close(c)
	w.wantTidy()
}

// crowd has clients of one or two catalogs with many files and space for a few tables.
type crowd struct {
	*world
	rows  map[string][]string // of the files that do not change
	large map[string]bool     // those of them for which there may not be enough space
	n     atomic.Int64        // answers
}

const (
	crowdMemory = 40_000
	crowdCache  = 200_000
)

func newCrowd(t *testing.T) *crowd {
	c := &crowd{
		world: newWorld(t, memory(crowdMemory), cacheBytes(crowdCache)), rows: map[string][]string{},
		large: map[string]bool{},
	}
	for i := range 16 {
		name, text := fmt.Sprintf("%d.rows", i), textOf(1+i, 200)
		if i%4 == 0 {
			text = textOf(1+i, 1000)
			c.large[name] = true
		}
		c.write(name, text)
		c.rows[name] = rowsOfText(text, 0)
	}
	return c
}

// client requests tables and holds up to three of them.
func (w *crowd) client(c *Catalog, random *rand.Rand, asks int) error {
	var held []*TableRef
	defer func() {
		for _, h := range held {
			h.Release()
		}
	}()
	for range asks {
		name := fmt.Sprintf("%d.rows", random.IntN(len(w.rows)))
		h, err := c.Table(context.Background(), Request{Name: name})
		var limit *readers.LimitError
		if errors.As(err, &limit) && w.large[name] { // the other clients use all the space
			continue
		}
		if err != nil {
			return err
		}
		held = append(held, h)
		sel, rows := Selection{}, w.rows[name]
		if random.IntN(3) == 0 {
			sel.BBox, rows = everywhere, withGeometry(rows)
		}
		if err := sameRows(context.Background(), h, sel, rows); err != nil {
			return err
		}
		w.n.Add(1)
		switch random.IntN(20) {
		case 0:
			if _, err := c.Evict(context.Background(), name); err != nil {
				return err
			}
		case 1:
			c.Stats()
		case 2:
			c.peek(name)
		case 3:
			c.tables.Drop() // so that some are read from the cache
		}
		for len(held) > random.IntN(4) {
			old := held[0]
			held = held[1:]
			if err := sameRows(context.Background(), old, Selection{}, w.rows[old.Entry.Name]); err != nil {
				return fmt.Errorf("a table that was held: %w", err)
			}
			old.Release()
		}
	}
	return nil
}

// run runs clients of each catalog while meanwhile is called. It checks the result at the end.
func (w *crowd) run(clients, asks int, meanwhile func(i int) error, catalogs ...*Catalog) {
	w.t.Helper()
	var wg, others sync.WaitGroup
	done := make(chan struct{})
	others.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if err := meanwhile(i); err != nil {
				w.t.Error(err)
				<-done
				return
			}
		}
	})
	for i := range clients {
		wg.Go(func() {
			if err := w.client(catalogs[i%len(catalogs)], rand.New(rand.NewPCG(uint64(i), 5)), asks); err != nil {
				w.t.Error(err)
			}
		})
	}
	wg.Wait()
	close(done)
	others.Wait()
	for _, c := range catalogs {
		c.awaitSaves()
		if c.tables.Stats().Memory > crowdMemory || c.tables.Stats().Parsing > 0 {
			w.t.Errorf("%d bytes are in memory, %d parses under way", c.tables.Stats().Memory, c.tables.Stats().Parsing)
		}
		s := c.Stats()
		w.t.Logf("%d answers: %d parses, %d loads, %d saves, %d not, %d evictions of files, %d of tables",
			w.n.Load(), s.Parses, s.Cache.Loads, s.Cache.Saves, s.Cache.SaveErrors, s.Cache.Evictions, s.Evictions)
		if s.HeldTables != 0 || s.Cache.Damaged != 0 {
			w.t.Errorf("stats %+v, %+v: something is held or damaged", s, s.Cache)
		}
		must(w.t, c.Close())
	}
	var bytes int64
	for _, path := range w.tables() {
		info, err := os.Stat(path)
		must(w.t, err)
		bytes += info.Size()
	}
	// each server keeps the budget by its own index of the folder
	if bytes > crowdCache*int64(len(catalogs)) {
		w.t.Errorf("the cache has %d bytes", bytes)
	}
	w.wantTidy()
}

func (w *crowd) asks() int {
	if testing.Short() {
		return 40
	}
	return 1000
}

func TestEvictionUnderLoad(t *testing.T) {
	before := runtime.NumGoroutine()
	w := newCrowd(t)
	c := w.open()
	w.run(12, w.asks(), func(int) error { return c.Refresh(t.Context()) }, c)
	if s := c.Stats(); s.Cache.Evictions == 0 {
		t.Errorf("stats %+v, %+v: nothing was evicted", s, s.Cache)
	}
	eventually(t, "no goroutine left", func() error {
		if n := runtime.NumGoroutine(); n > before {
			return fmt.Errorf("%d goroutines, %d before", n, before)
		}
		return nil
	})
}

// TestTwoCatalogs has two servers with one folder while a file changes constantly.
func TestTwoCatalogs(t *testing.T) {
	w := newCrowd(t)
	a, b := w.open(), w.open()
	versions := []string{textOf(91, 150), textOf(92, 150), textOf(93, 80)}
	w.run(8, w.asks(), func(i int) error { return w.changing(a, b, versions, i) }, a, b)
}

// changing gives a file its next version, and requests it from both servers.
func (w *crowd) changing(a, b *Catalog, versions []string, i int) error {
	text := versions[i%len(versions)]
	if err := errors.Join(os.WriteFile(w.path("new"), []byte(text), 0o600), os.Rename(w.path("new"),
		w.path("changing.rows"))); err != nil {
		return err
	}
	for _, c := range []*Catalog{a, b} {
		if _, err := ask(context.Background(), c, Request{Name: "changing.rows"}, text); err != nil {
			return err
		}
	}
	return nil
}

// TestClockSetBack expects that times of use in the future, after the clock was set back, prevent
// neither use nor eviction.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t, cacheBytes(60_000))
	for i := range 6 {
		w.write(fmt.Sprintf("%d.rows", i), textOf(1+i, 300))
	}
	for range 2 {
		c := w.open()
		for i := range 6 {
			w.want(c, fmt.Sprintf("%d.rows", i))
			c.awaitSaves()
		}
		if s := c.Stats().Cache; s.SaveErrors > 0 {
			t.Errorf("stats %+v", s)
		}
		w.close(c)
		found := w.tables()
		if len(found) == 0 || len(found) > 5 {
			t.Errorf("%d tables", len(found))
		}
		for i, path := range found {
			must(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Duration(1+i)*1000*time.Hour)))
		}
	}
	c := w.open()
	for _, path := range w.tables() {
		info, err := os.Stat(path)
		must(t, err)
		if time.Until(info.ModTime()) > time.Hour {
			t.Errorf("%s is still of the future", filepath.Base(path))
		}
	}
	w.close(c)
	w.wantTidy()
}
