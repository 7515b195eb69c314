package parquet_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/parquet"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// workers returns the engine with several workers.
func workers() readertest.Variant {
	return readertest.Variant{Name: "workers", Parser: func(l readers.Layout, size int) readers.Parser {
		return readertest.Limited(parquet.Format().CPU(l), 1+size%4, 0)
	}}
}

func TestFiles(t *testing.T) { readertest.Run(t, parquet.Format()) }

// TestRows has errors of rows, which are not reported if their columns are not requested.
func TestRows(t *testing.T) {
	for _, c := range []struct{ name, column, want string }{
		{"text", "s", "a.parquet: parquet: byte 4, row 0, s: a string that is not UTF-8"},
		{"wkb", "geometry", "a.parquet: parquet: byte 4, row 0, geometry: wkb: byte 5: the geometry ends within its " +
			"positions; on_error: null reads the rest"},
	} {
		text, err := os.ReadFile("testdata/rows/" + c.name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		in := readertest.Input{Name: "a.parquet", Text: text}
		if _, err := readertest.Check(t, parquet.Format(), in); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		for column, wrong := range map[string]bool{c.column: true, "other": false} {
			in.Parser = func(l readers.Layout) readers.Parser {
				l.Columns = readers.Project([]string{column})
				return parquet.Format().CPU(l)
			}
			if _, err := readertest.Check(t, parquet.Format(), in); (err != nil) != wrong {
				t.Errorf("%s, column %s: got %v", c.name, column, err)
			}
		}
	}
}

// TestNullRows has a geometry that is null under on_error: null, and no deviation unless a caller
// requests for it.
func TestNullRows(t *testing.T) {
	text, err := os.ReadFile("testdata/rows/wkb.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"null", "repair"} {
		table, err := readertest.Check(t, parquet.Format(), readertest.Input{
			Name: "a.parquet", Text: text,
			Options: map[string]any{"on_error": mode},
		})
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		want := readers.Deviation{Offset: 4, Field: "geometry", Rule: "bad-geometry", Done: "geometry is null"}
		if d := table.Summary.Deviations; d.Count != 1 || d.First[0] != want || table.Rows != 1 {
			t.Errorf("%s: got %d rows, %+v, want %+v", mode, table.Rows, d, want)
		}
	}
}

// TestWorkers reads the files with several workers, other batches than they have, and as if their
// row groups were large.
func TestWorkers(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if _, ok := (readers.Registry{parquet.Format()}).ByExtension(path); !ok {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{0, 1, 2, 7} {
			in := readertest.Input{Name: filepath.Base(path), Text: text, Limits: readers.Limits{BatchRows: rows}}
			readertest.Same(t, parquet.Format(), in, []int{0, 1, 2, 3}, workers(), parquet.Streamed())
		}
	}
}

func FuzzRead(f *testing.F) { readertest.Fuzz(f, parquet.Format(), workers(), parquet.Streamed()) }

func TestFlips(t *testing.T) {
	step := 3
	if testing.Short() {
		step = 101
	}
	readertest.Flips(t, parquet.Format(), step)
}
