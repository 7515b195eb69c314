// Package emu executes the project's CUDA kernels on this machine's processor: a driver.Driver and
// a driver.Compiler for tests where there is no device. It compiles a kernel file with the C++
// compiler and the header of include/cudaemu.h, and runs the blocks of a launch on OS threads.
//
// It is stricter than a device, so that what passes here is not there by luck. Memory is filled
// with 0xa5 before it is given out, shared memory before each block. Each allocation ends at a page
// that can't be touched; freed memory can't be touched either. A deadlock, a barrier in diverged
// code, a lane outside of its mask, and with CompilerOptions.Undefined undefined behaviour are
// errors of the launch that say where they are in the kernel. A kernel that touches memory outside
// of what was allocated ends the process, with Go's trace of the launch.
//
// What it does not have: kernel parameters other than integers and pointers, waits of a block for a
// later block, time.
package emu

// An Order is the order in which the blocks of a grid and the threads of a block are started. A
// kernel's results must not depend on it.
type Order uint64

const (
	// InOrder starts blocks and threads by their number.
	InOrder Order = iota
	// Reverse starts the last block and the last thread first. A block that waits for an earlier
	// one then waits forever.
	Reverse
)

// Shuffled is an order that is the same for the same seed. A block that waits for an earlier one
// may then wait forever.
func Shuffled(seed uint64) Order { return max(Order(seed), Reverse+1) }

// Options of an emulated device.
type Options struct {
	// MemoryBytes is the device's memory, and the most page-locked host memory; 0 means 2 GiB.
	MemoryBytes int64
	// Order of blocks and threads.
	Order Order
	// Threads is how many OS threads execute the blocks of a launch; 0 means one for each
	// processor.
	Threads int

	portable bool // switch CUDA threads as processors without a switch of their own must
}

// CompilerOptions say how kernels are compiled.
type CompilerOptions struct {
	// Command is the C++17 compiler: GCC, or Clang, which takes it that a caller that calls a
	// kernel has widened parameters of 1 and 2 bytes, so that those are wrong there on x86-64.
	// Empty means the first of g++, c++, clang++ on PATH.
	Command string
	// Undefined makes undefined behaviour an error of the launch: overflows of signed integers,
	// shifts by the width or more, indexes outside of an array (shared memory too), misaligned
	// addresses. Kernels take a little longer.
	Undefined bool
}

// Arch is the architecture of this package's images.
const Arch = "emulated"
