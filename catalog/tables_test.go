package catalog

import (
	"context"
	"errors"
	"testing"
)

// TestTablesOfAnArchiveAreEntries expects that each table of an archive is an entry after the first
// of them was parsed.
func TestTablesOfAnArchiveAreEntries(t *testing.T) {
	for _, cached := range []bool{true, false} {
		w := newLayers(t, func(c *Config) {
			if !cached {
				c.CacheDir = ""
			}
		})
		w.write("all.zip", zipped(t, "notes.txt", "", "x/b.rows", "1;b;\n", "x/trips.layered", trips,
			"a#1.rows", "2;a;\n", "y/b.rows", "3;c;\n"))
		w.write("one.zip", zipped(t, "in/a.rows", "9;a;\n"))
		c := w.open()
		wantNames(t, c, "all.zip", "one.zip", "trips.layered", "trips.rows")
		bare := wantRows(t, c, "all.zip", "1;b;\n")
		all := []string{
			"all.zip#a%231", "all.zip#trips", "all.zip#x/b.rows", "all.zip#y/b.rows", "one.zip",
			"trips.layered", "trips.rows",
		}
		wantNames(t, c, all...)
		first := wantRows(t, c, "all.zip#x/b.rows", "1;b;\n")
		if !first.cached || first.version != bare.version {
			t.Errorf("the first table by its name: %+v, by its file's %+v", first, bare)
		}
		wantRows(t, c, "all.zip#a%231", "2;a;\n")
		wantRows(t, c, "all.zip#y/b.rows", "3;c;\n")
		wantRows(t, c, "all.zip#trips", "1;a;1 2\n2;b;\n")
		wantRows(t, c, "one.zip", "9;a;\n")
		for name, format := range map[string]string{
			"all.zip": "rows", "all.zip#trips": "layered",
			"all.zip#y/b.rows": "rows",
		} {
			if e, err := c.Lookup(context.Background(), name); err != nil || e.Format != format {
				t.Errorf("%s: format %q, %v, want %q", name, e.Format, err, format)
			}
		}
		list := c.List(context.Background(), "all.zip", "layered")
		if len(list) != 1 || list[0].Name != "all.zip#trips" {
			t.Errorf("listed %+v", list)
		}
		for _, name := range []string{"all.zip#b", "all.zip#x/b", "all.zip#Stops", "one.zip#a", "all.zip#"} {
			var notFound *NotFoundError
			if _, err := c.Lookup(context.Background(), name); !errors.As(err, &notFound) {
				t.Errorf("%s: got %v, want that it is not there", name, err)
			}
		}
		if !cached {
			continue
		}
		w.close(c)
		c = w.open() // it knows the layers from the cache
		wantNames(t, c, all...)
		if a := wantRows(t, c, "all.zip#trips", "1;a;1 2\n2;b;\n"); !a.cached {
			t.Error("parsed again")
		}
		w.write("all.zip", zipped(t, "x/b.rows", "1;b;\n", "d.rows", "4;d;\n"))
		wantRows(t, c, "all.zip#d", "4;d;\n")
	}
}
