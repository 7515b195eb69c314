package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// rights is a scope with the same restriction for every entry.
type rights struct {
	access.Scope
	restriction *access.Restriction
}

func (r rights) Restriction(string) *access.Restriction { return r.restriction }

// restrictedTo returns a context with a restriction.
func restrictedTo(r access.Restriction) context.Context {
	return access.With(context.Background(), rights{access.All, &r})
}

// cellsOf returns the rows that a scan gives, as text, with a header.
func cellsOf(ctx context.Context, s *Scan) ([]string, error) {
	var names []string
	for _, f := range s.Schema().Fields() {
		names = append(names, f.Name)
	}
	rows := []string{strings.Join(names, "|")}
	for {
		rec, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range int(rec.NumRows()) {
			var cells []string
			for _, c := range rec.Columns() {
				cells = append(cells, c.ValueStr(i))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		rec.Release()
	}
}

// readAs returns the rows of a selection, as text, with a header.
func readAs(ctx context.Context, c *Catalog, name string, sel Selection) ([]string, error) {
	sel.Encoding = geoarrow.Encoding{Geometry: geoarrow.AsWKT}
	h, s, err := c.Read(ctx, Request{Name: name}, sel)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	return cellsOf(ctx, s)
}

func TestHiddenColumnsDoNotExist(t *testing.T) {
	w := newWorld(t, small)
	w.write("a.rows", textOf(3, 50))
	c := w.open()
	ctx := restrictedTo(access.Restriction{Hidden: []string{"B"}})
	got, err := readAs(ctx, c, "a.rows", Selection{})
	if err != nil || len(got) != 51 || got[0] != "a|geometry" || got[2] != "3001|POINT (1 3)" {
		t.Fatalf("%d rows, %q, error %v", len(got), got[:min(3, len(got))], err)
	}
	_, err = readAs(ctx, c, "a.rows", Selection{Columns: []string{"b"}})
	if fmt.Sprint(err) != `a.rows: no column "b"; the nearest is "a"` {
		t.Errorf("error %v", err)
	}
	h, s, err := c.Describe(ctx, Request{Name: "a.rows"}, Selection{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	whole, err := c.Table(context.Background(), Request{Name: "a.rows"})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Release()
	if n := len(h.Table.IDs); s.Schema().NumFields() != 2 || n != 1 || s.Bytes() >= whole.Table.Bytes ||
		h.Entry.Size != 0 {
		t.Errorf("schema %s, %d IDs, %d of %d bytes, file of %d bytes", s.Schema(), n, s.Bytes(), whole.Table.Bytes,
			h.Entry.Size)
	}
	if h.Version != whole.Version {
		t.Error("a ticket of one caller has no meaning for another one")
	}
	// A geometry that is hidden has no box, by which rows could be found.
	ctx = restrictedTo(access.Restriction{Hidden: []string{"geometry"}})
	got, err = readAs(ctx, c, "a.rows", Selection{BBox: &[4]float64{-100, -100, 100, 100}})
	if err != nil || len(got) != 1 {
		t.Errorf("%q, error %v", got, err)
	}
}

// oddRows keeps every second row of each batch, whatever the filter says.
type oddRows struct{ restrict.Evaluator }

func (oddRows) Filter(_ context.Context, t *readers.Table, _ string) ([][]int32, error) {
	kept := make([][]int32, len(t.Batches))
	for i, b := range t.Batches {
		for row := 1; row < b.Rows; row += 2 {
			kept[i] = append(kept[i], int32(row))
		}
	}
	return kept, nil
}

// TestDamageToARestrictedTable damages the file of a table while a restricted caller reads it.
func TestDamageToARestrictedTable(t *testing.T) {
	for _, after := range []int{0, 2} {
		for _, box := range []*[4]float64{nil, everywhere} {
			w := newWorld(t, func(c *Config) { c.Limits.BatchRows = 100 })
			w.write("a.rows", textOf(1, 1000))
			var rows []string
			for i, row := range rowsOfText(w.read("a.rows"), 0) {
				if i%2 == 1 {
					rows = append(rows, row)
				}
			}
			if box != nil {
				rows = withGeometry(rows)
			}
			c := w.open()
			w.want(c, "a.rows")
			w.close(c)
			text, err := os.ReadFile(w.tables()[0])
			must(t, err)
			c = w.open()
			c.SetEvaluator(oddRows{}, nil)
			ctx := restrictedTo(access.Restriction{Filter: "odd"})
			h, err := c.Table(ctx, Request{Name: "a.rows"})
			must(t, err)
			if h.Table.Rows != 500 || len(h.Table.Batches) != 5 || !h.Cached {
				t.Errorf("%d rows in %d batches", h.Table.Rows, len(h.Table.Batches))
			}
			scanBy(t, h, Selection{BBox: box}, rows, after, func() { turn(t, w.tables()[0], int64(len(text))/4) })
			scanBy(t, h, Selection{BBox: box}, rows, -1, nil)
			h.Release()
			c.awaitSaves()
			// The rows that are kept are known, also after the table was evicted from memory.
			h, err = c.Table(ctx, Request{Name: "a.rows"})
			must(t, err)
			scanBy(t, h, Selection{BBox: box}, rows, -1, nil)
			h.Release()
		}
	}
}

// TestPollsOfRestrictedTables shares a parse between callers of different rights.
func TestPollsOfRestrictedTables(t *testing.T) {
	w := newWorld(t, small)
	w.write("a.rows", textOf(3, 50))
	c := w.open()
	ctx := restrictedTo(access.Restriction{Hidden: []string{"b"}})
	for _, as := range []context.Context{ctx, context.Background(), ctx} {
		h, _, err := c.Poll(as, Request{Name: "a.rows"}, "")
		if err != nil || h == nil {
			t.Fatalf("%v, error %v", h, err)
		}
		want := 2
		if as == ctx {
			want = 1
		}
		if n := len(h.Table.Batches[0].Attributes); n != want {
			t.Errorf("%d columns, want %d", n, want)
		}
		h.Release()
	}
	table, s, version, err := c.Peek(ctx, "a.rows", Selection{})
	if err != nil || s == nil || version == "" || len(table.IDs) != 1 || s.Schema().NumFields() != 2 {
		t.Errorf("Peek: %v, error %v", table, err)
	}
	other := restrictedTo(access.Restriction{Hidden: []string{"a"}})
	if _, s, _, err := c.Peek(other, "a.rows", Selection{}); s != nil || err != nil {
		t.Errorf("Peek gives a table that was not requested; error %v", err)
	}
}
