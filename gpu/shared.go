package gpu

import (
	"fmt"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// A Handle names shared memory or a shared event for other processes of this host.
type Handle = driver.Handle

// SharedMemory is device memory that other processes of this host can open. It counts as no buffer of the
// device's budget: its owner has one of its own.
type SharedMemory struct {
	d      *Device
	p      driver.Ptr
	bytes  int64
	handle Handle
}

// AllocShared returns shared memory with undefined contents, aligned to 256 bytes. The error wraps
// ErrMemory if the device has no room.
func (d *Device) AllocShared(bytes int64) (*SharedMemory, error) {
	p, h, err := d.drv.AllocShared(bytes)
	if err != nil {
		return nil, err
	}
	return &SharedMemory{d: d, p: p, bytes: bytes, handle: h}, nil
}

// Bytes returns the size.
func (m *SharedMemory) Bytes() int64 { return m.bytes }

// Handle returns the handle of the memory.
func (m *SharedMemory) Handle() Handle { return m.handle }

// Slice returns a view of bytes [from, from+n).
func (m *SharedMemory) Slice(from, n int64) Buffer[byte] {
	if from < 0 || n < 0 || from > m.bytes || n > m.bytes-from {
		panic(fmt.Sprintf("gpu: %d bytes at %d of %d", n, from, m.bytes))
	}
	if n == 0 {
		return Buffer[byte]{}
	}
	return Buffer[byte]{p: m.p + driver.Ptr(from), n: int(n), view: true}
}

// Free frees the memory. No work uses it, and no other process does.
func (m *SharedMemory) Free() error { return m.d.drv.FreeShared(m.p) }

// NewSharedEvent returns an event that other processes of this host can wait for, and its handle. It
// has no time stamp. The caller closes it.
func (d *Device) NewSharedEvent() (*Event, Handle, error) {
	h, handle, err := d.drv.NewSharedEvent()
	if err != nil {
		return nil, Handle{}, err
	}
	return &Event{d: d, h: h}, handle, nil
}

// AsBytes is a view of a buffer's bytes.
func AsBytes[T any](b Buffer[T]) Buffer[byte] {
	bytes, _ := sizeOf[T](b.n)
	return Buffer[byte]{p: b.p, n: int(bytes), view: true}
}

// View is a view of bytes as elements, whose whole number is in b. The address of b is a multiple of
// their size.
func View[T any](b Buffer[byte]) Buffer[T] {
	size := int(unsafe.Sizeof(*new(T)))
	return Buffer[T]{p: b.p, n: b.n / size, view: true}
}
