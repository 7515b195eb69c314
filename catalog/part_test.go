package catalog

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers/source"
)

// without returns a catalog that knows the tables of some files but no longer has them.
func without(t *testing.T, w *world, names ...string) *Catalog {
	t.Helper()
	c := w.open()
	for _, name := range names {
		h, err := c.Table(context.Background(), Request{Name: name})
		must(t, err)
		h.Release()
	}
	return w.lose(c)
}

// TestPart compares part of a file with the same rows of the whole table, and checks how much is
// read for it.
func TestPart(t *testing.T) {
	three := int64(3)
	text := textOf(3, 2000)
	for _, tt := range []struct {
		name    string
		sel     Selection
		batches int // that are read
	}{
		{"a box", Selection{BBox: &[4]float64{100, 0, 140, 9}}, 4},
		{"of one batch", Selection{BBox: &[4]float64{100, 0, 101, 9}}, 1},
		{"of a batch without rows in it", Selection{BBox: &[4]float64{100.25, 0, 100.5, 9}}, 1},
		{"of nothing", Selection{BBox: &[4]float64{100, 7, 140, 9}}, 0},
		{"some columns", Selection{BBox: &[4]float64{100, 0, 140, 9}, Columns: []string{"b"}}, 4},
		{
			"columns in another order",
			Selection{BBox: &[4]float64{100, 0, 140, 9}, Columns: []string{"geometry", "a"}},
			4,
		},
		{"rows and a limit", Selection{
			BBox: &[4]float64{100, 0, 140, 9}, Rows: &[2]int64{110, 1000},
			Limit: &three,
		}, 2},
	} {
		for in, change := range caches {
			t.Run(tt.name+", "+in, func(t *testing.T) {
				w := newWorld(t, small, change)
				w.write("a.rows", text)
				c := w.open()
				selected(t, c, Selection{})
				wantNames, wantRows := selected(t, c, tt.sel)
				c = w.lose(c)
				before := w.format.parses.Load()
				names, rows := selected(t, c, tt.sel)
				if names != wantNames || rows != wantRows {
					t.Errorf("got:  %s\n%s\nwant: %s\n%s", names, rows, wantNames, wantRows)
				}
				w.wantParses(before)
				if parts := partsOf(c); parts != 1 {
					t.Errorf("%d parts were read, want 1", parts)
				}
				if n := bytesFor(t, c, tt.sel); n > int64(tt.batches)*16*40 || n > 0 != (tt.batches > 0) {
					t.Errorf("%d bytes were read of %d, want %d batches", n, len(text), tt.batches)
				}
			})
		}
	}
}

// partsOf returns the number of scans that parsed only a part of a file.
func partsOf(c *Catalog) int64 {
	n, _ := c.loader.Parts()
	return n
}

// bytesFor returns how many bytes of a.rows are read for a selection.
func bytesFor(t *testing.T, c *Catalog, sel Selection) int64 {
	t.Helper()
	h, s, err := c.Read(context.Background(), Request{Name: "a.rows"}, sel)
	must(t, err)
	defer h.Release()
	for {
		rec, err := s.Next(context.Background())
		if errors.Is(err, io.EOF) {
			_, before := c.loader.Parts()
			h.Release()
			_, after := c.loader.Parts()
			return after - before
		}
		must(t, err)
		rec.Release()
	}
}

// TestPartOrWhole checks for which selections the whole file is parsed.
func TestPartOrWhole(t *testing.T) {
	box := func(from, to float64) Selection { return Selection{BBox: &[4]float64{from, 0, to, 9}} }
	for _, tt := range []struct {
		name  string
		text  string
		sels  []Selection
		whole bool // the last selection parses the whole file
	}{
		{"few batches", textOf(3, 2000), []Selection{box(1, 100)}, false},
		{"more than a quarter", textOf(3, 2000), []Selection{box(1, 700)}, true},
		{"parts of less than the file", textOf(3, 2000), slices.Repeat([]Selection{box(1, 400)}, 4), false},
		{"parts of more", textOf(3, 2000), slices.Repeat([]Selection{box(1, 400)}, 6), true},
		{"no box", textOf(3, 2000), []Selection{{Rows: &[2]int64{1, 2}}}, true},
		{"no geometry", "1;a;\n2;b;\n", []Selection{box(1, 2)}, false},
	} {
		for in, change := range caches {
			t.Run(tt.name+", "+in, func(t *testing.T) {
				w := newWorld(t, small, change)
				w.write("a.rows", tt.text)
				c := without(t, w, "a.rows")
				w.wantParses(1)
				for i, sel := range tt.sels {
					selected(t, c, sel)
					if !tt.whole || i < len(tt.sels)-1 {
						w.wantParses(0)
					}
				}
				if tt.whole {
					w.wantParses(1)
				}
			})
		}
	}
	w := newWorld(t, small) // the table is in memory
	w.write("a.rows", textOf(3, 2000))
	w.want(w.open(), "a.rows")
	c := w.open()
	selected(t, c, box(1, 100))
	if parts := c.Stats().Cache.Parts; parts != 0 {
		t.Errorf("%d parts were read of a table that is there", parts)
	}
}

// TestPartOfAChangedFile changes the file before, during and after reading a part of it.
func TestPartOfAChangedFile(t *testing.T) {
	w := newWorld(t, small)
	w.write("a.rows", textOf(3, 2000))
	c := without(t, w, "a.rows")
	sel := Selection{BBox: &[4]float64{100, 0, 140, 9}}
	h, s, err := c.Read(context.Background(), Request{Name: "a.rows"}, sel)
	must(t, err)
	rec, err := s.Next(context.Background())
	must(t, err)
	rec.Release()
	w.write("a.rows", textOf(4, 2000))
	for err == nil {
		_, err = s.Next(context.Background())
	}
	if !errors.Is(err, source.ErrChanged) {
		t.Errorf("error %v, want that the file changed", err)
	}
	h.Release()
	if _, rows := selected(t, c, sel); rows == "" {
		t.Error("no rows of the new file")
	}
	w.wantParses(2)
}

// TestPartEnds cancels reading a part, and closes the catalog.
func TestPartEnds(t *testing.T) {
	w := newWorld(t, small)
	w.write("a.rows", textOf(3, 2000))
	c := without(t, w, "a.rows")
	h, s, err := c.Read(context.Background(), Request{Name: "a.rows"}, Selection{BBox: &[4]float64{100, 0, 140, 9}})
	must(t, err)
	defer h.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	w.close(c)
	if _, err := s.Next(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want ErrClosed", err)
	}
	var unknown *UnknownColumnError
	if _, _, err := without(t, w, "a.rows").Read(context.Background(), Request{Name: "a.rows"},
		Selection{BBox: &[4]float64{1, 1, 2, 2}, Columns: []string{"c"}}); !errors.As(err, &unknown) {
		t.Errorf("error %v, want an *UnknownColumnError", err)
	}
}
