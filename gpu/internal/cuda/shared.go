//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

/*
#include "calls.h"

#cgo noescape vf_alloc_shared
#cgo nocallback vf_alloc_shared
#cgo nocallback vf_free_shared
#cgo noescape vf_shared_event
#cgo nocallback vf_shared_event
*/
import "C"

import (
	"fmt"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// AllocShared allocates memory of its own: the handle of memory from a pool would name more than it.
func (d *device) AllocShared(bytes int64) (driver.Ptr, driver.Handle, error) {
	if bytes <= 0 {
		return 0, driver.Handle{}, errSize
	}
	var p C.uint64_t
	var h [driver.HandleBytes]C.uchar
	code := C.vf_alloc_shared(d.ctx(), C.uint64_t(bytes), &p, &h[0])
	return driver.Ptr(p), handleOf(&h), failed(code, "cuMemAlloc and cuIpcGetMemHandle", inBytes(bytes))
}

// FreeShared waits for all work of the device.
func (d *device) FreeShared(p driver.Ptr) error {
	return failed(C.vf_free_shared(d.ctx(), C.uint64_t(p)), "cuMemFree", nil)
}

// NewSharedEvent returns an event without a time stamp, as CUDA requires.
func (d *device) NewSharedEvent() (driver.Event, driver.Handle, error) {
	var e C.uintptr_t
	var h [driver.HandleBytes]C.uchar
	code := C.vf_shared_event(d.ctx(), &e, &h[0])
	return driver.Event(e), handleOf(&h), failed(code, "cuEventCreate and cuIpcGetEventHandle", nil)
}

func handleOf(h *[driver.HandleBytes]C.uchar) (out driver.Handle) {
	for i, b := range h {
		out.IPC[i] = byte(b)
	}
	return out
}

// uuidText formats a UUID as NVML and nvidia-smi do.
func uuidText(u [16]C.uchar) string {
	b := make([]byte, len(u))
	for i := range u {
		b[i] = byte(u[i])
	}
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
