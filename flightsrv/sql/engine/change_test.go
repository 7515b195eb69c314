//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/readers"
)

func TestChangedFile(t *testing.T) {
	w := newWorld(t, map[string]string{"t.csv": "a,b\n1,x\n"})
	// a stem is looked up in the listing, which may be a moment old
	s, err := w.engine.Prepare(t.Context(), `SELECT * FROM "t.csv"`, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ask := func() (string, error) {
		rows, err := runAll(t.Context(), s)
		return strings.Join(rows, " "), err
	}
	for _, c := range []struct{ name, file, want string }{
		{"as prepared", "a,b\n1,x\n", "1|x"},
		{"other rows", "a,b\n2,u\n3,v\n", "2|u 3|v"},
		{"other rows again", "a,b\n4,w\n", "4|w"},
	} {
		w.write("t.csv", c.file)
		if got, err := ask(); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	var changed *catalog.ChangedError
	for _, c := range []struct{ name, file string }{
		{"another type", "a,b\n1.5,x\n"}, {"another column", "a,b,c\n1,x,y\n"}, {"another name", "a,B\n1,x\n"},
	} {
		w.write("t.csv", c.file)
		if got, err := ask(); !errors.As(err, &changed) || changed.Name != "t.csv" {
			t.Errorf("%s: %q, %v, want a *catalog.ChangedError", c.name, got, err)
		}
	}
	w.want("SELECT * FROM t", "1|x")
	if err := os.Remove(filepath.Join(w.dir, "t.csv")); err != nil {
		t.Fatal(err)
	}
	var none *catalog.NotFoundError
	if got, err := ask(); !errors.As(err, &none) {
		t.Errorf("removed: %q, %v, want a *catalog.NotFoundError", got, err)
	}
	if got, err := w.ask("SELECT * FROM t"); !errors.As(err, &none) {
		t.Errorf("removed, prepared again: %q, %v, want a *catalog.NotFoundError", got, err)
	}
	w.write("t.csv", "a,b\n5,v\n")
	if got, err := ask(); err != nil || got != "5|v" {
		t.Errorf("there again: %q, %v, want 5|v", got, err)
	}
}

// A change while rows are read does not reach them, neither those of the table itself nor those
// that DuckDB makes, of geometries that it reads where they are.
func TestChangeDuringQuery(t *testing.T) {
	const plain, made = "SELECT i, geometry FROM grid", "SELECT i, geometry FROM grid WHERE i >= 0"
	for _, c := range []struct {
		name, query string
		change      []func(*catalog.Config, *Config)
	}{
		{"in memory", plain, nil},
		{"in files", plain, []func(*catalog.Config, *Config){cached(t)}},
		{"in memory, by DuckDB", made, nil},
		{"in files, by DuckDB", made, []func(*catalog.Config, *Config){cached(t)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"grid.csv": grid(60_000)},
				append(c.change, func(c *catalog.Config, _ *Config) {
					c.Limits.BatchRows = 4096
				})...)
			w.want("SELECT count(*) FROM grid", "60000")
			s, err := w.engine.Prepare(t.Context(), c.query, "")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			rows, err := s.Query(t.Context(), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			w.write("grid.csv", grid(10))
			w.want("SELECT count(*) FROM grid", "10")
			if _, err := w.catalog.Evict(t.Context(), "grid.csv"); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			got, err := drain(t.Context(), rows)
			rows.Close()
			if err != nil || len(got) != 60_000 {
				t.Errorf("%d rows, %v, want 60000", len(got), err)
			}
			slices.Sort(got)
			if got = slices.Compact(got); len(got) != 60_000 {
				t.Errorf("%d different rows, want 60000", len(got))
			}
		})
	}
}

func TestErrors(t *testing.T) {
	w := newWorld(t, map[string]string{
		"broken.geojson": `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":["x",2]}}]}`,
		"t.csv":          "a\n1\n",
	})
	var parse *readers.ParseError
	if _, err := w.ask("SELECT * FROM broken"); !errors.As(err, &parse) || parse.Offset != 116 {
		t.Errorf("broken: %v, want a *readers.ParseError at byte 116", err)
	}
	if _, err := w.engine.TableSchema(t.Context(), Table{
		MainSchema, "broken.geojson",
		"broken.geojson",
	}); !errors.As(err, &parse) {
		t.Errorf("schema of broken: %v, want a *readers.ParseError", err)
	}
	for _, c := range []struct {
		query string
		kind  duck.Kind
	}{
		{"SELEC 1", duck.Syntax},
		{"SELECT nope FROM t", duck.Name},
		{"SELECT nope(a) FROM t", duck.Name},
		{"SELECT CAST('x' || a AS INT) FROM t", duck.Value},
		{"CREATE TABLE x(i INT)", duck.Denied},
		{"SELECT 1; SELECT 2", duck.Denied},
		{"SELECT * FROM read_csv('/etc/passwd')", duck.Denied},
	} {
		var wrong *Error
		if _, err := w.ask(c.query); !errors.As(err, &wrong) || wrong.Kind != c.kind {
			t.Errorf("%s: %#v, want kind %v", c.query, err, c.kind)
		}
	}
}

func TestCancelledQuery(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(5000)})
	s, err := w.engine.Prepare(t.Context(), "SELECT count(*) FROM grid a, grid b, grid c WHERE a.x + b.x > c.x", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := runAll(ctx, s)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	w.want("SELECT 1", "1")
}

func TestCloseWithQueriesUnderWay(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(5000)})
	const query = "SELECT a.x FROM grid a, grid b, grid c WHERE a.x + b.x > c.x"
	s, err := w.engine.Prepare(t.Context(), query, "")
	if err != nil {
		t.Fatal(err)
	}
	begun, done := make(chan bool), make(chan error)
	go func() {
		rows, err := s.Query(context.Background(), nil, 0)
		close(begun)
		if err != nil {
			done <- err
			return
		}
		defer rows.Close()
		for {
			rec, err := rows.Next(context.Background())
			if err != nil {
				done <- err
				return
			}
			rec.Release()
		}
	}()
	<-begun
	closed := make(chan error)
	go func() { closed <- w.engine.Close() }()
	if err := <-done; !errors.Is(err, ErrClosed) || errors.Is(err, io.EOF) {
		t.Errorf("the query: %v, want ErrClosed", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := w.ask("SELECT 1"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
	if _, err := s.Query(t.Context(), nil, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("Query after Close: %v, want ErrClosed", err)
	}
	s.Close()
}
