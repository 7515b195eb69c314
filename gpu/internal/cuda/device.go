//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

/*
#cgo CFLAGS: -O2 -Wall -Wno-deprecated-declarations
#include "calls.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/vibeflight/vibeflight/gpu/internal/cuda/loader"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// minCapability is the oldest compute capability that kernels are written for, 10 times major plus
// minor.
const minCapability = 80

// device is an open device.
type device struct {
	info    driver.Info
	ordinal cu.Device
	context cu.CUContext
	pool    uintptr // of stream-ordered memory, 0: the device has none
	pinned  ranges
	kernels kernels
	closed  atomic.Bool
}

// Count reports how many devices the driver has. If it has none, the error wraps
// driver.ErrNoDevice and says why.
func Count() (int, error) {
	if err := loader.Open(); err != nil {
		var refused loader.InitError
		if errors.As(err, &refused) {
			err = failed(C.int(refused), "cuInit", nil)
		}
		return 0, noDevice(err)
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0, noDevice(wrapped(err, "cuDeviceGetCount", nil))
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: the driver finds no GPU", driver.ErrNoDevice)
	}
	return n, nil
}

// Open opens a device, ordinal counted from 0 in the driver's order. The error wraps
// driver.ErrNoDevice and says why there is none to use. Several open devices of one ordinal share
// the device's context and its memory pool.
func Open(ordinal int) (driver.Driver, error) {
	n, err := Count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, fmt.Errorf("%w: GPU %d is requested, the driver has %d", driver.ErrNoDevice, ordinal, n)
	}
	d := &device{}
	if d.ordinal, err = cu.GetDevice(ordinal); err != nil {
		return nil, noDevice(wrapped(err, "cuDeviceGet", nil))
	}
	capability, err := d.describe(ordinal)
	if err != nil {
		return nil, noDevice(err)
	}
	if capability < minCapability {
		return nil, fmt.Errorf("%w: %s has compute capability %d.%d, 8.0 is the least",
			driver.ErrNoDevice, d.info.Name, capability/10, capability%10)
	}
	// A caller that waits for the device lets others have the processor: those who read files and
	// copy columns. A driver that does not know the flag waits as it sees fit.
	_ = d.ordinal.SetPrimaryCtxFlags(cu.SchedYield)
	if d.context, err = d.ordinal.RetainPrimaryCtx(); err != nil {
		return nil, noDevice(wrapped(err, "cuDevicePrimaryCtxRetain", func() string { return d.info.Name }))
	}
	var pool C.uintptr_t
	if err := failed(C.vf_pool(C.int(d.ordinal), &pool), "cuDeviceGetDefaultMemPool", nil); err != nil {
		return nil, errors.Join(noDevice(err), d.Close())
	}
	d.pool = uintptr(pool)
	return d, nil
}

func noDevice(reason error) error { return fmt.Errorf("%w: %w", driver.ErrNoDevice, reason) }

// describe fills info, without a context, and gives the compute capability, 10 times major plus
// minor.
func (d *device) describe(ordinal int) (capability int, err error) {
	d.info.Ordinal = ordinal
	if d.info.Name, err = d.ordinal.Name(); err != nil {
		return 0, wrapped(err, "cuDeviceGetName", nil)
	}
	if d.info.MemoryBytes, err = d.ordinal.TotalMem(); err != nil {
		return 0, wrapped(err, "cuDeviceTotalMem", nil)
	}
	var major, minor, l2 int
	for _, a := range []struct {
		attribute cu.DeviceAttribute
		value     *int
	}{
		{cu.ComputeCapabilityMajor, &major},
		{cu.ComputeCapabilityMinor, &minor},
		{cu.MultiprocessorCount, &d.info.Multiprocessors},
		{cu.L2CacheSize, &l2},
		{C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &d.info.SharedBytes},
	} {
		if *a.value, err = d.ordinal.Attribute(a.attribute); err != nil {
			return 0, wrapped(err, "cuDeviceGetAttribute", func() string {
				return fmt.Sprintf("attribute %d", a.attribute)
			})
		}
	}
	d.info.L2Bytes = int64(l2)
	d.info.Arch = fmt.Sprintf("sm_%d%d", major, minor)
	if v := cu.Version(); v > 0 {
		d.info.Driver = fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
	}
	var pci [32]C.char
	if C.vf_pci(C.int(d.ordinal), &pci[0], C.int(len(pci))) == C.CUDA_SUCCESS {
		d.info.PCI = C.GoString(&pci[0])
	}
	var uuid [16]C.uchar
	if C.vf_uuid(C.int(d.ordinal), &uuid[0]) == C.CUDA_SUCCESS {
		d.info.UUID = uuidText(uuid)
	}
	return 10*major + minor, nil
}

// Info describes the device.
func (d *device) Info() driver.Info { return d.info }

// Close trims the pool and lets the context go. A second call does nothing.
func (d *device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	return errors.Join(d.Trim(), wrapped(d.ordinal.ReleasePrimaryCtx(), "cuDevicePrimaryCtxRelease", nil))
}

// ctx is the context's handle, for calls.c.
func (d *device) ctx() C.uintptr_t { return *(*C.uintptr_t)(unsafe.Pointer(&d.context)) }

// within makes the context current on this thread for calls through gorgonia.org/cu.
func (d *device) within(call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return wrapped(err, "cuCtxSetCurrent", nil)
	}
	return call()
}

// ranges is a set of address ranges that do not overlap.
type ranges struct {
	mu   sync.RWMutex
	ends map[uintptr]uintptr // of each start
}

func (r *ranges) add(start, bytes uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends == nil {
		r.ends = map[uintptr]uintptr{}
	}
	r.ends[start] = start + bytes
}

func (r *ranges) remove(start uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ends, start)
}

// hold reports whether one of the ranges has all of [start, start+bytes).
func (r *ranges) hold(start, bytes uintptr) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if end, ok := r.ends[start]; ok {
		return bytes <= end-start
	}
	for s, e := range r.ends { // a ring or two, so a handful
		if s <= start && start < e {
			return bytes <= e-start
		}
	}
	return false
}
