package kernels_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// benchmark is one primitive: prepare gives what queues it once, the bytes that it cannot but read
// and write, and what the rate counts.
type benchmark struct {
	name    string
	prepare func(r *kerneltest.Rig, c *corpus) measurement
}

// measurement is a prepared benchmark.
type measurement struct {
	launch func() error
	moved  int64 // bytes that it cannot but read and write
	items  int64 // what the rate counts; 0: bytes of the corpus' text
}

// BenchmarkPrimitives measures each primitive on a device with the device's own clock: GB/s of text
// (or items a second), GB/s of the bytes that it cannot but move, and that as a share of what a
// copy on the device moves. VIBEFLIGHT_BENCH_FILE names the text; without it there are 256 MiB of a
// small FeatureCollection over and over.
func BenchmarkPrimitives(b *testing.B) {
	r := kerneltest.Open(b)
	if r.Set.Device().Info().Emulated {
		b.Skip("the emulation's speed says nothing; VIBEFLIGHT_GPU=require runs on a GPU")
	}
	c := benchCorpus(r)
	var copied float64 // GB/s of the first one, the copy
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			inner := &kerneltest.Rig{TB: b, Set: r.Set, Stream: r.Stream}
			m := bench.prepare(inner, c)
			seconds := median(inner, m.launch)
			items, unit := m.items, "G/s"
			if items == 0 {
				items, unit = int64(c.text.Len()), "GB/s-text"
			}
			rate := float64(m.moved) / seconds / 1e9
			if copied == 0 {
				copied = rate
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(seconds*1e3, "ms")
			b.ReportMetric(float64(items)/seconds/1e9, unit)
			b.ReportMetric(rate, "GB/s-moved")
			b.ReportMetric(100*rate/copied, "%copy")
		})
	}
}

// benchCorpus uploads the text.
func benchCorpus(r *kerneltest.Rig) *corpus {
	r.Helper()
	host := bytes.Repeat([]byte(`{"type":"Feature","properties":{"id":1,"h":12.5,"name":"a \"b\" c"},"geometry":{"type":"Polygon","coordinates":[[[-81.12345678,27.1234567],[-81.1,27.2],[-81.12345678,27.1234567]]]}},`+"\n"), 1<<28/190)
	if name := os.Getenv("VIBEFLIGHT_BENCH_FILE"); name != "" {
		var err error
		host, err = os.ReadFile(name)
		r.OK(err)
	}
	return &corpus{Rig: r, text: kerneltest.Upload(r, host)}
}

// median is the time of launch on the device in seconds, of 11 runs after 2 to warm up.
func median(r *kerneltest.Rig, launch func() error) float64 {
	r.Helper()
	const warm, runs = 2, 11
	var events [2]*gpu.Event
	for i := range events {
		var err error
		events[i], err = r.Set.Device().NewEvent()
		r.OK(err)
		defer func() { r.OK(events[i].Close()) }()
	}
	var times []float64
	for i := range warm + runs {
		r.OK(r.Stream.Record(events[0]))
		r.OK(launch())
		r.OK(r.Stream.Record(events[1]))
		r.OK(events[1].Await())
		d, err := events[1].Since(events[0])
		r.OK(err)
		if i >= warm {
			times = append(times, d.Seconds())
		}
	}
	slices.Sort(times)
	if t := times[len(times)/2]; t > 0 {
		return t
	}
	return math.SmallestNonzeroFloat64
}

// BenchmarkStart measures how long it takes until every kernel is loaded: with an empty cache, and
// with what that left.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	for _, name := range []string{"cold", "warm"} {
		b.Run(name, func(b *testing.B) {
			d := gputest.OpenWith(b, gpu.Options{CacheDir: dir})
			k, err := kernels.Load(d)
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			if err := k.Warm(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(time.Since(start).Microseconds())/1e3, "ms")
			b.ReportMetric(float64(len(k.Names())), "kernels")
		})
	}
}

// TestEveryKernelLoads counts the kernels, so that the log of a run says how many there were, and
// loads each of them.
func TestEveryKernelLoads(t *testing.T) {
	r := kerneltest.Open(t)
	r.OK(r.Set.Warm())
	t.Logf("%d kernels on %s: %s", len(r.Set.Names()), r.Set.Device().Info().Name, fmt.Sprint(r.Set.Names()))
}
