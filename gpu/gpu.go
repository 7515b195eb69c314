// Package gpu is the CUDA runtime of the server: devices, streams, events, typed buffers from a
// stream-ordered pool with a budget, page-locked host memory, and programs compiled at run time. It
// knows no kernel and no format, and it is the only package that touches CUDA and NVML.
//
// One binary serves machines with and without a driver: the libraries are looked for when a device
// is opened, and Open answers ErrNoDevice where they are missing. Every result of the driver is
// checked; an error names the call, the kernel, its grid and the bytes.
//
// Every call may come from any goroutine and runs with the device's primary context current on its
// thread.
package gpu
