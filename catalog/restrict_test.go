package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/access"
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
	if n := len(h.Table.IDs); s.Schema().NumFields() != 2 || n != 1 || s.Bytes() >= whole.Table.Bytes || h.Entry.Size != 0 {
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
