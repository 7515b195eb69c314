package readertest

import (
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// Kernels returns the primitives on the device of this test run (package gputest).
func Kernels(t testing.TB) *kernels.Set {
	t.Helper()
	k, err := kernels.Load(gputest.OpenWith(t, gpu.Options{CacheDir: gputest.CacheDir(), Images: kernels.CompiledIn()}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Device returns the GPU engine of a format with chunks of n bytes, two in flight at a time, on the
// device of this test run. Buffers come from the device, which checks the bounds of each. A fault
// fails the test.
func Device(t testing.TB, f readers.Format, chunkBytes int64) readers.Engine {
	t.Helper()
	return DeviceOn(t, f, slots.Config{Plan: slots.Plan{ChunkBytes: chunkBytes, Slots: 2, Work: 2}}, Kernels(t))
}

// DeviceOn returns the GPU engine of a format on devices, until the test ends. Without cfg.Fault,
// faults fail the test.
func DeviceOn(t testing.TB, f readers.Format, cfg slots.Config, devices ...*kernels.Set) readers.Engine {
	t.Helper()
	if cfg.Fault == nil {
		cfg.Fault = func(device string, err error) { t.Errorf("%s: %v", device, err) }
	}
	pool, err := slots.Open(devices, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return f.GPU(pool)
}

// OnDevice returns a GPU engine as a variant of the CPU engine.
func OnDevice(e readers.Engine) Variant {
	return Variant{Name: "device", Parser: func(l readers.Layout, _ int) readers.Parser { return e.Parser(l) }}
}

// BytesBack returns a function that measures how many bytes the GPU engine of a format copies back
// from the emulation for some columns of an input; nil: all.
func BytesBack(t testing.TB, f readers.Format, in Input) func(columns []string) int64 {
	t.Helper()
	var toHost atomic.Int64
	k, err := kernels.Load(gputest.OpenCounted(t, gpu.Options{CacheDir: gputest.CacheDir()}, &toHost))
	if err != nil {
		t.Fatal(err)
	}
	e := DeviceOn(t, f, slots.Config{Plan: slots.Plan{ChunkBytes: 16 << 10, Slots: 2, Work: 2}}, k)
	return func(columns []string) int64 {
		in.Parser = func(l readers.Layout) readers.Parser {
			l.Columns = readers.Project(columns)
			return e.Parser(l)
		}
		before := toHost.Load()
		if _, err := Parse(t, f, in); err != nil {
			t.Fatal(err)
		}
		if c := e.Counts(); c.Chunks == 0 || c.Refused > 0 {
			t.Fatalf("%+v", c)
		}
		return toHost.Load() - before
	}
}
