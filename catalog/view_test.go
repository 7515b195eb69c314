package catalog

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// TestViewsAreShared requests selections of one table, and checks for which of them the schema is
// encoded.
func TestViewsAreShared(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", textOf(3, 250))
	c := w.open()
	encoded := 0
	ask := func(sel Selection) string {
		t.Helper()
		h, s, err := c.Read(context.Background(), Request{Name: "a.rows"}, sel)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Release()
		message, err := s.SchemaMessage(func(schema *arrow.Schema) ([]byte, error) {
			encoded++
			return []byte(schema.String()), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(message), s.Schema().String(); got != want {
			t.Fatalf("%+v: the message is of\n%s\nwant\n%s", sel, got, want)
		}
		return string(message)
	}
	wkb := geoarrow.Encoding{Geometry: geoarrow.AsWKB}
	one := int64(1)
	for i, step := range []struct {
		sel  Selection
		want int
	}{
		{Selection{}, 1},
		{Selection{}, 1},
		{Selection{Rows: &[2]int64{7, 9}, Limit: &one, BBox: &[4]float64{1, 2, 3, 4}}, 1},
		{Selection{Encoding: wkb}, 2},
		{Selection{Columns: []string{"a", "b"}}, 3},
		{Selection{Columns: []string{"b", "a"}}, 4},
		{Selection{Columns: []string{"a", "b", "geometry"}}, 5},
		{Selection{Columns: []string{"a", "b", "geometry"}, Encoding: wkb}, 6},
		{Selection{Columns: []string{"a", "b"}}, 6},
		{Selection{}, 6},
		{Selection{Encoding: wkb}, 6},
	} {
		if ask(step.sel); encoded != step.want {
			t.Fatalf("step %d, %+v: %d schemas are encoded, want %d", i, step.sel, encoded, step.want)
		}
	}
	// Only the latest views are kept.
	h, err := c.Table(context.Background(), Request{Name: "a.rows"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	all := []string{"a", "b", "geometry"}
	for i := range 12 {
		columns := []string{all[i%3]}
		if i/3%2 == 1 {
			columns = append(columns, all[(i+1)%3])
		}
		ask(Selection{Columns: columns, Encoding: geoarrow.Encoding{Geometry: geoarrow.GeometryEncoding(i / 6 % 2)}})
	}
	before := encoded
	if ask(Selection{}); encoded != before+1 {
		t.Error("a view that was asked for long ago is still there")
	}
	if _, _, err := c.Read(context.Background(), Request{Name: "a.rows"},
		Selection{Columns: []string{"c"}}); fmt.Sprint(err) != `a.rows: no column "c"; the nearest is "a"` {
		t.Errorf("error %v", err)
	}
}

// TestViewsKeepTheirColumns changes the slice of names that a view was requested with.
func TestViewsKeepTheirColumns(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", textOf(3, 250))
	c := w.open()
	columns := []string{"a"}
	selected(t, c, Selection{Columns: columns})
	columns[0] = "b"
	if names, _ := selected(t, c, Selection{Columns: columns}); names[0] != 'b' {
		t.Errorf("columns %s, want b", names)
	}
}
