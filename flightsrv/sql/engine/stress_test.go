//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestManySessions has sessions ask what they know the answer of, while tables are evicted, files
// change, and queries are cancelled.
func TestManySessions(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*catalog.Config, *Config)
	}{
		{"in memory", func(*catalog.Config, *Config) {}},
		{"in files", cached(t)},
		// for all sessions at a time: 64 MiB were too few now and then
		{"no memory for tables", func(c *catalog.Config, e *Config) { c.MemoryBytes, e.MemoryBytes = -1, 256<<20 }},
	} {
		t.Run(c.name, func(t *testing.T) { manySessions(t, c.change) })
	}
}

func manySessions(t *testing.T, change func(*catalog.Config, *Config)) {
	const rows = 2000
	w := newWorld(t, map[string]string{
		"grid.csv": grid(rows), "sub/grid.csv": grid(100), "squares.geojson": squares(300), "Case.csv": "a\n1\n",
		"case.csv": "a\n2\n", "moving.csv": "a\n1\n",
	}, change)
	asked := []struct{ schema, query, want string }{
		{"", "SELECT count(*) FROM grid", "2000"},
		{"sub", "SELECT count(*) FROM grid", "100"},
		{"", "SELECT sum(i) FROM grid WHERE i < 1000", "499500"},
		{"", "SELECT count(*) FROM grid a JOIN sub.grid b ON a.i = b.i", "100"},
		{"", "SELECT count(geometry) FROM squares WHERE geometry && 'POINT(10 10)'::GEOMETRY", "1"},
		{"", "SELECT count(DISTINCT ST_AsText(geometry)) FROM squares", "300"},
		{"", `SELECT a FROM "Case.csv"`, "1"},
		{"", `SELECT a FROM "case.csv"`, "2"},
		{"", "SELECT min(a) = max(a) FROM moving", "true"},
		{"", "SELECT max(n) FROM (SELECT row_number() OVER (PARTITION BY b ORDER BY i) AS n FROM grid)", "1001"},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var wait sync.WaitGroup
	for session := range 50 {
		r := rand.New(rand.NewPCG(uint64(session), 1))
		wait.Go(func() {
			for ctx.Err() == nil {
				q := asked[r.IntN(len(asked))]
				if r.IntN(8) == 0 {
					cancelled(t, w, q.schema, q.query, time.Duration(r.IntN(5))*time.Millisecond)
					continue
				}
				got, err := w.askIn(q.schema, q.query)
				if isMoving(err) {
					continue
				}
				if err != nil || !slices.Equal(got, []string{q.want}) {
					t.Errorf("in schema %q, %s: %q, %v, want %q", q.schema, q.query, got, err, q.want)
				}
			}
		})
	}
	wait.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			time.Sleep(10 * time.Millisecond)
			_, _ = w.catalog.Evict(ctx, asked[0].query[len("SELECT count(*) FROM "):]+".csv")
			text := fmt.Sprintf("a\n%d\n%d\n", i, i)
			path := filepath.Join(w.dir, "moving.csv")
			if os.WriteFile(path+".new", []byte(text), 0o644) != nil || os.Rename(path+".new", path) != nil {
				t.Error("the file was not written")
			}
		}
	})
	wait.Wait()
	if s := w.engine.Stats(); s.Statements != 0 {
		t.Errorf("%d statements are open", s.Statements)
	}
	// The goroutine that saves a parsed table holds it too.
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		held := w.catalog.Stats().HeldTables
		if held == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d tables are held", held)
		}
	}
}

// isMoving reports the error for a file that changes faster than it is read.
func isMoving(err error) bool {
	var changed *catalog.ChangedError
	return errors.As(err, &changed) && changed.Name == "moving.csv" || errors.Is(err, source.ErrChanged)
}

// cancelled runs a query and cancels it after a while.
func cancelled(t *testing.T, w *world, schema, query string, after time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	s, err := w.engine.Prepare(ctx, query, schema)
	if err == nil {
		_, err = runAll(ctx, s)
		s.Close()
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !isMoving(err) {
		t.Errorf("cancelled: %s: %v", query, err)
	}
}

// A statement is run several times at once, each time with its own argument.
func TestOneStatementManyRuns(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(500)})
	s, err := w.engine.Prepare(t.Context(), "SELECT i, i + ? FROM grid WHERE i = ?", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for k := range 10 {
				n := i*10 + k
				got, err := runAll(t.Context(), s, 1, n)
				if want := fmt.Sprintf("%d|%d", n, n+1); err != nil || !slices.Equal(got, []string{want}) {
					t.Errorf("%d: %q, %v, want %q", n, got, err, want)
				}
			}
		})
	}
	wait.Wait()
}

// Idle statements hold no table.
func TestIdleStatementHoldsNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(100)})
	s, err := w.engine.Prepare(t.Context(), "SELECT count(*) FROM grid", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if held := w.catalog.Stats().HeldTables; held != 1 {
		t.Errorf("before the first run %d tables are held, want 1", held)
	}
	for range 2 {
		if got, err := runAll(t.Context(), s); err != nil || !slices.Equal(got, []string{"100"}) {
			t.Errorf("%q, %v, want 100", got, err)
		}
		if held := w.catalog.Stats().HeldTables; held != 0 {
			t.Errorf("after a run %d tables are held, want none", held)
		}
	}
}

// A file of the cache that is damaged is seen, and the data file is parsed again, while the query
// goes on.
func TestDamagedCache(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, map[string]string{"squares.geojson": squares(600)}, func(c *catalog.Config, _ *Config) {
		c.CacheDir = dir
	})
	w.want("SELECT count(*) FROM squares", "600")
	w.catalog.Saved(t.Context())
	other := newWorld(t, nil, func(c *catalog.Config, _ *Config) {
		c.CacheDir, c.Roots[0].Dir = dir, w.dir
	})
	s, err := other.engine.Prepare(t.Context(),
		"SELECT sum(i), count(DISTINCT ST_AsText(geometry)) FROM squares WHERE geometry && 'POLYGON((-9 -9,999 -9,"+
			"999 999,-9 999,-9 -9))'::GEOMETRY", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	damaged := 0
	err = filepath.WalkDir(filepath.Join(dir, "tables"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.Size() < 20_000 {
			return err
		}
		damaged++
		_, err = f.WriteAt([]byte("damaged damaged damaged"), info.Size()/3)
		return err
	})
	if err != nil || damaged == 0 {
		t.Fatalf("%d files were damaged, %v", damaged, err)
	}
	if got, err := runAll(t.Context(), s); err != nil || !slices.Equal(got, []string{"179700|600"}) {
		t.Errorf("%q, %v, want 179700|600", got, err)
	}
	if n := other.catalog.Stats().Cache.Damaged; n != 1 {
		t.Errorf("%d tables were seen to be damaged, want 1", n)
	}
}

func TestConvertedGeometriesStayWithinBudget(t *testing.T) {
	w := newWorld(t, map[string]string{"squares.geojson": squares(320)}) // 16 rows a batch: about 1.5 KB of WKB
	const budget = 4000
	w.engine.derived = newDerivedCache(budget, w.engine.cfg.Workers > 0)
	for range 3 {
		w.want("SELECT count(DISTINCT ST_AsText(geometry)) FROM squares", "320")
		if kept := w.engine.Stats().GeometryBytes; kept <= 0 || kept > budget {
			t.Errorf("%d bytes are kept, want some of %d", kept, budget)
		}
	}
	w.engine.derived = newDerivedCache(1<<20, w.engine.cfg.Workers > 0)
	w.want("SELECT count(i) FROM squares", "320")
	if kept := w.engine.Stats().GeometryBytes; kept != 0 {
		t.Errorf("%d bytes are kept for geometries that no query needs", kept)
	}
	w.want("SELECT count(geometry) FROM squares WHERE i = 3", "1")
	if kept := w.engine.Stats().GeometryBytes; kept > 2000 {
		t.Errorf("%d bytes are kept of the one batch that was read", kept)
	}
	w.want("SELECT count(DISTINCT ST_AsText(geometry)) FROM squares", "320")
	if _, err := w.catalog.Evict(t.Context(), "squares.geojson"); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		runtime.GC()
		if w.engine.Stats().GeometryBytes == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d bytes are kept of a table that is gone", w.engine.Stats().GeometryBytes)
}
