package catalog

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
)

// uncached is a catalog without a cache on disk.
func uncached(c *Config) { c.CacheDir = "" }

// selected reads what a selection gives: the names of its columns, and its rows as JSON.
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

// TestProjectedRows holds what is read of some columns against the same columns of the whole table.
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

// TestProjectedTablesAreShared says which tables serve whom. Each step asks for columns, "" for all, and says how many parses there were then, and how many
// tables there are.
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
				if parses, tables := int(w.format.parses.Load()), c.Stats().Tables; parses != s.parses || tables != s.tables {
					t.Fatalf("columns %q: %d parses, %d tables, want %d and %d", s.columns, parses, tables, s.parses, s.tables)
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

// TestProjectedParsesAreJoined has askers come while a parse is under way: those of fewer columns wait for it, others begin their own.
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
				if id := h.Table.IDs[k]; readers.Project(columns).Has(id) && h.Table.Batches[0].Attributes[k].Type.ID() == arrow.NULL {
					t.Errorf("columns %q: %s has no values", columns, id.Name)
				}
			}
		})
		eventually(t, "an asker waits", func() error {
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

// TestProjectedTableIsNotScannedForMore says that a table does not give columns that it was not requested with.
func TestProjectedTableIsNotScannedForMore(t *testing.T) {
	w := newWorld(t, uncached)
	w.write("a.rows", textOf(3, 250))
	c := w.open()
	h, err := c.Table(context.Background(), Request{Name: "a.rows", Columns: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	for _, sel := range []Selection{{}, {Columns: []string{"b"}}, {Columns: []string{"a"}, BBox: &[4]float64{0, 0, 1, 1}}} {
		if _, err := c.Scan(h, sel); err == nil {
			t.Errorf("%+v is scanned", sel)
		}
	}
	if _, _, ok := c.Peek("a.rows"); ok {
		t.Error("an entry of which some columns are parsed is listed as parsed")
	}
	var unknown *UnknownColumnError
	if _, _, err := c.Read(context.Background(), Request{Name: "a.rows"}, Selection{Columns: []string{"geometri"}}); !errors.As(err, &unknown) || unknown.Nearest != "geometry" {
		t.Errorf("%v, want that there is no such column, but geometry", err)
	}
}
