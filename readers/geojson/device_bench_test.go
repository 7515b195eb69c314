package geojson_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchmarkDevice reads the file that VIBEFLIGHT_BENCH_FILE names on a device, with chunks of
// several sizes and several of them on their way. The memory of a table serves the next one.
func BenchmarkDevice(b *testing.B) {
	name := os.Getenv("VIBEFLIGHT_BENCH_FILE")
	if name == "" {
		b.Skip("VIBEFLIGHT_BENCH_FILE names no file")
	}
	k := readertest.Kernels(b)
	for _, p := range []struct {
		mib         int64
		slots, work int
	}{{32, 8, 3}, {32, 8, 1}, {32, 8, 5}, {16, 12, 4}, {64, 6, 3}} {
		b.Run(fmt.Sprintf("%dMiB/%dSlots/%dWork", p.mib, p.slots, p.work), func(b *testing.B) {
			d := readertest.NewDeviceOn(b, geojson.Format(),
				slots.Config{Plan: slots.Plan{
					ChunkBytes: p.mib << 20, Slots: p.slots, Work: p.work,
					ArenaBytes: 7 * p.mib << 20,
				}}, k)
			readOnDevice(b, d, name)
			for b.Loop() {
				b.StopTimer()
				runtime.GC()
				b.StartTimer()
				readOnDevice(b, d, name)
			}
			c := d.Counts()
			b.ReportMetric(float64(c.Chunks), "chunks")
			b.ReportMetric(float64(c.Refused), "refused")
			if c.Refused > 0 {
				b.Log(c.Reason)
			}
		})
	}
}

func readOnDevice(b *testing.B, d *readertest.Device, name string) {
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
