//go:build !nocloud

package cloud_test

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/internal/system/process"
	"github.com/vibeflight/vibeflight/readers/remote"
)

// BenchmarkReadFile reads the object of the URL in VIBEFLIGHT_BENCH_URL from its beginning to its
// end, without parsing it. integration/bench/stores.py compares it with curl.
func BenchmarkReadFile(b *testing.B) {
	url := os.Getenv("VIBEFLIGHT_BENCH_URL")
	if url == "" {
		b.Skip("VIBEFLIGHT_BENCH_URL names no object")
	}
	root, key, err := openers.OpenFile(b.Context(), url, remote.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	piece := make([]byte, 1<<20)
	cpu := cpuTime(b)
	for b.Loop() {
		f, err := root.Open(b.Context(), key, key)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(f.Size)
		f.PrefetchAll()
		for off := int64(0); off < f.Size; off += int64(len(piece)) {
			if _, err := f.ReadAt(piece, off); err != nil && !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuTime(b)-cpu).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(root.Stats().Requests)/float64(b.N), "requests/op")
}

// cpuTime returns the CPU time of this process so far.
func cpuTime(b *testing.B) time.Duration {
	used, err := process.CPUTime()
	if err != nil {
		b.Fatal(err)
	}
	return used
}
