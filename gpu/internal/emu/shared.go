//go:build linux && cgo

package emu

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// AllocShared returns memory in a file without a name, which other processes map. It is a span of the
// device's memory without pages around it.
func (d *device) AllocShared(bytes int64) (driver.Ptr, driver.Handle, error) {
	s, err := d.memory.allocWith(bytes, mapShared)
	if err != nil {
		return 0, driver.Handle{}, err
	}
	return driver.Ptr(s.start), driver.Handle{File: s.file}, nil
}

// FreeShared makes the memory untouchable for this process.
func (d *device) FreeShared(p driver.Ptr) error { return d.memory.free(uintptr(p)) }

// NewSharedEvent returns an event. No other process waits for it, as all work is done when its call
// returns.
func (d *device) NewSharedEvent() (driver.Event, driver.Handle, error) {
	e, err := d.NewEvent()
	return e, driver.Handle{}, err
}

// mapShared maps a file of the size.
func mapShared(bytes int64) (*span, error) {
	fd, err := unix.MemfdCreate("emulated device memory", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "emulated device memory")
	page := int64(os.Getpagesize())
	size := uintptr((bytes + page - 1) &^ (page - 1))
	if err := file.Truncate(int64(size)); err != nil {
		_ = file.Close() // the first error says more
		return nil, err
	}
	base, err := unix.MmapPtr(fd, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = file.Close() // likewise
		return nil, err
	}
	pages := unsafe.Slice((*byte)(base), size)
	fill(pages, poison)
	return &span{start: uintptr(base), bytes: bytes, pages: pages, base: base, size: size, file: file}, nil
}
