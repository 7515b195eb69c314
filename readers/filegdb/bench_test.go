package filegdb_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/filegdb"
	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchmarkFolder reads the first layer of each geodatabase in .bench, with one worker.
func BenchmarkFolder(b *testing.B) {
	folders, _ := filepath.Glob("../../.bench/*.gdb")
	if dir := os.Getenv("VIBEFLIGHT_BENCH_GDB"); dir != "" {
		folders = []string{dir}
	}
	if len(folders) == 0 {
		b.Skip("no .gdb in .bench")
	}
	f := filegdb.Format()
	for _, folder := range folders {
		b.Run(filepath.Base(folder), func(b *testing.B) {
			src, err := source.OpenBundle(folder, folder, f.Bundle)
			if err != nil {
				b.Fatal(err)
			}
			defer src.Close()
			b.SetBytes(src.AllBytes())
			for b.Loop() {
				opts, _ := f.ParseOptions(nil)
				layout, err := f.Open(context.Background(), src, opts)
				if err != nil {
					b.Fatal(err)
				}
				table, err := readers.Read(context.Background(), f, f.CPU(layout), src, readers.Limits{Workers: 1}, nil)
				if err != nil || table.Rows == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
