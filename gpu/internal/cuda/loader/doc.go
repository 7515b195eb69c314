// Package loader lets one binary be linked against the CUDA driver and start on a machine that has
// none.
//
// A program that is linked with -lcuda needs libcuda.so.1 to start at all, and gorgonia.org/cu is
// linked so. This package defines every entry point that it, and package cuda next to it, call:
// each is a jump through a slot in memory.
//
//	cuLaunchKernel:  jmp *slot        slot: at first the address of "not initialized", after Open that of
//	                                  libcuda.so.1's cuLaunchKernel
//
// The slots have their first contents before any code runs, so package initializers may call the
// driver: they hear that it is not initialized, but for cuInit, which answers success, since
// gorgonia.org/cu ends the process where its initializer hears anything else.
//
// entrypoints.h is the list, compared by the tests with what the compiled packages refer to. The
// folder lib holds an empty libcuda.so for the linker's -lcuda. Nothing is here unless the build
// has the tag cuda and cgo, on Linux, on amd64 or arm64.
package loader
