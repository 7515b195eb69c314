//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
)

// The rows of the table itself are those that DuckDB makes of it.
func TestPlain(t *testing.T) {
	w := newWorld(t, map[string]string{
		"roads.csv":     roads,
		"case.csv":      "a,A,a_1,rowid,case\n1,2,3,4,x\n6,7,8,,\n",
		"empty.csv":     "a,b\n",
		"types.geojson": `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"n":[1,2],"d":"2020-02-03","t":"2020-02-03T04:05:06.000000007Z","o":{"a":1},"b":true},"geometry":null},{"type":"Feature","properties":{"n":[],"d":null},"geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}}]}`,
		"grid.csv":      grid(1000),
	})
	for _, c := range []struct {
		query string
		plain bool
	}{
		{"SELECT * FROM roads", true},
		{"TABLE roads", true},
		{"SELECT NAME, name, geometry AS g, geometry FROM roads", true},
		{"SELECT r.name, lanes FROM roads AS r", true},
		{"SELECT rowid, a_1, \"A_1\", a_1_1 FROM \"case\"", true},
		{"SELECT \"case\" FROM \"case\"", true},
		{"SELECT a AS rowid, rowid FROM \"case\"", true},
		{"SELECT roads FROM roads", false},
		{"SELECT rowid FROM roads LIMIT 0", false},
		{"SELECT * FROM empty", true},
		{"SELECT b FROM empty", true},
		{"SELECT d, o, b, geometry FROM types", true},
		{"SELECT n FROM types", false}, // the element of a list has another name
		{"SELECT * FROM grid", true},
		{"SELECT geometry, i FROM grid", true},
		{"SELECT geometry, i FROM grid WHERE i < 100", false},
		{"SELECT i + 1 FROM grid", false},
		{"DESCRIBE grid", false},
		{"EXPLAIN SELECT i FROM grid", false},
	} {
		want, wantErr := w.askWhole(c.query)
		got, err := w.ask(c.query)
		if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v\nDuckDB %q, %v", c.query, got, err, want, wantErr)
		}
		s, err := w.engine.Prepare(t.Context(), c.query, "")
		if err != nil {
			if c.plain {
				t.Errorf("%s: %v", c.query, err)
			}
			continue
		}
		if plain := s.idle.direct != nil; plain != c.plain {
			t.Errorf("%s: plain %t, want %t; %v", c.query, plain, c.plain, s.Schema())
		}
		s.Close()
	}
}

// What Next returned stays readable after Close, and without the table, as long as it is retained.
func TestPlainRetained(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(5000)}, cached(t), func(c *catalog.Config, _ *Config) {
		c.Limits.BatchRows = 4096
	})
	want, err := w.ask("SELECT x FROM grid LIMIT 4096")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time the table is in a file
		s, err := w.engine.Prepare(t.Context(), "SELECT x FROM grid", "")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Query(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := rows.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release := rows.Retain()
		rows.Close()
		if _, err := rows.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("Next after Close: %v, want io.EOF", err)
		}
		s.Close()
		if _, err := w.catalog.Evict(t.Context(), "grid.csv"); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		for i, text := range want {
			if got := cell(rec.Schema().Field(0), rec.Column(0), i); got != text {
				t.Fatalf("row %d: %s, want %s", i, got, text)
			}
		}
		rec.Release()
		if release != nil {
			release()
		}
	}
}

func TestPlainEnds(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(500)})
	s, err := w.engine.Prepare(t.Context(), "SELECT * FROM grid", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		name string
		end  func(begun *Rows) error // gives the error of Next
		want error
	}{
		{"the end of Query's context", func(rows *Rows) error {
			cancel()
			_, err := rows.Next(context.Background())
			return err
		}, context.Canceled},
		{"the end of Next's context", func(rows *Rows) error {
			_, err := rows.Next(ctx)
			return err
		}, context.Canceled},
		{"the engine's end", func(rows *Rows) error {
			closed := make(chan error)
			go func() { closed <- w.engine.Close() }()
			<-rows.rows.(*directRows).batches.ctx.Done() // it ends after the engine's own
			_, err := rows.Next(context.Background())
			rows.Close()
			return errors.Join(err, <-closed)
		}, ErrClosed},
	} {
		of := context.Background()
		if ctx.Err() == nil {
			of = ctx
		}
		rows, err := s.Query(of, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.end(rows); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		rows.Close()
	}
	if held := w.catalog.Stats().HeldTables; held != 0 {
		t.Errorf("%d tables are held", held)
	}
}

// What a run reads where it is stays, whatever others make; it counts for the room that there is.
func TestPinned(t *testing.T) {
	w := newWorld(t, map[string]string{"squares.geojson": squares(48)}) // 3 batches of 16 rows
	l, err := leaseTable(t.Context(), w.catalog, access.SQL, "squares.geojson", "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.release()
	batches := l.table.Load().Batches
	first, err := batches[0].Geometry.ToWKB()
	if err != nil {
		t.Fatal(err)
	}
	one := int64(len(first.WKB)) + 4*int64(len(first.Offsets))
	for _, shares := range []bool{false, true} {
		b := newDerivedCache(2*one+1, shares)
		w.engine.derived = b
		r := &statementRun{engine: w.engine}
		for i, want := range []bool{true, true, false} {
			for range 2 { // a table may be scanned twice
				if _, lasting, err := r.wkb(batches[i]); err != nil || lasting != want {
					t.Errorf("batch %d: lasting %t, %v, want %t", i, lasting, err, want)
				}
			}
		}
		if _, _, err := b.wkb(batches[2]); err != nil || b.size() != 2*one {
			t.Errorf("%d bytes are kept, %v, want %d: those of the run", b.size(), err, 2*one)
		}
		for d, g := range r.pins {
			if d.wkb != g || d.pins != 1 {
				t.Errorf("a batch has %d pins, and its geometries are kept: %t", d.pins, d.wkb == g)
			}
		}
		r.release()
		if _, d, err := b.pin(batches[2]); err != nil || d == nil || b.size() != 2*one {
			t.Errorf("after the run: %v, %v, %d bytes, want the third batch to be kept in place of one of the others",
				d, err, b.size())
		}
	}
}

// With room for some of the geometries, for all, and for none, a query has the same rows, and
// leaves nothing pinned.
func TestPinnedQuery(t *testing.T) {
	w := newWorld(t, map[string]string{"squares.geojson": squares(320)})
	for _, budget := range []int64{0, 5000, 1 << 20} {
		w.engine.derived = newDerivedCache(budget, w.engine.cfg.Workers > 0)
		w.want("SELECT count(*), count(DISTINCT a.geometry) FROM squares a JOIN squares b ON a.geometry = b.geometry",
			"320|320")
		w.want("SELECT geometry FROM squares WHERE i = 300",
			"POLYGON ((300 300, 300.5 300, 300.5 300.5, 300 300.5, 300 300))")
		for _, d := range w.engine.derived.batches {
			if d.pins != 0 {
				t.Errorf("budget %d: %d pins are left", budget, d.pins)
			}
		}
	}
}
