// Package cuda executes kernels on an NVIDIA device through the CUDA driver API, and compiles them
// with NVRTC. It knows contexts, handles and error codes, and nothing of what kernels mean.
//
// The driver is loaded when it is first asked for (package loader), so a binary that has this
// package starts on every machine. Drivers of CUDA 11.4 and later work, NVRTC of 11.2 and later.
// Devices before compute capability 8.0 are refused.
//
// A call makes the device's primary context current on whatever thread it happens to run, and does
// its work in the same step: goroutines need not be locked to threads. What gorgonia.org/cu has and
// nobody waits for is called through it; the rest, and every call of the hot path, is calls.c.
//
// Memory comes from the device's default pool, whose release threshold is raised to its maximum:
// what is freed stays with the process until Trim. Streams do not synchronize with the default
// stream. Await and Synchronize spin as the driver sees fit.
//
// Pageable host memory is never left to a copy under way: such a copy is waited for before the call
// returns, since a driver may read it late, and Go may move or reuse it. Memory from AllocHost is
// what copies overlap with other work.
//
// Without the build tag cuda, without cgo, and on other systems than Linux on amd64 and arm64,
// every function answers driver.ErrNoDevice.
package cuda
