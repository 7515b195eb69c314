package gpkg_test

import (
	"os"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gpkg"
	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchmarkParse reads the file that GPKG_FILE names, with GOMAXPROCS workers.
func BenchmarkParse(b *testing.B) {
	path := os.Getenv("GPKG_FILE")
	if path == "" {
		path = "testdata/deep.gpkg"
	}
	src, err := source.Open("a.gpkg", path)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	f := gpkg.Format()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(src.Size)
	for b.Loop() {
		l, err := f.Open(b.Context(), src, opts)
		if err != nil {
			b.Fatal(err)
		}
		_, err = f.CPU(l).Parse(b.Context(), src, readers.Request{Span: readers.Span{To: -1}},
			func(readers.Chunk) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
}
