package osmpbf_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers/osmpbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// some are the sizes of variants: 1 to 4 workers, in memory and on the disk.
var some = []int{1, 2, 3, 4, 5, 6, 7, 8}

// TestLayers reads every layer of a file with an object of every kind.
func TestLayers(t *testing.T) {
	for _, layer := range osmpbf.Layers {
		t.Run(layer, func(t *testing.T) {
			in := readertest.Input{Name: "a.pbf", Text: square(), Layer: layer}
			table, err := readertest.Check(t, osmpbf.Format(), in)
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, filepath.Join("testdata", layer+".layer"), readertest.Rows(table))
			readertest.Same(t, osmpbf.Format(), in, some, parallel)
			in.Limits.BatchRows = 1
			again, err := readertest.Check(t, osmpbf.Format(), in)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := readertest.Rows(again), readertest.Rows(table); got != want {
				t.Errorf("batches of one row\ngot:\n%s\nwant:\n%s", got, want)
			}
			readertest.Same(t, osmpbf.Format(), in, some, parallel)
			readertest.Projected(t, osmpbf.Format(), in, readertest.Some(1), parallel)
		})
	}
}

// checkGolden compares a text with a file, or writes it under -update.
func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if updating() {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
