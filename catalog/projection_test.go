package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
)

// uncached configures a catalog without a cache on disk.
func uncached(c *Config) { c.CacheDir = "" }

// selected returns the column names and the rows, as JSON, of a selection.
func selected(t *testing.T, c *Catalog, sel Selection) (names, rows string) {
	t.Helper()
	h, s, err := c.Read(context.Background(), Request{Name: "a.rows"}, sel)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	for _, f := range s.Schema().Fields() {
		names += f.Name + ":" + f.Type.String() + " "
	}
	var b strings.Builder
	for {
		rec, err := s.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return names, b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := rec.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
		rec.Release()
	}
}

// TestProjectedRows compares a read of some columns with the same columns of the whole table.
func TestProjectedRows(t *testing.T) {
	one := int64(1)
	for _, sel := range []Selection{
		{Columns: []string{"a"}},
		{Columns: []string{"geometry", "b"}},
		{Columns: []string{"b"}, BBox: &[4]float64{3, 0, 30, 9}},
		{Columns: []string{"b"}, BBox: &[4]float64{3, 0, 30, 9}, Rows: &[2]int64{10, 200}, Limit: &one},
		{Columns: []string{"a"}, Rows: &[2]int64{90, 120}},
	} {
		w := newWorld(t, uncached)
		w.write("a.rows", textOf(3, 250))
		whole, projected := w.open(), w.open()
		selected(t, whole, Selection{})
		wantNames, wantRows := selected(t, whole, sel)
		names, rows := selected(t, projected, sel)
		if names != wantNames || rows != wantRows || rows == "" {
			t.Errorf("%+v\ngot:  %s\n%s\nwant: %s\n%s", sel, names, rows, wantNames, wantRows)
		}
		if got, all := projected.Stats().Bytes, whole.Stats().Bytes; got >= all {
			t.Errorf("%+v: %d bytes in memory, of all columns %d", sel, got, all)
		}
		w.wantParses(2)
	}
}

// TestProjectedTablesAreShared checks which requests share a table. Each step requests columns, ""
// for all, and has the numbers of parses and tables after it.
func TestProjectedTablesAreShared(t *testing.T) {
	type step struct {
		columns        string
		parses, tables int
	}
	for _, tt := range []struct {
		name  string
		cache bool
		steps []step
	}{
		{name: "fewer columns", steps: []step{{"a b", 1, 1}, {"b a", 1, 1}, {"a", 1, 1}, {"b", 1, 1}}},
		{name: "other columns", steps: []step{{"a", 1, 1}, {"b", 2, 2}, {"a", 2, 2}}},
		{name: "more columns", steps: []step{{"a", 1, 1}, {"geometry", 2, 2}, {"a geometry", 3, 1}, {"a", 3, 1}}},
		{name: "all columns", steps: []step{{"a", 1, 1}, {"b", 2, 2}, {"", 3, 1}, {"a", 3, 1}, {"", 3, 1}}},
		{name: "all columns first", steps: []step{{"", 1, 1}, {"a geometry", 1, 1}}},
		{name: "a column that is not there", steps: []step{{"a c", 1, 1}, {"a", 1, 1}, {"c", 1, 1}}},
		{name: "a cache on disk", cache: true, steps: []step{{"a", 1, 1}, {"b", 1, 1}, {"", 1, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if !tt.cache {
				w = newWorld(t, uncached)
			}
			w.write("a.rows", textOf(3, 250))
			c := w.open()
			for _, s := range tt.steps {
				req := Request{Name: "a.rows"}
				if s.columns != "" {
					req.Columns = strings.Fields(s.columns)
				}
				h, err := c.Table(context.Background(), req)
				if err != nil {
					t.Fatal(err)
				}
				h.Release()
				c.awaitSaves()
				if parses, tables := int(w.format.parses.Load()), c.Stats().Tables; parses != s.parses ||
					tables != s.tables {
					t.Fatalf("columns %q: %d parses, %d tables, want %d and %d", s.columns, parses, tables,
						s.parses, s.tables)
				}
			}
			if !tt.cache {
				return
			}
			w.close(c)
			w.wantTables(1)
			h, err := w.open().Table(context.Background(), Request{Name: "a.rows"})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Release()
			for i := range h.Table.Batches[0].Attributes {
				if a := &h.Table.Batches[0].Attributes[i]; a.Type.ID() == arrow.NULL {
					t.Errorf("column %s of the cache has no values", a.Name)
				}
			}
			w.wantParses(1)
		})
	}
}

// TestProjectedParsesAreJoined sends requests during a parse. Requests for fewer columns wait for
// it, others start their own.
func TestProjectedParsesAreJoined(t *testing.T) {
	w := newWorld(t, uncached)
	w.write("a.rows", textOf(3, 250))
	c := w.open()
	gate := make(chan struct{})
	pause := func(context.Context, int64) error {
		<-gate
		return nil
	}
	w.format.pause.Store(&pause)
	var wait sync.WaitGroup
	for i, columns := range [][]string{{"a", "b"}, {"b"}, {"a"}, {"geometry"}, {"geometry", "c"}, nil, {"geometry"}} {
		wait.Go(func() {
			h, err := c.Table(context.Background(), Request{Name: "a.rows", Columns: columns})
			if err != nil {
				t.Error(err)
				return
			}
			defer h.Release()
			for k := range h.Table.Batches[0].Attributes {
				if id := h.Table.IDs[k]; readers.Project(columns).Has(id) &&
					h.Table.Batches[0].Attributes[k].Type.ID() == arrow.NULL {
					t.Errorf("columns %q: %s has no values", columns, id.Name)
				}
			}
		})
		eventually(t, "a caller waits", func() error {
			if s := c.Stats(); s.Misses+s.Shared != int64(i+1) {
				return errors.New("not yet")
			}
			return nil
		})
	}
	close(gate)
	wait.Wait()
	w.wantParses(4) // a and b, geometry, geometry and c, all
}

// TestProjectedTableIsNotScannedForMore expects that a table does not return columns that it was
// not requested with.
func TestProjectedTableIsNotScannedForMore(t *testing.T) {
	w := newWorld(t, uncached)
	w.write("a.rows", textOf(3, 250))
	c := w.open()
	h, err := c.Table(context.Background(), Request{Name: "a.rows", Columns: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	for _, sel := range []Selection{{}, {Columns: []string{"b"}}, {
		Columns: []string{"a"},
		BBox:    &[4]float64{0, 0, 1, 1},
	}} {
		if _, err := h.Scan(sel); err == nil {
			t.Errorf("%+v is scanned", sel)
		}
	}
	if _, ok := c.peek("a.rows"); ok {
		t.Error("an entry of which some columns are parsed is listed as parsed")
	}
	var unknown *UnknownColumnError
	if _, _, err := c.Read(context.Background(), Request{Name: "a.rows"},
		Selection{Columns: []string{"geometri"}}); !errors.As(err, &unknown) || unknown.Nearest != "geometry" {
		t.Errorf("%v, want that there is no such column, but geometry", err)
	}
}

// TestProjectedLost reads columns of a table that is no longer in memory, after a parse of the same
// columns or more. Rows arrive before the last one is parsed. They and their description equal
// those of a catalog that never parsed the file.
func TestProjectedLost(t *testing.T) {
	for _, tt := range []struct {
		name         string
		parsed, read []string
		live         bool
	}{
		{"the same columns", []string{"a", "geometry"}, []string{"a", "geometry"}, true},
		{"without the geometry", []string{"b"}, []string{"b"}, true},
		{"fewer columns", []string{"a", "b"}, []string{"b"}, true},
		{"fewer, without the geometry", []string{"a", "geometry"}, []string{"a"}, true},
		{"the geometry alone", nil, []string{"geometry"}, true},
		{"some of all", nil, []string{"b", "a"}, true},
		{"a column that is not there", nil, []string{"c"}, true},
		{"other columns", []string{"a"}, []string{"b"}, false},
		{"more columns", []string{"a"}, []string{"a", "geometry"}, false},
		// A list of all columns does not say that there are no others.
		{"all", []string{"a", "b", "geometry"}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, small, uncached)
			w.write("a.rows", textOf(3, 700))
			want := about(t, w.open(), tt.read)
			c := w.open()
			about(t, c, tt.parsed)
			c = w.lose(c)
			if got := about(t, c, tt.read); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			c = w.open()
			about(t, c, tt.parsed)
			c = w.lose(c)
			gate := make(chan struct{}, 2000)
			w.passAt(gate)
			for range 3 { // chunks
				gate <- struct{}{}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if tt.live {
				ctx = t.Context()
			}
			h, s, err := c.Read(ctx, Request{Name: "a.rows"}, Selection{Columns: tt.read})
			switch {
			case errors.As(err, new(*UnknownColumnError)):
			case err == nil:
				rec, err := s.Next(ctx)
				must(t, err)
				rec.Release()
				h.Release()
				if !tt.live {
					t.Error("rows are there before anybody knows of which types")
				}
			case tt.live || !errors.Is(err, context.DeadlineExceeded):
				t.Error(err)
			}
			close(gate)
		})
	}
}

// about returns the description of a.rows for a client that reads some columns, and their rows.
func about(t *testing.T, c *Catalog, columns []string) string {
	t.Helper()
	req := Request{Name: "a.rows", Columns: columns}
	h, s, err := c.Describe(t.Context(), req, Selection{Columns: columns}, false)
	if errors.As(err, new(*UnknownColumnError)) {
		return err.Error()
	}
	must(t, err)
	n, err := s.Rows(t.Context())
	must(t, err)
	text := fmt.Sprintf("%s, %d rows, %d bytes, %s", h.Version, n, s.Bytes(), s.Schema())
	h.Release()
	_, rows := selected(t, c, Selection{Columns: columns})
	h, s, err = c.Read(t.Context(), req, Selection{Columns: columns})
	must(t, err)
	defer h.Release()
	return fmt.Sprintf("%s\n%s\n%s", text, s.Schema(), rows)
}

// TestEvictedIsNotKnown expects that nothing is known about a file whose table was evicted by name,
// also without a cache on disk.
func TestEvictedIsNotKnown(t *testing.T) {
	for in, change := range caches {
		t.Run(in, func(t *testing.T) {
			w := newWorld(t, small, change)
			for _, name := range []string{"a.rows", "b.rows"} {
				w.write(name, textOf(len(name), 100))
			}
			c := without(t, w, "a.rows", "b.rows")
			defer w.close(c)
			if _, err := c.Evict(t.Context(), "a.rows"); err != nil {
				t.Error(err)
			}
			for name, want := range map[string]bool{"a.rows": false, "b.rows": true} {
				h, s, _, err := c.Recall(t.Context(), Request{Name: name}, Selection{}, false)
				if must(t, err); (s != nil) != want {
					t.Errorf("%s: known %t, want %t", name, s != nil, want)
				}
				h.Release()
			}
		})
	}
}
