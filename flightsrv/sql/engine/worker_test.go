//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
)

// workerEnv has the binary of the tests be a worker.
const workerEnv = "VIBEFLIGHT_TEST_WORKER=1"

func TestMain(m *testing.M) {
	if name, value, _ := strings.Cut(workerEnv, "="); os.Getenv(name) == value {
		if err := ServeWorker(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// withWorkers has DuckDB run in processes of its own.
func withWorkers(n int) func(*catalog.Config, *Config) {
	return func(_ *catalog.Config, cfg *Config) {
		cfg.Workers, cfg.Command, cfg.Env = n, []string{"/proc/self/exe"}, []string{workerEnv}
		if exe, err := os.Executable(); err == nil {
			cfg.Command[0] = exe
		}
	}
}

const twoPoints = `{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"name":"a","n":1},"geometry":{"type":"Point","coordinates":[1,2]}},
{"type":"Feature","properties":{"name":"b","n":2},"geometry":{"type":"Point","coordinates":[3,4]}}]}`

// one runs a query that gives one text.
func one(t *testing.T, e *Engine, query string) (string, error) {
	t.Helper()
	s, err := e.Prepare(t.Context(), query, "")
	if err != nil {
		return "", err
	}
	defer s.Close()
	rows, err := s.Query(t.Context(), nil, 0)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	rec, err := rows.Next(t.Context())
	if err != nil {
		return "", err
	}
	defer rec.Release()
	text := strings.Clone(rec.Column(0).(*array.String).Value(0))
	if _, err := rows.Next(t.Context()); !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("after the row: %w", err)
	}
	return text, nil
}

func TestWorkerReadsTables(t *testing.T) {
	w := newWorld(t, map[string]string{"p.geojson": twoPoints}, withWorkers(2))
	for range 3 {
		got, err := one(t, w.engine, "SELECT string_agg(name || n, ',' ORDER BY n DESC) FROM p WHERE n > 0")
		if err != nil || got != "b2,a1" {
			t.Fatal(got, err)
		}
	}
}

// TestWorkerCrash has a statement end DuckDB's process by a stack overflow. Rows of another one
// that are open go on, and the next statements have other workers.
func TestWorkerCrash(t *testing.T) {
	w := newWorld(t, map[string]string{"p.geojson": twoPoints}, withWorkers(3))
	s, err := w.engine.Prepare(t.Context(), "SELECT i::VARCHAR FROM range(300000) r(i)", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.Query(t.Context(), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	_, err = one(t, w.engine, "SELECT json_structure(repeat('[', 2000000) || repeat(']', 2000000))::VARCHAR")
	var wrong *Error
	if !errors.As(err, &wrong) {
		t.Fatalf("want an error of the statement: %v", err)
	}
	var n int64
	for {
		rec, err := rows.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n += rec.NumRows()
		rec.Release()
	}
	if n != 300000 {
		t.Errorf("%d rows", n)
	}
	if got, err := one(t, w.engine, "SELECT name FROM p WHERE n = 1"); err != nil || got != "a" {
		t.Error(got, err)
	}
}

// TestWorkerDeadline has a statement that ignores DuckDB's interrupt: it ends with its context.
func TestWorkerDeadline(t *testing.T) {
	w := newWorld(t, nil, withWorkers(2))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	s, err := w.engine.Prepare(ctx, "SELECT levenshtein(repeat('ab', 200000), repeat('ba', 200000))::VARCHAR", "")
	if err == nil {
		defer s.Close()
		_, err = s.Query(ctx, nil, 0)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if got, err := one(t, w.engine, "SELECT 'still there'"); err != nil || got != "still there" {
		t.Error(got, err)
	}
}

// TestWorkerMemory has a statement take memory that DuckDB does not count.
func TestWorkerMemory(t *testing.T) {
	w := newWorld(t, nil, withWorkers(2), func(_ *catalog.Config, cfg *Config) { cfg.MemoryBytes = 256 << 20 })
	_, err := one(t, w.engine, "SELECT len(list_sort(range(1000000000)))::VARCHAR")
	var wrong *Error
	if !errors.As(err, &wrong) {
		t.Fatalf("want an error of the statement: %v", err)
	}
	t.Log(err)
	if got, err := one(t, w.engine, "SELECT 'still there'"); err != nil || got != "still there" {
		t.Error(got, err)
	}
}

// TestWorkerSpatial has a confined worker load the spatial extension.
func TestWorkerSpatial(t *testing.T) {
	dir := spatialDir()
	if dir == "" {
		t.Skip("no spatial extension: make spatial fetches it")
	}
	w := newWorld(t, map[string]string{"p.geojson": twoPoints}, withWorkers(2), func(_ *catalog.Config, cfg *Config) {
		cfg.Extensions = dir
		cfg.Log = zerolog.New(zerolog.NewTestWriter(t))
	})
	if !w.engine.Info().Spatial {
		t.Fatal("a worker does not load the spatial extension")
	}
	if got, err := one(t, w.engine, "SELECT ST_AsText(ST_Transform(geometry, 'EPSG:4326', 'EPSG:3857')) FROM p "+
		"WHERE n = 1"); err != nil || !strings.HasPrefix(got, "POINT (111319.49") {
		t.Error(got, err)
	}
}
