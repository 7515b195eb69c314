package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// ofParts makes the files parts/** of the data folder a dataset.
func ofParts(spec Dataset) func(*Config) {
	return func(c *Config) {
		spec.Name = "all"
		spec.Files = []string{filepath.Join(c.Roots[0].Dir, "parts/**/*.rows")}
		c.Datasets = []Dataset{spec}
	}
}

func (w *world) writePart(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.data, "parts", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// readRows reads the selected rows of an entry, each as its cells joined.
func readRows(ctx context.Context, c *Catalog, req Request, sel Selection) ([]string, error) {
	sel.Encoding = geoarrow.Encoding{Geometry: geoarrow.AsWKT}
	h, s, err := c.Read(ctx, req, sel)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	var rows []string
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
			for _, col := range rec.Columns() {
				cells = append(cells, col.ValueStr(i))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		rec.Release()
	}
}

func (w *world) readRows(c *Catalog, name string, sel Selection) []string {
	w.t.Helper()
	rows, err := readRows(context.Background(), c, Request{Name: name}, sel)
	if err != nil {
		w.t.Fatalf("%s %+v: %v", name, sel, err)
	}
	return rows
}

func (w *world) refresh(c *Catalog) {
	w.t.Helper()
	if err := c.Refresh(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// TestDatasetIsOneFile compares selections of a dataset with those of one file of the same rows:
// after a cold start, from memory, and from the cache.
func TestDatasetIsOneFile(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"cache", func(*Config) {}},
		{"no cache", func(c *Config) { c.CacheDir = "" }},
		{"no memory", func(c *Config) { c.CacheDir, c.MemoryBytes = "", -1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, ofParts(Dataset{}), c.change)
			var all strings.Builder
			for i := range 40 {
				text := textOf(i, i*7%90)
				if i == 17 {
					text = textOf(i, 34_000) // a unit of its own
				}
				w.writePart(fmt.Sprintf("d%d/%03d.rows", i/10, i), text)
				all.WriteString(text)
			}
			w.write("one.rows", all.String())
			served := w.open()
			for range 2 {
				compareSelections(w, served)
				w.close(served)
				served = w.open()
			}
		})
	}
}

func compareSelections(w *world, c *Catalog) {
	w.t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	want := w.readRows(c, "one.rows", Selection{})
	if got := w.readRows(c, "all", Selection{}); !slices.Equal(got, want) {
		w.t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	n := int64(len(want))
	for range 30 {
		var sel Selection
		if rng.IntN(2) == 0 {
			from := rng.Int64N(n)
			sel.Rows = &[2]int64{from, from + rng.Int64N(n/4)}
		}
		if rng.IntN(2) == 0 {
			x, y := rng.Float64()*90, rng.Float64()*40
			sel.BBox = &[4]float64{x, y, x + rng.Float64()*20, y + rng.Float64()*5}
		}
		if rng.IntN(3) == 0 {
			limit := rng.Int64N(300)
			sel.Limit = &limit
		}
		if rng.IntN(3) == 0 {
			sel.Columns = []string{"geometry", "a"}
		}
		got, want := w.readRows(c, "all", sel), w.readRows(c, "one.rows", sel)
		if !slices.Equal(got, want) {
			w.t.Fatalf("%+v: %d rows, want %d", sel, len(got), len(want))
		}
	}
}

// TestDatasetChanges adds, changes and removes members. Only what is new is parsed.
func TestDatasetChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"cache", func(*Config) {}},
		{"no cache", func(c *Config) { c.CacheDir = "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, ofParts(Dataset{}), c.change)
			texts := map[string]string{}
			put := func(name, text string) {
				texts[name] = text
				w.writePart(name, text)
			}
			for i := range 50 {
				put(fmt.Sprintf("%03d.rows", i), textOf(i, 20))
			}
			served := w.open()
			check := func(what string, parses int64) {
				t.Helper()
				w.refresh(served)
				var want []string
				for _, name := range slices.Sorted(maps.Keys(texts)) {
					want = append(want, rowsOfText(texts[name], 0)...)
				}
				if got := w.readRows(served, "all", Selection{}); !slices.Equal(got, want) {
					t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
				}
				if got := w.format.parses.Swap(0); got != parses {
					t.Errorf("%s: %d parses, want %d", what, got, parses)
				}
			}
			check("cold", 50)
			check("again", 0)
			put("007.rows", textOf(100, 30))
			check("a changed member", 1)
			put("1000.rows", textOf(200, 3))
			put("000a.rows", textOf(201, 3))
			check("two new members", 2)
			delete(texts, "020.rows")
			_ = os.Remove(filepath.Join(w.data, "parts", "020.rows"))
			check("a member less", 0)
			put("021.rows", "x;1;\n") // a is text from now on: the text of all numbers is needed
			check("another type", 51)
			put("021.rows", textOf(21, 20))
			check("the type of before", 51)
			if served.cfg.CacheDir == "" {
				return
			}
			w.close(served)
			served = w.open()
			check("after a restart", 0)
			put("030.rows", textOf(300, 30))
			check("a changed member after a restart", 1)
		})
	}
}

// TestDatasetErrors names the member, or leaves it out.
func TestDatasetErrors(t *testing.T) {
	for _, skip := range []bool{false, true} {
		t.Run(fmt.Sprint(skip), func(t *testing.T) {
			w := newWorld(t, ofParts(Dataset{SkipErrors: skip}))
			w.writePart("1.rows", "1;a;1 2\n")
			w.writePart("2.rows", "1;a;1 2\n!\n")
			w.writePart("3.rows", "3;c;\n")
			for range 2 { // the second time after a restart
				c := w.open()
				got, err := readRows(t.Context(), c, Request{Name: "all"}, Selection{})
				var parse *readers.ParseError
				switch {
				case !skip && (!errors.As(err, &parse) || !strings.HasSuffix(parse.Name, "parts/2.rows") ||
					parse.Offset != 8):
					t.Errorf("%v, want an error of byte 8 of 2.rows", err)
				case skip && (err != nil || !slices.Equal(got, []string{"1|a|POINT (1 2)", "3|c|(null)"})):
					t.Errorf("%q, %v", got, err)
				}
				if skip {
					h, err := c.Table(t.Context(), Request{Name: "all"})
					if err != nil {
						t.Fatal(err)
					}
					info := DatasetInfo(h)
					if info.Files != 2 || info.Skipped != 1 || !strings.Contains(info.First[0].Reason, "malformed") {
						t.Errorf("%+v, want one skipped member", info)
					}
					h.Release()
				}
				w.close(c)
			}
		})
	}
}

// TestDatasetFolders gives the columns of folders and of paths.
func TestDatasetFolders(t *testing.T) {
	w := newWorld(t, ofParts(Dataset{Filename: "file"}))
	w.writePart("year=2024/kind=a%20b/1.rows", "1;x;\n2;;\n")
	w.writePart("year=2025/kind=01/1.rows", "3;x;\n")
	w.writePart("year=__HIVE_DEFAULT_PARTITION__/1.rows", "4;x;\n")
	c := w.open()
	got := w.readRows(c, "all", Selection{Columns: []string{"year", "kind", "a", "file"}})
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], w.data+"/parts/", "")
	}
	want := []string{
		"2024|a b|1|year=2024/kind=a%20b/1.rows", "2024|a b|2|year=2024/kind=a%20b/1.rows",
		"2025|01|3|year=2025/kind=01/1.rows",
		"(null)|(null)|4|year=__HIVE_DEFAULT_PARTITION__/1.rows",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, tt := range []struct {
		name   string
		values map[string]any
		want   []string // of column a
	}{
		{"integer", map[string]any{"year": int64(2024)}, []string{"1", "2"}},
		{"text", map[string]any{"kind": "01"}, []string{"3"}},
		{"null", map[string]any{"year": nil}, []string{"4"}},
		{"both", map[string]any{"year": int64(2025), "kind": "a b"}, nil},
		{"none", map[string]any{"year": int64(1)}, nil},
	} {
		got := w.readRows(c, "all", Selection{Columns: []string{"a"}, Partitions: tt.values})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for name, values := range map[string]map[string]any{
		"type": {"year": "2024"}, "name": {"month": int64(1)}, "number": {"kind": int64(1)},
	} {
		var wrong *PartitionError
		_, err := readRows(t.Context(), c, Request{Name: "all"}, Selection{Partitions: values})
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v, want a *PartitionError", name, err)
		}
	}
	h, err := c.Table(t.Context(), Request{Name: "all"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	got = []string{h.Table.Batches[0].Attributes[0].Type.String(), h.Table.Batches[0].Attributes[1].Type.String()}
	if !slices.Equal(got, []string{"int64", "utf8"}) {
		t.Errorf("%q, want an integer and a text", got)
	}
}
