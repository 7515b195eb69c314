package geojson_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchmarkDevice reads the file that VIBEFLIGHT_BENCH_FILE names on a card, with chunks of several sizes and several of them on their way.
func BenchmarkDevice(b *testing.B) {
	name := os.Getenv("VIBEFLIGHT_BENCH_FILE")
	if name == "" {
		b.Skip("VIBEFLIGHT_BENCH_FILE names no file")
	}
	k, err := kernels.Load(gputest.OpenWith(b, gpu.Options{CacheDir: gputest.CacheDir(), Images: kernels.CompiledIn()}))
	if err != nil {
		b.Fatal(err)
	}
	for _, mib := range []int64{16, 32, 64} {
		for _, lanes := range []int{4, 8} {
			b.Run(fmt.Sprintf("%dMiB/%d", mib, lanes), func(b *testing.B) {
				d, err := geojson.SizedDevice(k, mib<<20, lanes)
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = d.Close() }() // what was measured is measured
				for b.Loop() {
					readOnDevice(b, d, name)
				}
				accepted, refused, why := d.Chunks()
				b.ReportMetric(float64(accepted), "accepted")
				b.ReportMetric(float64(refused), "refused")
				if refused > 0 {
					b.Log(why)
				}
			})
		}
	}
}

func readOnDevice(b *testing.B, d *geojson.Device, name string) {
	b.Helper()
	src, err := source.Open(name, name)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	b.SetBytes(src.Size)
	f := geojson.Format()
	layout, err := f.Open(context.Background(), src, readers.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := readers.Read(context.Background(), f, d.Parser(layout), src, readers.Limits{}, nil); err != nil {
		b.Fatal(err)
	}
}
