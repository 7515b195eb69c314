package gpu

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// Arg is an argument of a launch: an integer, an address or a struct.
type Arg struct {
	value  uint64
	fields []uint64 // of a struct
}

// Int is an integer argument of any width up to 64 bits, signed or not.
func Int[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](v T) Arg {
	return Arg{value: uint64(v)}
}

// Struct is an argument that a kernel takes as a struct. T has fields of fixed size, in the order
// and of the sizes that they have in CUDA. T is aligned to 8 bytes, so that its size is a multiple
// of 8. The launch copies it.
func Struct[T any](args *T) Arg {
	if unsafe.Sizeof(*args)%8 != 0 || unsafe.Alignof(*args) != 8 {
		panic(fmt.Sprintf("gpu: %T has %d bytes, aligned to %d", *args, unsafe.Sizeof(*args), unsafe.Alignof(*args)))
	}
	return Arg{fields: unsafe.Slice((*uint64)(unsafe.Pointer(args)), unsafe.Sizeof(*args)/8)}
}

// Pointer is the address of elements on the device, as a field of a struct that a kernel takes; the
// zero Pointer is null. A kernel declares it as T*. Pointer[struct{}] is void*.
type Pointer[T any] struct {
	_       [0]*T // which keeps pointers to different types apart
	address uint64
}

// HostPointer is the address of page-locked memory, which kernels read and write over the link; null
// for no element.
func HostPointer[T any](memory []T) Pointer[T] {
	if len(memory) == 0 {
		return Pointer[T]{}
	}
	return Pointer[T]{address: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))}
}

// Arg is the address as a kernel takes it.
func (p Pointer[T]) Arg() Arg { return Arg{value: p.address} }

// Field is the address of a field at an offset in the struct that p points to; null if p is null.
func Field[F, T any](p Pointer[T], offset uintptr) Pointer[F] {
	if p.address == 0 {
		return Pointer[F]{}
	}
	return Pointer[F]{address: p.address + uint64(offset)}
}

// Cast is the same address as a pointer to other elements.
func Cast[To, From any](p Pointer[From]) Pointer[To] { return Pointer[To]{address: p.address} }

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
	return k.drv.Launch(s.h, k.f, dim, pack(args))
}

// pack copies arguments for the driver. It allocates twice, whatever their number.
func pack(args []Arg) driver.Args {
	words := len(args)
	for i := range args {
		if fields := args[i].fields; fields != nil {
			words += len(fields) - 1
		}
	}
	list := driver.Args{Words: make([]uint64, 0, words), Ends: make([]int32, 0, len(args))}
	for i := range args {
		if fields := args[i].fields; fields != nil {
			list.Add(fields...)
		} else {
			list.Add(args[i].value)
		}
	}
	return list
}

// Launches is how often k was queued.
func (k *Kernel) Launches() int64 { return k.launches.Load() }

// Name is the function's name in its source.
func (k *Kernel) Name() string { return k.name }

// Resources reports what the compiler gave the kernel.
func (k *Kernel) Resources() (Resources, error) { return k.drv.Resources(k.f) }

// SharedMemory lets k be launched with up to bytes of dynamic shared memory; without it 48 KiB are
// the limit.
func (k *Kernel) SharedMemory(bytes int) error { return k.drv.SharedMemory(k.f, bytes) }
