package catalog

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// lost returns a catalog that knows the table of a.rows but no longer has it. The next parse
// processes one chunk for each value sent to gate.
func lost(t *testing.T, w *world, text string) (c *Catalog, gate chan struct{}) {
	t.Helper()
	w.write("a.rows", text)
	c = w.open()
	w.want(c, "a.rows")
	c = w.lose(c)
	w.wantParses(1)
	gate = make(chan struct{}, 2000)
	w.passAt(gate)
	return c, gate
}

// lose returns a catalog that knows what c knows and has no tables. It removes those in the cache
// and closes c. Without a cache it returns c and drops the tables in memory.
func (w *world) lose(c *Catalog) *Catalog {
	w.t.Helper()
	if !c.archive.OnDisk() {
		c.awaitSaves()
		c.tables.Drop()
		return c
	}
	w.close(c)
	for _, path := range w.tables() {
		must(w.t, os.Remove(filepath.Join(w.cache, "tables", filepath.Base(path))))
	}
	return w.open()
}

// cached configures a cache on disk, which is the default.
func cached(*Config) {}

// caches has configurations with and without a cache on disk.
var caches = map[string]func(*Config){"a cache": cached, "no cache": uncached}

// passAt makes parses process one chunk for each value sent to gate, and all chunks once it is
// closed.
func (w *world) passAt(gate chan struct{}) {
	pause := func(ctx context.Context, _ int64) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.format.pause.Store(&pause)
}

// TestLive reads rows of a table while its file is parsed: all rows, a range, rows in a box, fast
// and slow.
func TestLive(t *testing.T) {
	limit := int64(100)
	for _, c := range []struct {
		name  string
		sel   Selection
		ahead int // chunks that are parsed before the first row is read
	}{
		{"all", Selection{}, 0},
		{"all, fallen behind", Selection{}, 30},
		{"all, the parse is over", Selection{}, 1000},
		{"range", Selection{Rows: &[2]int64{40, 300}}, 3},
		{"range, fallen behind", Selection{Rows: &[2]int64{40, 300}}, 20},
		{"limit", Selection{Limit: &limit}, 0},
		{"box", Selection{BBox: &[4]float64{-1e9, -1e9, 1e9, 1e9}}, 2},
		{"box, fallen behind", Selection{BBox: &[4]float64{-1e9, -1e9, 1e9, 1e9}}, 25},
	} {
		for in, change := range map[string][]func(*Config){
			"memory": {memory(1 << 30)}, "a file": {memory(-1)}, "memory without a cache": {memory(1 << 30), uncached},
			"no place": {memory(-1), uncached},
		} {
			t.Run(c.name+", in "+in, func(t *testing.T) {
				w := newWorld(t, append(change, small)...)
				text := textOf(5, 700)
				catalog, gate := lost(t, w, text)
				defer w.close(catalog)
				c.sel.Encoding = geoarrow.Encoding{Geometry: geoarrow.AsWKT}
				h, s, err := catalog.Read(t.Context(), Request{Name: "a.rows"}, c.sel)
				must(t, err)
				defer h.Release()
				if h.Cached || h.Table.Rows != 700 {
					t.Errorf("cached %t, %d rows, want 700 that are not", h.Cached, h.Table.Rows)
				}
				want := rowsOfText(text, 0)
				if c.sel.Rows != nil {
					want = want[40:300]
				}
				if c.sel.Limit != nil {
					want = want[:100]
				}
				if c.sel.BBox != nil {
					want = withGeometry(want)
				}
				for range c.ahead {
					gate <- struct{}{}
				}
				if c.ahead > 0 {
					go func() {
						for range 1000 {
							gate <- struct{}{}
						}
					}()
				}
				at := 0
				for {
					// one chunk for each that is read: no row waits for a later chunk
					if c.ahead == 0 {
						gate <- struct{}{}
					}
					rec, err := s.Next(t.Context())
					if errors.Is(err, io.EOF) {
						break
					}
					must(t, err)
					if at, err = sameRecord(rec, want, at); err != nil {
						t.Fatal(err)
					}
				}
				if at != len(want) {
					t.Errorf("%d rows, want %d", at, len(want))
				}
				w.format.pause.Store(nil)
				for range cap(gate) { // for a parse that waits
					select {
					case gate <- struct{}{}:
					default:
					}
				}
			})
		}
	}
}

// TestLiveIsShared expects that readers of the rows during a parse and callers that wait for the
// table share one parse. It ends when the last of them leaves.
func TestLiveIsShared(t *testing.T) {
	for in, change := range caches {
		t.Run(in, func(t *testing.T) {
			w := newWorld(t, small, change)
			text := textOf(6, 500)
			c, gate := lost(t, w, text)
			defer w.close(c)
			h, s, err := c.Read(t.Context(), Request{Name: "a.rows"}, Selection{})
			must(t, err)
			other, _, err := c.Read(t.Context(), Request{Name: "a.rows"}, Selection{})
			must(t, err)
			gate <- struct{}{}
			rec, err := s.Next(t.Context())
			must(t, err)
			rec.Release()
			other.Release()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v of a reader who left, want context.Canceled", err)
			}
			h.Release()
			h.Release()
			eventually(t, "the parse has ended", func() error {
				if n := c.Stats().Parsing; n != 0 {
					return errors.New("it goes on")
				}
				return nil
			})
			close(gate)
			w.want(c, "a.rows")
			w.wantParses(2)
		})
	}
}

// TestLiveIsKept has a single reader that leaves with the last row, maybe before the table is
// complete. The table is kept and saved.
func TestLiveIsKept(t *testing.T) {
	for range 20 {
		w := newWorld(t, small)
		text := textOf(8, 200)
		c, gate := lost(t, w, text)
		close(gate)
		h, s, err := c.Read(t.Context(), Request{Name: "a.rows"}, Selection{})
		must(t, err)
		for {
			rec, err := s.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			rec.Release()
		}
		h.Release()
		c.awaitSaves()
		if a := w.want(c, "a.rows"); !a.cached {
			t.Error("the table was not kept")
		}
		w.wantParses(1)
		w.close(c)
		w.wantTables(1)
	}
}

// TestLiveOfAFileThatChanges changes the file while a client reads rows. The client gets an error
// instead of the end of the rows, even if a limit ends the rows earlier.
func TestLiveOfAFileThatChanges(t *testing.T) {
	limit := int64(40)
	for _, tt := range []struct {
		name   string
		sel    Selection
		change func(*Config)
	}{
		{"all", Selection{}, cached},
		{"limit", Selection{Limit: &limit}, cached},
		{"all without a cache", Selection{}, uncached},
		{"limit without a cache", Selection{Limit: &limit}, uncached},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, small, tt.change)
			text := textOf(11, 200)
			c, gate := lost(t, w, text)
			defer w.close(c)
			h, s, err := c.Read(t.Context(), Request{Name: "a.rows"}, tt.sel)
			must(t, err)
			defer h.Release()
			gate <- struct{}{}
			rec, err := s.Next(t.Context())
			must(t, err)
			rec.Release()
			// the same rows, which the catalog cannot know
			must(t, os.WriteFile(w.path("a.rows"), []byte(text), 0o600))
			for err == nil {
				// one chunk for each that is read: no row comes from a complete table
				gate <- struct{}{}
				if rec, err = s.Next(t.Context()); err == nil {
					rec.Release()
				}
			}
			close(gate)
			if !errors.Is(err, source.ErrChanged) {
				t.Errorf("error %v, want one that wraps source.ErrChanged", err)
			}
		})
	}
}

// TestEvictWhileSaved expects that a table evicted while it is written to the cache is not kept
// there.
func TestEvictWhileSaved(t *testing.T) {
	w := newWorld(t, small)
	w.write("a.rows", textOf(9, 100))
	c := w.open()
	resume := c.tables.HoldSaves()
	w.want(c, "a.rows")
	if n, err := c.Evict(t.Context(), "a.rows"); n != 1 || err != nil {
		t.Errorf("evicted %d, %v, want 1", n, err)
	}
	resume()
	w.close(c)
	w.wantTables(0)
}

// TestLiveOfAnotherFile has a store with the record of another table. This causes an error and no
// mixture of tables.
func TestLiveOfAnotherFile(t *testing.T) {
	w := newWorld(t, small)
	text := textOf(7, 500)
	c, gate := lost(t, w, text)
	defer w.close(c)
	j, err := c.job(t.Context(), Request{Name: "a.rows"})
	must(t, err)
	r, ok, err := c.archive.Store().Get(t.Context(), persist.StoreKey(j))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	var wrong atomic.Int64
	for name, shape := range map[string]string{
		"fewer columns": `{"ids":[],"facts":[],"shapes":true,"kind":1,"batch_rows":16,"starts":[0,16,500]}`,
		"fewer rows":    strings.Replace(string(r.Shape), ",500]", ",499]", 1),
	} {
		t.Run(name, func(t *testing.T) {
			r.Shape = []byte(shape)
			c.archive.Put(t.Context(), r)
			for range 500 {
				gate <- struct{}{}
			}
			h, s, err := c.Read(t.Context(), Request{Name: "a.rows"}, Selection{})
			for err == nil {
				_, err = s.Next(t.Context())
			}
			if !errors.Is(err, source.ErrChanged) {
				t.Errorf("error %v, want one that wraps source.ErrChanged", err)
				wrong.Add(1)
			}
			h.Release()
		})
	}
	close(gate)
}

// TestLiveWithoutRoom expects that a record is kept although the cache has no space for the table.
// When the file is parsed again, its rows are sent as they are parsed.
func TestLiveWithoutRoom(t *testing.T) {
	w := newWorld(t, small, cacheBytes(100))
	text := textOf(9, 500)
	w.write("a.rows", text)
	c := w.open()
	w.want(c, "a.rows")
	w.close(c)
	if tables := w.tables(); len(tables) > 0 {
		t.Fatalf("tables %q in a cache of 100 bytes", tables)
	}
	gate := make(chan struct{}, 2000)
	pause := func(context.Context, int64) error {
		<-gate
		return nil
	}
	w.format.pause.Store(&pause)
	c = w.open()
	defer w.close(c)
	h, s, err := c.Read(t.Context(), Request{Name: "a.rows"},
		Selection{Encoding: geoarrow.Encoding{Geometry: geoarrow.AsWKT}})
	must(t, err)
	defer h.Release()
	for range 2 {
		gate <- struct{}{}
	}
	rec, err := s.Next(t.Context()) // the parse is blocked
	must(t, err)
	at, err := sameRecord(rec, rowsOfText(text, 0), 0)
	if err != nil || at != 16 {
		t.Errorf("%d rows of the first batch, %v", at, err)
	}
	close(gate)
	for err == nil {
		if rec, err = s.Next(t.Context()); err == nil {
			at, err = sameRecord(rec, rowsOfText(text, 0), at)
		}
	}
	if at != 500 || !errors.Is(err, io.EOF) {
		t.Errorf("%d rows, %v", at, err)
	}
}
