// Package driver is the interface between package gpu and what executes kernels: a device, by the
// CUDA driver (package cuda), or this machine's CPU, by the same calls (package emu). It is a list
// of calls and nothing else. Budgets, types and lifetimes are in gpu.
//
// All copies, fills, launches and stream-ordered allocations of one Stream happen in the order they
// were given. A call may be made from any goroutine; two calls on one Stream at once are the
// caller's mistake.
package driver

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"
)

var (
	// ErrNoDevice says that there is nothing to execute kernels: no driver, no device, or a build
	// without CUDA. The wrapping error says which.
	ErrNoDevice = errors.New("no GPU")
	// ErrMemory says that the device, or the host's pinned memory, has no room for an allocation.
	ErrMemory = errors.New("out of GPU memory")
	// ErrLost says that the device, or this process's hold on it, is gone: every later call fails
	// too.
	ErrLost = errors.New("the GPU is lost")
)

// Ptr is an address in device memory, in bytes; 0 is null.
type Ptr uint64

// What a driver has made goes by handles. 0 is not a handle, and the zero Stream is not the default stream.
type (
	// Stream orders work.
	Stream uintptr
	// Event is a point in the work of a stream.
	Event uintptr
	// Module is loaded device code.
	Module uintptr
	// Function is one kernel of a Module.
	Function uintptr
)

// Info describes a device. It does not change while the device is open.
type Info struct {
	Name            string // as the driver says it: "NVIDIA H200"
	Ordinal         int    // as given to Open
	Arch            string // of an image: "sm_90", or "emulated"
	Multiprocessors int
	MemoryBytes     int64  // of the device, a caller that uses it
	L2Bytes         int64  // level 2 cache
	SharedBytes     int    // most dynamic shared memory of a block, once asked for with SharedMemory
	PCI             string // bus id as NVML takes it, "0000:1B:00.0", or empty
	UUID            string // "GPU-" and a UUID in lower case, or empty
	Driver          string // "CUDA 13.0", or empty
	Emulated        bool
}

// Resources of a compiled kernel.
type Resources struct {
	Registers   int // a thread
	LocalBytes  int // a thread: spills and arrays that are indexed at run time
	SharedBytes int // a block, static
	MaxThreads  int // a block
}

// Dim is the shape of a launch: blocks in a grid, threads in a block, both in one dimension, and
// bytes of dynamic shared memory a block.
type Dim struct {
	Grid, Block int
	SharedBytes int
}

// MaxParameters is how many parameters a kernel may have, and MaxArgumentBytes is how long they may
// be together.
const (
	MaxParameters    = 32
	MaxArgumentBytes = 4096
)

// Args are the arguments of a launch, one after the other. A struct is its 8-byte words. An integer
// or an address is one word, of which a narrower parameter takes the low bytes.
type Args struct {
	Words []uint64
	Ends  []int32 // the word after the last one of each argument
}

// Words returns arguments of one word each.
func Words(words ...uint64) (a Args) {
	for _, word := range words {
		a.Add(word)
	}
	return a
}

// Add appends an argument.
func (a *Args) Add(words ...uint64) {
	a.Words = append(a.Words, words...)
	a.Ends = append(a.Ends, int32(len(a.Words)))
}

// Len is the number of arguments.
func (a Args) Len() int { return len(a.Ends) }

// At returns the words of argument i.
func (a Args) At(i int) []uint64 {
	from := int32(0)
	if i > 0 {
		from = a.Ends[i-1]
	}
	return a.Words[from:a.Ends[i]]
}

// Fits reports whether parameters of these sizes, in bytes, take the arguments. A parameter of more
// than one word must be as long as its argument.
func (a Args) Fits(sizes []uint32) bool {
	if len(sizes) != a.Len() {
		return false
	}
	for i, size := range sizes {
		if n := len(a.At(i)); n == 1 && size > 8 || n != 1 && int(size) != 8*n {
			return false
		}
	}
	return true
}

// Bytes are the lengths of the arguments, for messages.
func (a Args) Bytes() []int {
	bytes := make([]int, a.Len())
	for i := range bytes {
		bytes[i] = 8 * len(a.At(i))
	}
	return bytes
}

// HandleBytes is the size of a Handle of CUDA.
const HandleBytes = 64

// Handle names memory or an event for other processes of this host.
type Handle struct {
	IPC  [HandleBytes]byte // what cuIpcOpenMemHandle or cuIpcOpenEventHandle takes
	File *os.File          // of the emulation: the memory, to be mapped. Its owner is the driver
}

// A Driver is one open device.
type Driver interface {
	Info() Info
	// Close gives the device back. Every handle must have been closed before.
	Close() error

	// Alloc returns bytes > 0 of device memory with undefined contents, aligned to 16 bytes at least,
	// usable by work given to s from now on.
	Alloc(s Stream, bytes int64) (Ptr, error)
	// Free takes memory back once the work that s was given before is done.
	Free(s Stream, p Ptr) error
	// Trim gives cached memory that nobody uses back to the system.
	Trim() error
	// AllocShared returns device memory with undefined contents that other processes can open by its
	// handle, aligned to 256 bytes. It is usable by work of every stream.
	AllocShared(bytes int64) (Ptr, Handle, error)
	// FreeShared frees memory of AllocShared. No work uses it, here or in another process.
	FreeShared(p Ptr) error
	// AllocHost returns page-locked host memory, which copies run from and to without the host
	// waiting.
	AllocHost(bytes int64) (unsafe.Pointer, error)
	FreeHost(p unsafe.Pointer) error

	// ToDevice copies host memory. Pageable memory may be changed when the call returns,
	// page-locked memory when the copy is done.
	ToDevice(s Stream, dst Ptr, src unsafe.Pointer, bytes int64) error
	// ToHost copies to host memory. Into pageable memory the copy is done when the call returns.
	ToHost(s Stream, dst unsafe.Pointer, src Ptr, bytes int64) error
	Copy(s Stream, dst, src Ptr, bytes int64) error
	Fill(s Stream, dst Ptr, value byte, bytes int64) error

	NewStream() (Stream, error)
	CloseStream(s Stream) error
	// Synchronize waits until all work given to s is done, and reports its first error.
	Synchronize(s Stream) error

	NewEvent() (Event, error)
	// NewSharedEvent returns an event that other processes can wait for. It has no time: Elapsed fails.
	NewSharedEvent() (Event, Handle, error)
	CloseEvent(e Event) error
	Record(e Event, s Stream) error
	// Wait makes the work that s is given from now on wait for e.
	Wait(s Stream, e Event) error
	// Await blocks the caller until e has happened.
	Await(e Event) error
	// Elapsed is the time between two events that have happened, measured on the device.
	Elapsed(from, to Event) (time.Duration, error)

	// Load takes what a Compiler made for this device's Arch, or PTX.
	Load(image []byte) (Module, error)
	Unload(m Module) error
	Function(m Module, name string) (Function, error)
	// SharedMemory raises the dynamic shared memory that f may be launched with to bytes.
	SharedMemory(f Function, bytes int) error
	Resources(f Function) (Resources, error)
	// Launch queues f, and copies args. Their number and sizes must be those of f's parameters.
	Launch(s Stream, f Function, d Dim, args Args) error
}

// Source is one translation unit of CUDA C++.
type Source struct {
	Name    string            // "quote.cu", for messages
	Text    string            //
	Headers map[string]string // what it may #include, by name
	Defines []string          // "NAME=VALUE"
}

// A Compiler turns a Source into an image that a Driver loads. Its methods may be called from
// several goroutines at once.
type Compiler interface {
	// Version names the compiler and everything of it that images depend on: "nvrtc 12.9". It is
	// part of the key of cached images.
	Version() string
	// Compile returns an image for arch, "sm_90" or "compute_90" (PTX) or "emulated", and what the
	// compiler said. The error holds that too.
	Compile(src Source, arch string) (image []byte, log string, err error)
}

// Error is a call that the driver or a compiler refused.
type Error struct {
	Call   string // "cuLaunchKernel"
	Detail string // what was asked for: "parse_float64, grid 1024, block 256", "64 MiB"
	Code   int
	Name   string // "CUDA_ERROR_ILLEGAL_ADDRESS", or empty
	Kind   error  // ErrMemory, ErrLost or nil
}

func (e *Error) Error() string {
	text := e.Call
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	if e.Name != "" {
		return text + ": " + e.Name
	}
	return fmt.Sprintf("%s: error %d", text, e.Code)
}

// Unwrap returns the kind of the error, so that errors.Is finds ErrMemory and ErrLost.
func (e *Error) Unwrap() error { return e.Kind }
