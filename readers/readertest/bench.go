package readertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchFile opens one of the files that `make bench` writes, for a benchmark of a package two
// folders below the root; without them it skips. It is closed when the benchmark ends.
func BenchFile(b *testing.B, name string) *source.File {
	b.Helper()
	path := filepath.Join("..", "..", ".bench", name)
	if _, err := os.Stat(path); err != nil {
		b.Skipf("%v: make bench writes it", err)
	}
	src, err := source.Open(name, path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = src.Close() })
	return src
}
