package filegdb_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers/filegdb"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// windows is the CPU engine with windows of any size.
var windows = readertest.Variant{Name: "windows", Parser: filegdb.Windowed}

// parallel is the CPU engine with 1 to 4 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: filegdb.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, filegdb.Format()) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, filegdb.Format(), windows, parallel) }

// goldens returns the geodatabases of testdata.
func goldens(t *testing.T) (all []readertest.Input) {
	t.Helper()
	folders, err := filepath.Glob("testdata/*.gdb")
	if err != nil || len(folders) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, folder := range folders {
		in := readertest.Input{Name: filepath.Base(folder), Members: map[string][]byte{}}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if in.Members[e.Name()] = text; e.Name() == filegdb.Format().Bundle.Main {
				in.Text = text
			}
		}
		delete(in.Members, filegdb.Format().Bundle.Main)
		all = append(all, in)
	}
	return all
}

// TestWindowsAndParts reads the goldens with windows and parts of many sizes, and in small batches.
func TestWindowsAndParts(t *testing.T) {
	for _, in := range goldens(t) {
		sizes := []int{1, 2, 3, 5, 7, 11, 16, 50, 100, 333, 1000, 4000}
		readertest.Same(t, filegdb.Format(), in, sizes, windows, parallel)
		for _, rows := range []int{1, 2} {
			in.Limits.BatchRows = rows
			readertest.Same(t, filegdb.Format(), in, sizes, windows, parallel)
			readertest.Projected(t, filegdb.Format(), in, readertest.Some(uint64(rows)), windows, parallel)
		}
	}
}

// TestCutTables reads the goldens with a table that is cut at some places: each is an error with a
// place, or the table as it was.
func TestCutTables(t *testing.T) {
	for _, in := range goldens(t)[:3] {
		for name, text := range in.Members {
			whole := slices.Clone(text)
			for n := 0; n < len(whole); n += 1 + len(whole)/40 {
				in.Members[name] = whole[:n]
				_, _ = readertest.Check(t, filegdb.Format(), in)
			}
			in.Members[name] = whole
		}
	}
}
