package parquet_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/parquet"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// BenchmarkRead reads the file that VIBEFLIGHT_BENCH_FILE names.
func BenchmarkRead(b *testing.B) {
	src := readertest.BenchFile(b, "b.parquet")
	f := parquet.Format()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(src.Size)
	for b.Loop() {
		layout, err := f.Open(b.Context(), src, opts)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := readers.Read(b.Context(), f, f.CPU(layout), src, readers.Limits{}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
