package gputest

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// OpenCounted gives the emulation as a device, until the test ends, and counts the bytes that come
// back from it.
func OpenCounted(t testing.TB, o gpu.Options, toHost *atomic.Int64) *gpu.Device {
	t.Helper()
	drv, c := emulation(t)
	d := gpu.New(&countingDriver{Driver: drv, toHost: toHost, fetches: map[driver.Function]bool{}}, c, o)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// countingDriver is a driver that counts.
type countingDriver struct {
	driver.Driver
	toHost *atomic.Int64

	mu sync.Mutex
	// kernels that store to the host: from, to and bytes of each piece are the words of their struct
	fetches map[driver.Function]bool
}

func (d *countingDriver) ToHost(s driver.Stream, dst unsafe.Pointer, src driver.Ptr, bytes int64) error {
	d.toHost.Add(bytes)
	return d.Driver.ToHost(s, dst, src, bytes)
}

func (d *countingDriver) Function(m driver.Module, name string) (driver.Function, error) {
	f, err := d.Driver.Function(m, name)
	if err == nil && name == "fetch" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.fetches[f] = true
	}
	return f, err
}

func (d *countingDriver) Launch(s driver.Stream, f driver.Function, dim driver.Dim, args driver.Args) error {
	d.mu.Lock()
	fetches := d.fetches[f]
	d.mu.Unlock()
	for i := 2; fetches && i < len(args.Words); i += 3 {
		d.toHost.Add(int64(args.Words[i]))
	}
	return d.Driver.Launch(s, f, dim, args)
}
