package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/load"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/poll"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// description returns the result of Describe for a.rows as text.
func description(t *testing.T, c *Catalog, sel Selection) string {
	t.Helper()
	h, s, err := c.Describe(t.Context(), Request{Name: "a.rows"}, sel, false)
	must(t, err)
	defer h.Release()
	rows, err := s.Rows(t.Context())
	must(t, err)
	counts, err := s.BatchRows(t.Context())
	must(t, err)
	about := h.Table
	text, err := json.Marshal([]any{
		about.Format, about.Engine, about.CRS, about.Starts, about.Rows, about.Bytes, about.BBox,
		about.GeometryTypes, about.Summary, about.RoundedIntegers,
		about.ReplacedCharacters, about.ParseTime, s.BatchBytes(),
		counts, fmt.Sprint(about.Boxes),
	})
	must(t, err)
	return fmt.Sprintf("version %s, %d rows, %d bytes, %s\n%s", h.Version, rows, s.Bytes(), s.Schema(), text)
}

// TestDescribeLost compares the description of a table that is not in memory with that of one that
// is.
func TestDescribeLost(t *testing.T) {
	limit := int64(100)
	for _, tt := range []struct {
		name   string
		text   string
		sel    Selection
		parses int64 // needed for it
	}{
		{"all", textOf(3, 2000), Selection{}, 0},
		{"one column", textOf(3, 2000), Selection{Columns: []string{"b"}}, 0},
		{"columns in another order", textOf(3, 2000), Selection{Columns: []string{"geometry", "a"}}, 0},
		{"rows", textOf(3, 2000), Selection{Rows: &[2]int64{40, 300}}, 0},
		{"a limit", textOf(3, 2000), Selection{Limit: &limit}, 0},
		{"another encoding", textOf(3, 2000), Selection{Encoding: geoarrow.Encoding{Geometry: geoarrow.AsWKB}}, 0},
		{"a box of few batches", textOf(3, 2000), Selection{BBox: &[4]float64{100, 0, 140, 9}}, 0},
		{"a box of many", textOf(3, 2000), Selection{BBox: &[4]float64{0, 0, 1e6, 9}}, 1},
		{"no row", "", Selection{}, 0},
		{"no geometry", "1;a;\n2;b;\n", Selection{}, 0},
		{"null geometries", ";;\n;;\n", Selection{}, 0},
	} {
		for in, change := range caches {
			t.Run(tt.name+", "+in, func(t *testing.T) {
				w := newWorld(t, small, change)
				w.write("a.rows", tt.text)
				c := w.open()
				want := description(t, c, tt.sel)
				c = w.lose(c)
				w.format.parses.Store(0)
				// the parse had another duration
				if got := description(t, c, tt.sel); got != want && tt.parses == 0 {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				w.wantParses(tt.parses)
				if _, _, err := c.Describe(t.Context(), Request{Name: "a.rows"}, Selection{Columns: []string{"bb"}},
					true); !errors.As(err, new(*UnknownColumnError)) {
					t.Errorf("an unknown column: %v", err)
				}
				w.close(c)
			})
		}
	}
}

// TestDescribeHasNoRows expects an error when rows are read from a scan that only describes.
func TestDescribeHasNoRows(t *testing.T) {
	for in, change := range caches {
		t.Run(in, func(t *testing.T) {
			w := newWorld(t, small, change)
			w.write("a.rows", textOf(3, 100))
			c := without(t, w, "a.rows")
			h, s, err := c.Describe(t.Context(), Request{Name: "a.rows"}, Selection{}, false)
			must(t, err)
			defer h.Release()
			if h.Cached || h.Retain() != nil {
				t.Errorf("cached %t, or it can be retained, of a table that is not there", h.Cached)
			}
			if rec, err := s.Next(t.Context()); !errors.Is(err, load.ErrNoRows) {
				t.Errorf("got %v, %v, want %v", rec, err, load.ErrNoRows)
			}
			w.close(c)
		})
	}
}

// TestDescribeParses expects that Describe does not wait for a parse. Several ranges share one
// parse, although they are requested one after the other and the caller leaves in between.
func TestDescribeParses(t *testing.T) {
	for in, change := range caches {
		t.Run(in, func(t *testing.T) {
			w := newWorld(t, small, change)
			text := textOf(5, 700)
			c, gate := lost(t, w, text)
			defer w.close(c)
			w.format.parses.Store(0)
			req := Request{Name: "a.rows"}
			for range 3 { // the parse is blocked
				h, s, err := c.Describe(t.Context(), req, Selection{}, true)
				must(t, err)
				if n, err := s.Rows(t.Context()); n != 700 || err != nil || h.Cached {
					t.Errorf("%d rows, %v, cached %t, want 700 that are not", n, err, h.Cached)
				}
				h.Release()
			}
			if n := c.polls.Len(); n != 1 {
				t.Errorf("%d are expected, want 1", n)
			}
			// else it ends with the first of the readers
			eventually(t, "the parse is waited for", func() error {
				if c.tables.Stats().Waiting == 0 {
					return errors.New("no call waits")
				}
				return nil
			})
			want := rowsOfText(text, 0)
			for from := int64(0); from < 700; from += 100 {
				for range 7 { // chunks, of 16 rows
					gate <- struct{}{}
				}
				h, s, err := c.Read(t.Context(), req, Selection{
					Rows:     &[2]int64{from, from + 100},
					Encoding: geoarrow.Encoding{Geometry: geoarrow.AsWKT},
				})
				must(t, err)
				at := int(from)
				for {
					rec, err := s.Next(t.Context())
					if errors.Is(err, io.EOF) {
						break
					}
					must(t, err)
					at, err = sameRecord(rec, want, at)
					must(t, err)
				}
				if at != int(from)+100 {
					t.Errorf("rows up to %d, want %d", at, from+100)
				}
				h.Release()
			}
			w.wantParses(1)
			w.format.pause.Store(nil)
		})
	}
}

// TestDescribeExpectsFew describes many lost files, and expects that only a few of them are parsed.
// A request for the rows of another file parses that one.
func TestDescribeExpectsFew(t *testing.T) {
	for in, change := range caches {
		t.Run(in, func(t *testing.T) {
			w := newWorld(t, small, change)
			names := []string{"b.rows", "c.rows", "d.rows", "e.rows"}
			for i, name := range names {
				w.write(name, textOf(5+i, 100)) // files with the same content share a table
			}
			c := without(t, w, names...)
			defer w.close(c)
			gate := make(chan struct{})
			w.passAt(gate)
			resume := sync.OnceFunc(func() { close(gate) })
			defer resume() // lets the parses end if the test fails earlier
			w.format.parses.Store(0)
			describe := func() {
				for _, name := range names {
					h, s, err := c.Describe(t.Context(), Request{Name: name}, Selection{}, true)
					must(t, err)
					if n, err := s.Rows(t.Context()); n != 100 || err != nil {
						t.Errorf("%s: %d rows, %v", name, n, err)
					}
					h.Release()
				}
			}
			describe()
			describe()
			begun := func(want int) {
				t.Helper()
				eventually(t, "the parses", func() error {
					if n := c.tables.Stats().Parsing; n != want {
						return fmt.Errorf("%d parses under way, want %d", n, want)
					}
					return nil
				})
			}
			begun(poll.MaxPrefetched)
			done := make(chan struct{})
			go func() {
				defer close(done)
				w.want(c, "e.rows")
			}()
			begun(poll.MaxPrefetched + 1)
			resume()
			<-done
			begun(0)
			describe() // the parsed tables are available, and now there is space for more
			for _, name := range names {
				w.want(c, name)
			}
			w.wantParses(int64(len(names)))
			w.format.pause.Store(nil)
		})
	}
}

// TestDescribeExpects expects that a parse without a request is canceled after its time.
func TestDescribeExpects(t *testing.T) {
	for in, change := range caches {
		t.Run(in, func(t *testing.T) {
			w := newWorld(t, small, change)
			c, _ := lost(t, w, textOf(5, 700))
			defer w.close(c)
			c.polls.Lease = time.Millisecond
			h, _, err := c.Describe(t.Context(), Request{Name: "a.rows"}, Selection{}, true)
			must(t, err)
			h.Release()
			eventually(t, "the end of the parse", func() error {
				if n := c.polls.Len() + c.tables.Stats().Parsing; n > 0 {
					return fmt.Errorf("%d polls and parses", n)
				}
				return nil
			})
			w.format.pause.Store(nil)
		})
	}
}

// TestDescribeOfAnotherStore reads records of an earlier version, which lack something, and damaged
// records. The file is then parsed.
func TestDescribeOfAnotherStore(t *testing.T) {
	few := Selection{BBox: &[4]float64{100, 0, 140, 9}}
	for i, tt := range []struct {
		sel    Selection
		change func(k *persist.Meta)
	}{
		{Selection{}, func(k *persist.Meta) { k.Outline = nil }},
		{few, func(k *persist.Meta) { k.Outline = nil }},
		{Selection{}, func(k *persist.Meta) { k.Outline.Columns = k.Outline.Columns[1:] }},
		{Selection{}, func(k *persist.Meta) { k.Outline.Batches = nil }},
	} {
		w := newWorld(t, small)
		w.write("a.rows", textOf(3, 2000))
		c := without(t, w, "a.rows")
		j, err := c.job(t.Context(), Request{Name: "a.rows"})
		must(t, err)
		r, ok, err := c.archive.Store().Get(context.Background(), persist.StoreKey(j))
		if must(t, err); !ok {
			t.Fatal("nothing is stored")
		}
		k := &persist.Meta{}
		must(t, json.Unmarshal(r.Shape, k))
		tt.change(k)
		r.Shape, err = json.Marshal(k)
		must(t, err)
		c.archive.Put(context.Background(), r)
		w.format.parses.Store(0)
		description(t, c, tt.sel)
		if n := w.format.parses.Load(); n != 1 {
			t.Errorf("case %d: %d parses, want 1", i, n)
		}
		w.close(c)
	}
}
