package csv_test

import (
	"context"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// BenchmarkPeers reads the files of the comparison with other readers, with one worker.
func BenchmarkPeers(b *testing.B) {
	f := csv.Format()
	for _, name := range []string{"points.csv", "wkt.csv"} {
		b.Run(name, func(b *testing.B) {
			src := readertest.BenchFile(b, name)
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
				req := readers.Request{Span: readers.Span{To: -1}, Limits: readers.Limits{Workers: 1}}
				if _, err := f.CPU(layout).Parse(context.Background(), src, req, func(readers.Chunk) error {
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
