package gpu

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/gpu/internal/cuda"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

var (
	// ErrNoDevice says that there is no GPU to use: no driver, no device, no such ordinal, or a
	// build without CUDA. Its text says which.
	ErrNoDevice = driver.ErrNoDevice
	// ErrMemory says that an allocation does not fit the budget, the device, or the host's
	// page-locked memory.
	ErrMemory = driver.ErrMemory
	// ErrLost says that the device is gone. Every later call on it fails; what it was doing is to
	// be done elsewhere.
	ErrLost = driver.ErrLost
)

// Info describes a device.
type Info = driver.Info

// Options of Open. The zero value opens the first device, with all of its memory and no cache of
// compiled kernels.
type Options struct {
	Ordinal     int    // which device, from 0, in the driver's order
	MemoryBytes int64  // budget for buffers; 0: what the device has
	CacheDir    string // where compiled kernels are kept from run to run; empty: nowhere
	CacheBytes  int64  // what CacheDir may take, those used longest ago go first; 0: 256 MiB
	NVRTC       string // path of NVRTC's library; empty: where the loader and CUDA's installers put it
	Images      Images // kernels compiled beforehand; nil: none
}

// A Device is one open GPU. Its methods may be called from any goroutine.
type Device struct {
	drv      driver.Driver
	budget   int64
	used     atomic.Int64 // bytes of live buffers
	peak     atomic.Int64
	programs *programs
	close    sync.Once
}

// Count reports how many devices the driver has. Without a driver it is 0, and the error wraps
// ErrNoDevice and says why.
func Count() (int, error) { return cuda.Count() }

// NVRTC names the run-time compiler that Open finds with that path ("nvrtc 12.9" and what else of
// it matters), or says why there is none.
func NVRTC(path string) (string, error) {
	c, err := cuda.NVRTC(path)
	if err != nil {
		return "", err
	}
	return c.Version(), nil
}

// Open opens a device. The error wraps ErrNoDevice where there is none.
func Open(o Options) (*Device, error) {
	drv, err := cuda.Open(o.Ordinal)
	if err != nil {
		return nil, err
	}
	// A machine without NVRTC runs what was compiled before: the reason is kept for the day
	// something else is asked for.
	compiler, missing := cuda.NVRTC(o.NVRTC)
	d := New(drv, compiler, o)
	d.programs.missing = missing
	return d, nil
}

// New makes a Device of an open driver and of a compiler for it, which may be nil. It is for the
// packages below gpu; others call Open.
func New(drv driver.Driver, compiler driver.Compiler, o Options) *Device {
	d := &Device{drv: drv, budget: o.MemoryBytes, programs: newPrograms(drv, compiler, o)}
	if total := drv.Info().MemoryBytes; d.budget <= 0 || d.budget > total {
		d.budget = total
	}
	return d
}

// Info describes the device.
func (d *Device) Info() Info { return d.drv.Info() }

// MemoryBytes reports how much of the budget live buffers take now, the most they ever took, and the
// budget.
func (d *Device) MemoryBytes() (used, peak, budget int64) {
	return d.used.Load(), d.peak.Load(), d.budget
}

// Trim gives memory that freed buffers left in the pool back to the device.
func (d *Device) Trim() error { return d.drv.Trim() }

// Close unloads the programs and gives the device back. Buffers, streams and events must have been
// closed before.
func (d *Device) Close() error {
	var err error
	d.close.Do(func() { err = errors.Join(d.programs.unload(), d.drv.Close()) })
	return err
}

// reserve takes bytes of the budget.
func (d *Device) reserve(bytes int64) error {
	used := d.used.Add(bytes)
	if used > d.budget {
		d.used.Add(-bytes)
		return fmt.Errorf("%w: %d bytes wanted, %d of a budget of %d in use", ErrMemory, bytes, used-bytes, d.budget)
	}
	for peak := d.peak.Load(); used > peak && !d.peak.CompareAndSwap(peak, used); peak = d.peak.Load() {
	}
	return nil
}
