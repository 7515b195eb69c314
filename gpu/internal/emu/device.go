//go:build linux && cgo

package emu

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// Limits of a launch. Shared memory is that of the smallest of the devices we build for (sm_86 and
// sm_89: 99 KiB a block), so that what fits here fits there.
const (
	defaultMemory = 2 << 30
	maxGrid       = 1<<31 - 1
	maxBlock      = 1024
	sharedBytes   = 99 << 10
	sharedUnasked = 48 << 10 // static and dynamic, without SharedMemory; static in any case
	maxOSThreads  = 256
	l2Bytes       = 1 << 20
)

type device struct {
	options Options
	digest  string
	memory  *memory
	host    *memory

	mu      sync.Mutex // guards what follows
	closed  bool
	last    uintptr // handle
	streams map[driver.Stream]*stream
	events  map[driver.Event]*event
	modules map[driver.Module]*module
	kernels map[driver.Function]*kernel
	runners []*runner // that no launch uses
}

// Open returns an emulated device. It is as good as a process of its own: nothing is shared with
// other devices.
func Open(o Options) (driver.Driver, error) {
	if o.MemoryBytes < 0 || o.Threads < 0 {
		return nil, fmt.Errorf("emulated device: %d bytes of memory, %d threads", o.MemoryBytes, o.Threads)
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = defaultMemory
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	o.Threads = min(o.Threads, maxOSThreads)
	digest, err := headerDigest()
	if err != nil {
		return nil, err
	}
	return &device{
		options: o,
		digest:  digest,
		memory:  &memory{what: "device memory", limit: o.MemoryBytes},
		host:    &memory{what: "page-locked memory", limit: o.MemoryBytes},
		streams: map[driver.Stream]*stream{},
		events:  map[driver.Event]*event{},
		modules: map[driver.Module]*module{},
		kernels: map[driver.Function]*kernel{},
	}, nil
}

func (d *device) Info() driver.Info {
	return driver.Info{
		Name:            "emulated on the processor",
		Arch:            Arch,
		Multiprocessors: d.options.Threads,
		MemoryBytes:     d.options.MemoryBytes,
		L2Bytes:         l2Bytes,
		SharedBytes:     sharedBytes,
		Driver:          "emulation " + d.digest,
		Emulated:        true,
	}
}

// Close gives everything back. What was not closed before is an error that names it.
func (d *device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errClosed()
	}
	d.closed = true
	var left []string
	count := func(n int, what string) {
		if n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, what))
		}
	}
	count(len(d.streams), "streams")
	count(len(d.events), "events")
	count(len(d.modules), "modules")
	for _, m := range d.modules {
		m.unload()
	}
	for _, r := range d.runners {
		r.free()
	}
	clear(d.streams)
	clear(d.events)
	clear(d.modules)
	clear(d.kernels)
	d.runners = nil
	var errs []error
	for _, m := range []*memory{d.memory, d.host} {
		text, err := m.closeAll()
		if text != "" {
			left = append(left, text)
		}
		errs = append(errs, err)
	}
	if len(left) > 0 {
		errs = append(errs, fmt.Errorf("emulated device closed with %s still open", strings.Join(left, ", ")))
	}
	return errors.Join(errs...)
}

func (d *device) Alloc(s driver.Stream, bytes int64) (driver.Ptr, error) {
	var p driver.Ptr
	err := d.do(s, "allocate device memory", func() error {
		m, err := d.memory.alloc(bytes)
		if err == nil {
			p = driver.Ptr(m.start)
		}
		return err
	})
	return p, err
}

func (d *device) Free(s driver.Stream, p driver.Ptr) error {
	return d.do(s, "free device memory", func() error { return d.memory.free(uintptr(p)) })
}

func (d *device) Trim() error { return d.memory.trim() }

func (d *device) AllocHost(bytes int64) (unsafe.Pointer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed()
	}
	m, err := d.host.alloc(bytes)
	if err != nil {
		return nil, err
	}
	return unsafe.Pointer(unsafe.SliceData(m.data())), nil
}

func (d *device) FreeHost(p unsafe.Pointer) error { return d.host.free(uintptr(p)) }

func (d *device) ToDevice(s driver.Stream, dst driver.Ptr, src unsafe.Pointer, bytes int64) error {
	return d.do(s, "copy to device", func() error {
		to, err := d.memory.at(uintptr(dst), bytes)
		if err != nil {
			return wrap("copy to device", err)
		}
		copy(to, unsafe.Slice((*byte)(src), bytes))
		return nil
	})
}

func (d *device) ToHost(s driver.Stream, dst unsafe.Pointer, src driver.Ptr, bytes int64) error {
	return d.do(s, "copy to host", func() error {
		from, err := d.memory.at(uintptr(src), bytes)
		if err != nil {
			return wrap("copy to host", err)
		}
		copy(unsafe.Slice((*byte)(dst), bytes), from)
		return nil
	})
}

func (d *device) Copy(s driver.Stream, dst, src driver.Ptr, bytes int64) error {
	return d.do(s, "copy", func() error {
		to, err := d.memory.at(uintptr(dst), bytes)
		if err != nil {
			return wrap("copy", err)
		}
		from, err := d.memory.at(uintptr(src), bytes)
		if err != nil {
			return wrap("copy", err)
		}
		copy(to, from)
		return nil
	})
}

func (d *device) Fill(s driver.Stream, dst driver.Ptr, value byte, bytes int64) error {
	return d.do(s, "fill", func() error {
		to, err := d.memory.at(uintptr(dst), bytes)
		if err != nil {
			return wrap("fill", err)
		}
		fill(to, value)
		return nil
	})
}

func wrap(call string, err error) error {
	if err == nil {
		return nil
	}
	return &driver.Error{Call: call, Name: err.Error()}
}

func errClosed() error {
	return &driver.Error{Call: "emulated device", Name: "it is closed", Kind: driver.ErrLost}
}
