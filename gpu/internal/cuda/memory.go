//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

/*
#include "calls.h"

#cgo noescape vf_alloc
#cgo nocallback vf_alloc
#cgo nocallback vf_free
#cgo noescape vf_to_device
#cgo nocallback vf_to_device
#cgo noescape vf_to_host
#cgo nocallback vf_to_host
#cgo nocallback vf_copy
#cgo nocallback vf_fill
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// errSize answers a size below what a call takes.
var errSize = errors.New("cuda: a size of memory that is not positive")

func (d *device) pooled() C.int {
	if d.pool == 0 {
		return 0
	}
	return 1
}

// Alloc takes memory from the device's pool in the order of s. A device without a pool allocates at
// once.
func (d *device) Alloc(s driver.Stream, bytes int64) (driver.Ptr, error) {
	if bytes <= 0 {
		return 0, errSize
	}
	var p C.uint64_t
	code := C.vf_alloc(d.ctx(), C.uintptr_t(s), d.pooled(), C.uint64_t(bytes), &p)
	return driver.Ptr(p), failed(code, "cuMemAllocAsync", inBytes(bytes))
}

// Free gives memory back to the pool, in the order of s.
func (d *device) Free(s driver.Stream, p driver.Ptr) error {
	return failed(C.vf_free(d.ctx(), C.uintptr_t(s), d.pooled(), C.uint64_t(p)), "cuMemFreeAsync", nil)
}

// Trim gives what lies unused in the pool back to the device. Memory whose Free has not been
// reached yet stays.
func (d *device) Trim() error {
	if d.pool == 0 {
		return nil
	}
	return failed(C.vf_pool_trim(d.ctx(), C.uintptr_t(d.pool)), "cuMemPoolTrimTo", nil)
}

// AllocHost returns page-locked memory that every context may copy with.
func (d *device) AllocHost(bytes int64) (unsafe.Pointer, error) {
	if bytes <= 0 {
		return nil, errSize
	}
	var p unsafe.Pointer
	if err := failed(C.vf_alloc_host(d.ctx(), C.uint64_t(bytes), &p), "cuMemHostAlloc", inBytes(bytes)); err != nil {
		return nil, err
	}
	d.pinned.add(uintptr(p), uintptr(bytes))
	return p, nil
}

// FreeHost takes memory from AllocHost back, after all copies of it.
func (d *device) FreeHost(p unsafe.Pointer) error {
	d.pinned.remove(uintptr(p))
	return failed(C.vf_free_host(d.ctx(), p), "cuMemFreeHost", nil)
}

// pageable reports whether a copy must be waited for, because the host's memory is not of AllocHost.
func (d *device) pageable(p unsafe.Pointer, bytes int64) C.int {
	if d.pinned.hold(uintptr(p), uintptr(bytes)) {
		return 0
	}
	return 1
}

// ToDevice queues a copy. From pageable memory it waits for it.
func (d *device) ToDevice(s driver.Stream, dst driver.Ptr, src unsafe.Pointer, bytes int64) error {
	if bytes <= 0 {
		return sized(bytes)
	}
	code := C.vf_to_device(d.ctx(), C.uintptr_t(s), C.uint64_t(dst), src, C.uint64_t(bytes), d.pageable(src, bytes))
	return failed(code, "cuMemcpyHtoDAsync", inBytes(bytes))
}

// ToHost queues a copy. Into pageable memory it waits for it.
func (d *device) ToHost(s driver.Stream, dst unsafe.Pointer, src driver.Ptr, bytes int64) error {
	if bytes <= 0 {
		return sized(bytes)
	}
	code := C.vf_to_host(d.ctx(), C.uintptr_t(s), dst, C.uint64_t(src), C.uint64_t(bytes), d.pageable(dst, bytes))
	return failed(code, "cuMemcpyDtoHAsync", inBytes(bytes))
}

// Copy queues a copy within the device.
func (d *device) Copy(s driver.Stream, dst, src driver.Ptr, bytes int64) error {
	if bytes <= 0 {
		return sized(bytes)
	}
	code := C.vf_copy(d.ctx(), C.uintptr_t(s), C.uint64_t(dst), C.uint64_t(src), C.uint64_t(bytes))
	return failed(code, "cuMemcpyDtoDAsync", inBytes(bytes))
}

// Fill queues setting bytes to value.
func (d *device) Fill(s driver.Stream, dst driver.Ptr, value byte, bytes int64) error {
	if bytes <= 0 {
		return sized(bytes)
	}
	code := C.vf_fill(d.ctx(), C.uintptr_t(s), C.uint64_t(dst), C.uchar(value), C.uint64_t(bytes))
	return failed(code, "cuMemsetD8Async", inBytes(bytes))
}

// sized is the answer to a copy of bytes <= 0: none is nothing to do, fewer is the caller's
// mistake.
func sized(bytes int64) error {
	if bytes < 0 {
		return errSize
	}
	return nil
}
