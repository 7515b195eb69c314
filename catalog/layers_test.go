package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// layeredFormat has files of several layers. Each is a line "@name", followed by rows of
// rowsFormat.
func (w *world) layeredFormat() readers.Format {
	f := w.format.format()
	f.Name, f.Extensions, f.Layered = "layered", []string{".layered"}, true
	f.CPU = func(l readers.Layout) readers.Parser { return layeredParser{&w.format, l.Layer} }
	return f
}

type layeredParser struct {
	*rowsFormat
	layer string
}

func (p layeredParser) Parse(_ context.Context, src *source.File, _ readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	p.parses.Add(1)
	text, err := src.Head(1 << 20)
	if err != nil && !errors.Is(err, io.EOF) {
		return readers.Summary{}, err
	}
	sum := readers.Summary{CRS: geoarrow.CRS84, BytesRead: src.Size, Foreign: map[string]int64{}}
	chunk := rowsChunk{}
	found := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "!"):
			return sum, &readers.ParseError{Name: src.Name, Format: "layered", Row: -1, Err: errors.New("malformed")}
		case strings.HasPrefix(line, "@"):
			sum.Layers = append(sum.Layers, line[1:])
			found = found || line[1:] == p.layer || p.layer == ""
		case p.layer == sum.Layers[len(sum.Layers)-1] || p.layer == "" && len(sum.Layers) == 1:
			chunk.lines = append(chunk.lines, line)
		}
	}
	if !found {
		return sum, &readers.NoLayerError{Name: src.Name, Layer: p.layer, Layers: sum.Layers}
	}
	c, err := chunk.columns()
	if err != nil {
		return sum, err
	}
	return sum, emit(readers.Chunk{Columns: c, Span: readers.Span{To: src.Size, Inside: true}})
}

func newLayers(t *testing.T, change ...func(*Config)) *world {
	var w *world
	w = newWorld(t, append(change, func(c *Config) { c.Formats = append(c.Formats, w.layeredFormat()) })...)
	w.write("trips.layered", trips)
	w.write("trips.rows", "1;a;\n")
	return w
}

const trips = "@Stops\n1;a;1 2\n2;b;\n@100% #1\n3;c;\n@Tracks/north\n"

func wantNames(t *testing.T, c *Catalog, want ...string) {
	t.Helper()
	var names []string
	for _, e := range c.List(context.Background(), "", "") {
		names = append(names, e.Name)
		if now, err := c.Lookup(context.Background(), e.Name); err != nil || now != *e {
			t.Errorf("%s: looked up %+v, %v, listed %+v", e.Name, now, err, e)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("listed %q, want %q", names, want)
	}
}

// wantRows requests an entry and compares its rows.
func wantRows(t *testing.T, c *Catalog, name string, text string) answer {
	t.Helper()
	a, err := ask(t.Context(), c, Request{Name: name}, text)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return a
}

var expanded = []string{"trips.layered#100%25 %231", "trips.layered#Stops", "trips.layered#Tracks/north", "trips.rows"}

func TestLayersAreEntries(t *testing.T) {
	for _, cached := range []bool{true, false} {
		w := newLayers(t, func(c *Config) {
			if !cached {
				c.CacheDir = ""
			}
		})
		c := w.open()
		wantNames(t, c, "trips.layered", "trips.rows")
		bare := wantRows(t, c, "trips.layered", "1;a;1 2\n2;b;\n")
		wantNames(t, c, expanded...)
		first := wantRows(t, c, "trips.layered#Stops", "1;a;1 2\n2;b;\n")
		if !first.cached || first.version != bare.version {
			t.Errorf("the first layer by its name: %+v, by its file's %+v", first, bare)
		}
		wantRows(t, c, "trips.layered#100%25 %231", "3;c;\n")
		wantRows(t, c, "trips.layered#Tracks/north", "")
		w.wantParses(3)
		list := c.List(context.Background(), "trips.layered#T", "layered")
		if len(list) != 1 || list[0].Layer != "Tracks/north" ||
			list[0].File() != "trips.layered" {
			t.Errorf("listed %+v", list)
		}
		w.close(c)

		c = w.open()
		if cached {
			wantNames(t, c, expanded...)
			for _, name := range expanded {
				if _, err := c.Table(t.Context(), Request{Name: name}); err != nil && name != "trips.rows" {
					t.Error(err)
				}
			}
			w.wantParses(1) // the parse of trips.rows
		} else {
			wantNames(t, c, "trips.layered", "trips.rows")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnknownLayer(t *testing.T) {
	w := newLayers(t)
	c := w.open()
	for _, known := range []bool{false, true} {
		for _, tt := range []struct{ name, closest string }{
			{"trips.layered#Stop", "trips.layered#Stops"},
			{"trips.layered#", "trips.layered#Stops"},
			{"trips.layered#100% %231", "trips.layered#100%25 %231"},
			{"trips.rows#Stops", "trips.layered#Stops"},
			{"trip.layered#Stops", "trips.layered#Stops"},
		} {
			var notFound *NotFoundError
			_, err := c.Table(t.Context(), Request{Name: tt.name})
			if !errors.As(err, &notFound) || notFound.Name != tt.name || known &&
				!slices.Contains(notFound.Closest, tt.closest) {
				t.Errorf("%s: error %v, want *NotFoundError with %s", tt.name, err, tt.closest)
			}
		}
		w.format.parses.Add(-1) // the first parse of an unknown layer finds all layers
		wantNames(t, c, expanded...)
	}
	w.wantParses(-1)
	if n := len(w.tables()); n != 0 {
		t.Errorf("%d tables", n)
	}
}

func TestLayerByItsNameFirst(t *testing.T) {
	w := newLayers(t)
	c := w.open()
	wantRows(t, c, "trips.layered#Stops", "1;a;1 2\n2;b;\n")
	a := wantRows(t, c, "trips.layered", "1;a;1 2\n2;b;\n")
	if !a.cached {
		t.Error("the first layer has a second table")
	}
	h, err := c.Table(t.Context(), Request{Name: "trips.layered#Stops", Version: a.version})
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
	w.close(c)
	c = w.open()
	wantRows(t, c, "trips.layered", "1;a;1 2\n2;b;\n")
	w.wantParses(1)
}

func TestLayersOfAFileThatChanged(t *testing.T) {
	w := newLayers(t)
	c := w.open()
	wantRows(t, c, "trips.layered#Tracks/north", "")
	wantNames(t, c, expanded...)
	w.write("trips.layered", "@Routes\n7;z;\n@Stops\n8;y;\n")
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNames(t, c, "trips.layered", "trips.rows")
	wantRows(t, c, "trips.layered#Stops", "8;y;\n")
	wantRows(t, c, "trips.layered", "7;z;\n")
	wantNames(t, c, "trips.layered#Routes", "trips.layered#Stops", "trips.rows")
	if _, err := c.Lookup(context.Background(), "trips.layered#Tracks/north"); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("error %v, want *NotFoundError", err)
	}

	// The only layer of a file is the file itself, and still has a name.
	w.write("trips.layered", "@Only\n9;x;\n")
	wantRows(t, c, "trips.layered", "9;x;\n")
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNames(t, c, "trips.layered", "trips.rows")
	wantRows(t, c, "trips.layered#Only", "9;x;\n")

	// A malformed file also loses its layers, and the error says why it cannot be read.
	w.write("trips.layered", trips+"!\n")
	var bad *readers.ParseError
	for _, name := range []string{"trips.layered", "trips.layered#Stops", "trips.layered#None"} {
		if _, err := c.Table(t.Context(), Request{Name: name}); !errors.As(err, &bad) {
			t.Errorf("%s: error %v, want *ParseError", name, err)
		}
	}
	if err := os.Remove(filepath.Join(w.data, "trips.layered")); err != nil {
		t.Fatal(err)
	}
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNames(t, c, "trips.rows")
	if n := c.tree.Stats().Layered; n != 0 {
		t.Errorf("%d files have layers", n)
	}
}

func TestEvictLayers(t *testing.T) {
	w := newLayers(t)
	c := w.open()
	all := func() {
		for _, name := range append(expanded, "trips.layered") {
			h, err := c.Table(t.Context(), Request{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			h.Release()
		}
		c.awaitSaves()
	}
	for _, tt := range []struct {
		name string
		want int
	}{
		{"trips.layered#Stops", 1},
		{"trips.layered#Tracks/north", 1},
		{"trips.layered", 3},
		{"trips.layered#None", 0},
		{"trips.rows", 1},
	} {
		all()
		n, err := c.Evict(t.Context(), tt.name)
		if n != tt.want || err != nil && (tt.want > 0 || !errors.As(err, new(*NotFoundError))) {
			t.Errorf("%s: evicted %d, %v, want %d", tt.name, n, err, tt.want)
		}
	}
}

// TestEvictLayersFromDisk expects that an evicted table is removed from the disk too. Tables of
// other layers and what is known about them stay.
func TestEvictLayersFromDisk(t *testing.T) {
	skip := map[string]any{"on_error": "skip"}
	for _, tt := range []struct {
		name   string
		want   int
		parses int64 // of the tables that are requested again
	}{
		{"trips.layered#Stops", 2, 2},
		{"trips.layered#Tracks/north", 1, 1},
		{"trips.layered", 4, 4},
		{"trips.rows", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newLayers(t)
			ask := func(c *Catalog) {
				for _, req := range []Request{
					{Name: expanded[0]},
					{Name: expanded[1]},
					{Name: expanded[2]},
					{Name: expanded[3]},
					{Name: expanded[1], Options: skip},
				} {
					h, err := c.Table(t.Context(), req)
					if err != nil {
						t.Fatal(err)
					}
					h.Release()
				}
				w.close(c)
			}
			ask(w.open())
			w.wantParses(5)
			w.wantTables(5)
			c := w.open() // nothing is in memory
			if n, err := c.Evict(t.Context(), tt.name); n != tt.want || err != nil {
				t.Errorf("evicted %d, %v, want %d", n, err, tt.want)
			}
			w.wantTables(5 - tt.want)
			ask(c)
			w.wantParses(tt.parses)
			w.wantTables(5)
		})
	}
}

func TestLayersInTheListOfTheCache(t *testing.T) {
	w := newLayers(t, func(c *Config) { c.Limits = readers.Limits{} })
	c := w.open()
	for _, name := range expanded {
		h, err := c.Table(t.Context(), Request{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		h.Release()
	}
	w.close(c)
	list, err := ListCache(t.Context(), w.cache, c.cfg.Formats, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range list {
		got = append(got, filepath.Base(table.File)+"#"+table.Layer)
	}
	slices.Sort(got)
	if want := []string{
		"trips.layered#100% #1", "trips.layered#Stops", "trips.layered#Tracks/north",
		"trips.rows#",
	}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

// TestManyLayers lists a file with very many layers and finds each of them. The time grows with
// their number and not with its square.
func TestManyLayers(t *testing.T) {
	const n = 30_000
	w := newLayers(t)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "@%d\n", i)
	}
	w.write("trips.layered", b.String())
	c := w.open()
	wantRows(t, c, "trips.layered", "")
	list := c.List(context.Background(), "trips.layered#", "")
	if len(list) != n {
		t.Fatalf("%d entries", len(list))
	}
	for _, e := range list {
		now, err := c.Lookup(context.Background(), e.Name)
		if err != nil || now.Name != e.Name || now.Layer != e.Layer {
			t.Fatalf("%+v is %+v, %v", e, now, err)
		}
	}
	w.close(c)
}

// TestLongLayerNames reads a layer with a very long name, which is not listed: the list must fit in
// clients' messages.
func TestLongLayerNames(t *testing.T) {
	long := strings.Repeat("n", tree.MaxNameBytes+1)
	w := newLayers(t)
	c := w.open()
	w.write("trips.layered", "@"+long+"\n1;a;\n@Stops\n2;b;\n")
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantRows(t, c, "trips.layered", "1;a;\n")
	wantNames(t, c, "trips.layered#Stops", "trips.rows")
	wantRows(t, c, "trips.layered#"+long, "1;a;\n")
	w.write("trips.layered", "@"+long+"\n1;a;\n@"+long+"2\n")
	wantRows(t, c, "trips.layered", "1;a;\n")
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNames(t, c, "trips.layered", "trips.rows")
	w.close(c)
}
