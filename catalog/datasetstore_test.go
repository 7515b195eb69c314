package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/remote/storetest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// storeWorld is a world with the dataset "all" of the objects parts/** of a store.
type storeWorld struct {
	*world
	dir string // the store has its files
	new string // folder of files that are being written
}

// ofStores runs a test for a web server and for S3, whose answers begin after latency.
func ofStores(t *testing.T, latency string, test func(t *testing.T, w storeWorld), change ...func(*Config)) {
	t.Helper()
	for _, kind := range []struct {
		name   string
		scheme string
		start  func(t testing.TB, dir string, flags ...string) storetest.Server
	}{{"HTTP", "http", storetest.HTTP}, {"S3", "s3", storetest.S3}} {
		t.Run(kind.name, func(t *testing.T) {
			if kind.scheme != "http" && cloudOpeners[kind.scheme] == nil {
				t.Skip("this build has the tag nocloud")
			}
			dir := t.TempDir()
			s := kind.start(t, dir, "--latency", latency)
			s.Setenv(t)
			folder, options, _ := strings.Cut(s.URL, "?")
			pattern := strings.TrimSuffix(folder, "/") + "/parts/**/*.rows?" + options
			ofStore := func(c *Config) {
				c.Datasets = []Dataset{{Name: "all", Files: []string{strings.TrimSuffix(pattern, "?")}}}
				c.Store = func(ctx context.Context, url string) (*remote.Root, error) {
					return cloudOpeners.Open(ctx, url, remote.Options{Block: 64 << 10})
				}
			}
			test(t, storeWorld{newWorld(t, append(change, ofStore)...), dir, t.TempDir()})
		})
	}
}

// put writes an object as a whole.
func (w storeWorld) put(name, text string) {
	w.t.Helper()
	path, temp := filepath.Join(w.dir, "parts", name), filepath.Join(w.new, "new")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		w.t.Fatal(err)
	}
}

// TestDatasetOfStore compares a dataset of a store with a local dataset of the same files, in bytes,
// and selections of it with those of one file.
func TestDatasetOfStore(t *testing.T) {
	ofStores(t, "0s", func(t *testing.T, w storeWorld) {
		w.change = both(w.change, func(c *Config) {
			c.Datasets = append(c.Datasets, Dataset{Name: "local", Files: []string{w.data + "/parts/**/*.rows"}})
		})
		var all strings.Builder
		for i := range 20 {
			text, name := textOf(i, i*7%90), fmt.Sprintf("d%d/%03d.rows", i/5, i)
			if i == 11 {
				text = textOf(i, 45_000) // a unit of its own
			}
			w.put(name, text)
			w.writePart(name, text)
			all.WriteString(text)
		}
		w.write("one.rows", all.String())
		for range 2 { // the second time from the cache
			served := w.open()
			got, want := streamOf(t, served, "all"), streamOf(t, served, "local")
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes differ from the %d bytes of the local dataset", len(got), len(want))
			}
			compareSelections(w.world, served)
			w.close(served)
		}
		w.wantTidy()
	})
}

func both(a, b func(*Config)) func(*Config) {
	return func(c *Config) {
		a(c)
		b(c)
	}
}

// streamOf returns the rows of an entry as an Arrow stream.
func streamOf(t *testing.T, c *Catalog, name string) []byte {
	t.Helper()
	h, s, err := c.Read(t.Context(), Request{Name: name}, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	var out bytes.Buffer
	var to *ipc.Writer
	for {
		rec, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if to == nil {
			to = ipc.NewWriter(&out, ipc.WithSchema(rec.Schema()))
		}
		if err := to.Write(rec); err != nil {
			t.Fatal(err)
		}
		rec.Release()
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestDatasetOfStoreChanges adds, changes and removes objects. Only what is new is parsed.
func TestDatasetOfStoreChanges(t *testing.T) {
	ofStores(t, "0s", func(t *testing.T, w storeWorld) {
		texts := map[string]string{}
		put := func(name, text string) {
			texts[name] = text
			w.put(name, text)
		}
		for i := range 20 {
			put(fmt.Sprintf("%03d.rows", i), textOf(i, 20))
		}
		served := w.open()
		for _, step := range []struct {
			name   string
			do     func()
			parses int64
		}{
			{"cold", func() {}, 20},
			{"changed", func() { put("007.rows", textOf(100, 30)) }, 1},
			{"added", func() { put("1000.rows", textOf(200, 3)); put("new/a.rows", textOf(201, 3)) }, 2},
			{"removed", func() {
				delete(texts, "011.rows")
				_ = os.Remove(filepath.Join(w.dir, "parts", "011.rows"))
			}, 0},
			{"large", func() { put("012.rows", textOf(300, 45_000)) }, 1},
		} {
			step.do()
			w.refresh(served)
			var want []string
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				want = append(want, rowsOfText(texts[name], 0)...)
			}
			if got := w.readRows(served, "all", Selection{}); !slices.Equal(got, want) {
				t.Errorf("%s: %d rows, want %d", step.name, len(got), len(want))
			}
			w.wantParses(step.parses)
		}
	})
}

// TestDatasetOfStoreSuspects replaces objects of a dataset that was read. The next read is an error,
// and makes the catalog list the store again: later reads have the new rows.
func TestDatasetOfStoreSuspects(t *testing.T) {
	keepNothing := func(c *Config) { c.CacheDir, c.MemoryBytes = "", -1 }
	ofStores(t, "0s", func(t *testing.T, w storeWorld) {
		texts := []string{textOf(0, 20), textOf(1, 45_000), textOf(2, 20)}
		want := func() (rows []string) {
			for i := range texts {
				rows = append(rows, rowsOfText(texts[i], 0)...)
			}
			return rows
		}
		for i, text := range texts {
			w.put(fmt.Sprintf("%d.rows", i), text)
		}
		served := w.open()
		if got := w.readRows(served, "all", Selection{}); !slices.Equal(got, want()) {
			t.Fatalf("%d rows", len(got))
		}
		for i, text := range []string{textOf(10, 25), textOf(11, 45_500)} {
			texts[i] = text
			w.put(fmt.Sprintf("%d.rows", i), text)
			_, err := readRows(t.Context(), served, Request{Name: "all"}, Selection{})
			if !errors.Is(err, source.ErrChanged) {
				t.Errorf("%d.rows: %v, want %v", i, err, source.ErrChanged)
			}
			var got []string
			end := time.Now().Add(20 * time.Second)
			for err = source.ErrChanged; errors.Is(err, source.ErrChanged) && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
				got, err = readRows(t.Context(), served, Request{Name: "all"}, Selection{})
			}
			if err != nil || !slices.Equal(got, want()) {
				t.Errorf("%d.rows: %d rows, %v, want %d", i, len(got), err, len(want()))
			}
		}
	}, keepNothing)
}

// TestDatasetOfStoreOverwritten overwrites an object in the middle of its parse.
func TestDatasetOfStoreOverwritten(t *testing.T) {
	ofStores(t, "100ms", func(t *testing.T, w storeWorld) {
		const large = 200_000
		w.put("0.rows", textOf(0, large)) // more than the ranges in flight
		served := w.open()
		var overwrite atomic.Bool
		overwrite.Store(true)
		pause := func(_ context.Context, row int64) error {
			if row > 1000 && overwrite.Swap(false) {
				w.put("0.rows", textOf(1, large))
			}
			return nil
		}
		w.format.pause.Store(&pause)
		defer w.format.pause.Store(nil)
		got, err := readRows(t.Context(), served, Request{Name: "all"}, Selection{})
		if overwrite.Load() {
			t.Fatal("the object was not overwritten")
		}
		// The catalog tries again after a new list.
		if err != nil || !slices.Equal(got, rowsOfText(textOf(1, large), 0)) {
			t.Errorf("%d rows, %v, want those of the new version", len(got), err)
		}
		if n := w.format.parses.Load(); n < 2 {
			t.Errorf("%d parses: the first one did not notice the change", n)
		}
	})
}

// TestDatasetOfStoreWhileItChanges overwrites objects all the time. An answer has each member wholly
// of one version, or is an error.
func TestDatasetOfStoreWhileItChanges(t *testing.T) {
	ofStores(t, "0s", func(t *testing.T, w storeWorld) {
		const members, rows = 6, 40
		for i := range members {
			w.put(fmt.Sprintf("%d.rows", i), textOf(i, rows))
		}
		served := w.open()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; ctx.Err() == nil; n++ {
				w.put(fmt.Sprintf("%d.rows", n%members), textOf((1+n/members)*members+n%members, rows))
				if n%5 == 0 {
					_ = served.Refresh(ctx)
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
		answers := 0
		for ctx.Err() == nil {
			got, err := readRows(t.Context(), served, Request{Name: "all"}, Selection{Columns: []string{"b"}})
			if errors.Is(err, source.ErrChanged) {
				continue
			}
			if err == nil {
				err = wholeMembers(got, members, rows)
			}
			if err != nil {
				t.Error(err)
				break
			}
			answers++
		}
		cancel()
		<-done
		if t.Logf("%d answers", answers); answers == 0 {
			t.Error("no answer")
		}
		w.close(served)
		w.wantTidy()
	})
}
