//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// world is a folder of files, a catalog over it, and an engine over that.
type world struct {
	t       testing.TB
	dir     string
	catalog *catalog.Catalog
	engine  *Engine
}

// spatialDir is where make puts the spatial extension, or "" where it did not.
func spatialDir() string {
	dir := filepath.Join("..", "..", "..", ".duckdb")
	if FindSpatial(dir) == "" {
		return ""
	}
	return dir
}

func newWorld(t testing.TB, files map[string]string, change ...func(*catalog.Config, *Config)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	for name, content := range files {
		w.write(name, content)
	}
	cc := catalog.Config{
		Roots: []catalog.Root{{Dir: w.dir}}, Formats: all.Formats(), Log: zerolog.Nop(), Rescan: 50 * time.Millisecond,
		Limits: readers.Limits{BatchRows: 16, Workers: 2},
	}
	cfg := Config{Threads: 2, Log: zerolog.Nop()}
	if n, err := strconv.Atoi(os.Getenv("VIBEFLIGHT_TEST_WORKERS")); err == nil { // all tests, with workers
		withWorkers(n)(&cc, &cfg)
	}
	for _, f := range change {
		f(&cc, &cfg)
	}
	var err error
	if w.catalog, err = catalog.Open(context.Background(), cc); err != nil {
		t.Fatal(err)
	}
	cfg.Catalog = w.catalog
	if w.engine, err = Open(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.engine.Close(); err != nil {
			t.Error(err)
		}
		if err := w.catalog.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// cached has the catalog keep tables in files.
func cached(t testing.TB) func(*catalog.Config, *Config) {
	dir := t.TempDir()
	return func(c *catalog.Config, _ *Config) { c.CacheDir = dir }
}

// ask returns the rows of a query's answer as text, cells joined by '|'.
func (w *world) ask(query string, args ...any) ([]string, error) {
	return w.askIn("", query, args...)
}

func (w *world) askIn(schema, query string, args ...any) ([]string, error) {
	ctx := context.Background()
	s, err := w.engine.Prepare(ctx, query, schema)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return runAll(ctx, s, args...)
}

// askWhole runs a query without skipping any batch.
func (w *world) askWhole(query string, args ...any) ([]string, error) {
	w.engine.readAll = true
	defer func() { w.engine.readAll = false }()
	// what others prepared, and what is prepared here
	forget := func() { closeAll(w.engine.idle.remove(func(*preparedStatement) bool { return true })) }
	forget()
	defer forget()
	return w.ask(query, args...)
}

// want runs a query and compares its ordered rows.
func (w *world) want(query string, want ...string) {
	w.t.Helper()
	got, err := w.ask(query)
	if err != nil {
		w.t.Errorf("%s: %v", query, err)
		return
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.t.Errorf("%s:\ngot  %q\nwant %q", query, got, want)
	}
}

func runAll(ctx context.Context, s *Statement, args ...any) ([]string, error) {
	rows, err := s.Query(ctx, record(args...), 0)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return drain(ctx, rows)
}

func drain(ctx context.Context, rows *Rows) ([]string, error) {
	var out []string
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		for i := range int(rec.NumRows()) {
			cells := make([]string, rec.NumCols())
			for k, c := range rec.Columns() {
				cells[k] = cell(rec.Schema().Field(k), c, i)
			}
			out = append(out, strings.Join(cells, "|"))
		}
		rec.Release()
	}
}

func cell(f arrow.Field, c arrow.Array, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	if name, _ := f.Metadata.GetValue("ARROW:extension:name"); name == "geoarrow.wkb" {
		text, err := geoarrow.WKBToWKT(nil, c.(*array.Binary).Value(i))
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	return c.ValueStr(i)
}

// record is one row of arguments; nil where there are none.
func record(args ...any) arrow.Record {
	if len(args) == 0 {
		return nil
	}
	fields := make([]arrow.Field, len(args))
	columns := make([]arrow.Array, len(args))
	for i, a := range args {
		b := array.NewBuilder(memory.DefaultAllocator, typeOf(a))
		switch v := a.(type) {
		case int:
			b.(*array.Int64Builder).Append(int64(v))
		case float64:
			b.(*array.Float64Builder).Append(v)
		case string:
			b.(*array.StringBuilder).Append(v)
		case []byte:
			b.(*array.BinaryBuilder).Append(v)
		case arrow.Date32:
			b.(*array.Date32Builder).Append(v)
		case nil:
			b.AppendNull()
		}
		columns[i] = b.NewArray()
		fields[i] = arrow.Field{Name: fmt.Sprint(i + 1), Type: columns[i].DataType(), Nullable: true}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, 1)
}

func typeOf(a any) arrow.DataType {
	switch a.(type) {
	case int:
		return arrow.PrimitiveTypes.Int64
	case float64:
		return arrow.PrimitiveTypes.Float64
	case string:
		return arrow.BinaryTypes.String
	case []byte:
		return arrow.BinaryTypes.Binary
	case arrow.Date32:
		return arrow.FixedWidthTypes.Date32
	}
	return arrow.Null
}
