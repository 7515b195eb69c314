package gputest

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// OpenCounted gives the emulation as a device, until the test ends, and counts the bytes that come back from it.
func OpenCounted(t testing.TB, o gpu.Options, toHost *atomic.Int64) *gpu.Device {
	t.Helper()
	drv, c := emulation(t)
	d := gpu.New(&counted{Driver: drv, toHost: toHost}, c, o)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// counted is a driver that counts.
type counted struct {
	driver.Driver
	toHost *atomic.Int64
}

func (d *counted) ToHost(s driver.Stream, dst unsafe.Pointer, src driver.Ptr, bytes int64) error {
	d.toHost.Add(bytes)
	return d.Driver.ToHost(s, dst, src, bytes)
}
