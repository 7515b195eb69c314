//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

/*
#include "calls.h"

#cgo nocallback vf_synchronize
#cgo nocallback vf_record
#cgo nocallback vf_wait
#cgo nocallback vf_await
#cgo noescape vf_elapsed
#cgo nocallback vf_elapsed
*/
import "C"

import (
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// NewStream returns a stream that does not wait for the default stream.
func (d *device) NewStream() (driver.Stream, error) {
	var s cu.Stream
	err := d.within(func() (err error) {
		s, err = cu.MakeStream(cu.NonBlocking)
		return wrapped(err, "cuStreamCreate", nil)
	})
	return *(*driver.Stream)(unsafe.Pointer(&s)), err
}

// CloseStream lets the stream go; work that it was given is still done.
func (d *device) CloseStream(s driver.Stream) error {
	return d.within(func() error {
		return wrapped((*cu.Stream)(unsafe.Pointer(&s)).Destroy(), "cuStreamDestroy", nil)
	})
}

// Synchronize waits for all work given to s. It is where the error of a kernel shows.
func (d *device) Synchronize(s driver.Stream) error {
	return failed(C.vf_synchronize(d.ctx(), C.uintptr_t(s)), "cuStreamQuery", nil)
}

// NewEvent returns an event with a time stamp. Its Await yields, as all waits do (Open): one that
// sleeps takes an interrupt for each Record, and tens of microseconds to wake up on a virtual
// machine.
func (d *device) NewEvent() (driver.Event, error) {
	var e cu.Event
	err := d.within(func() (err error) {
		e, err = cu.MakeEvent(cu.DefaultEvent)
		return wrapped(err, "cuEventCreate", nil)
	})
	return *(*driver.Event)(unsafe.Pointer(&e)), err
}

// CloseEvent lets the event go.
func (d *device) CloseEvent(e driver.Event) error {
	return d.within(func() error {
		return wrapped(cu.DestroyEvent((*cu.Event)(unsafe.Pointer(&e))), "cuEventDestroy", nil)
	})
}

// Record makes e happen when the work given to s so far is done.
func (d *device) Record(e driver.Event, s driver.Stream) error {
	return failed(C.vf_record(d.ctx(), C.uintptr_t(e), C.uintptr_t(s)), "cuEventRecord", nil)
}

// Wait makes later work of s wait for e, on the device.
func (d *device) Wait(s driver.Stream, e driver.Event) error {
	return failed(C.vf_wait(d.ctx(), C.uintptr_t(s), C.uintptr_t(e)), "cuStreamWaitEvent", nil)
}

// Await waits until e has happened.
func (d *device) Await(e driver.Event) error {
	return failed(C.vf_await(d.ctx(), C.uintptr_t(e)), "cuEventSynchronize", nil)
}

// Elapsed has a resolution of about half a microsecond.
func (d *device) Elapsed(from, to driver.Event) (time.Duration, error) {
	var ms C.float
	code := C.vf_elapsed(d.ctx(), C.uintptr_t(from), C.uintptr_t(to), &ms)
	return time.Duration(float64(ms) * float64(time.Millisecond)), failed(code, "cuEventElapsedTime", nil)
}
