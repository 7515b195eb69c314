package csv_test

import (
	"context"
	"os"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchmarkPeers reads the files of targets.md, which shared/tools/peers/gen.py makes, with one worker.
func BenchmarkPeers(b *testing.B) {
	f := csv.Format()
	for _, name := range []string{"points.csv", "wkt.csv"} {
		b.Run(name, func(b *testing.B) {
			at := "/tmp/peers/data/" + name
			if _, err := os.Stat(at); err != nil {
				b.Skip(err)
			}
			src, err := source.Open(name, at)
			if err != nil {
				b.Fatal(err)
			}
			defer src.Close()
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
				if _, err := f.CPU(layout).Parse(context.Background(), src, req, func(readers.Chunk) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
