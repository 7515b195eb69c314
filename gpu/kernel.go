package gpu

import (
	"sync/atomic"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// Arg is an argument of a launch: an integer, or a buffer's address. A narrower parameter takes its
// low bytes.
type Arg uint64

// Int is an integer argument of any width up to 64 bits, signed or not.
func Int[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](v T) Arg {
	return Arg(v)
}

// HostArg is the address of page-locked memory, which kernels read and write over the link; null
// for no element.
func HostArg[T any](memory []T) Arg {
	if len(memory) == 0 {
		return 0
	}
	return Arg(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))
}

// Dim is the shape of a launch: blocks a grid, threads a block, bytes of dynamic shared memory a
// block.
type Dim = driver.Dim

// Resources of a compiled kernel: registers and local bytes a thread, static shared bytes a block,
// the most threads a block.
type Resources = driver.Resources

// A Kernel is one __global__ function of a program.
type Kernel struct {
	name string
	drv  driver.Driver
	f    driver.Function

	launches atomic.Int64
}

// Launch queues k on s. A grid of no block is no work.
func (k *Kernel) Launch(s *Stream, dim Dim, args ...Arg) error {
	if dim.Grid == 0 {
		return nil
	}
	k.launches.Add(1)
	slots := make([]uint64, len(args))
	for i, a := range args {
		slots[i] = uint64(a)
	}
	return k.drv.Launch(s.h, k.f, dim, slots)
}

// Launches is how often k was queued.
func (k *Kernel) Launches() int64 { return k.launches.Load() }

// Name is the function's name in its source.
func (k *Kernel) Name() string { return k.name }

// Resources says what the compiler gave the kernel.
func (k *Kernel) Resources() (Resources, error) { return k.drv.Resources(k.f) }

// SharedMemory lets k be launched with up to bytes of dynamic shared memory; without it 48 KiB are
// the limit.
func (k *Kernel) SharedMemory(bytes int) error { return k.drv.SharedMemory(k.f, bytes) }
