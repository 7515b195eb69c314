package gpu

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// An Arena is device memory that the buffers of one stream at a time come from: then Alloc and Free
// are no calls to the driver, of which a chunk of a file would make a hundred. What does not fit
// comes from the device as ever. Memory that was freed serves the next buffer at once, since the
// work of a stream is done in its order.
type Arena struct {
	d     *Device
	base  driver.Ptr
	size  int64
	holes []hole // ascending, none touching the next
	used  int64
	peak  atomic.Int64
}

// hole is free memory of an arena, in bytes from its base.
type hole struct{ from, to int64 }

// arenaAlign is what buffers of an arena are aligned to, as those of the driver are.
const arenaAlign = 256

// NewArena takes n bytes of the device's memory until Close. The error wraps ErrMemory where
// there is no room.
func (d *Device) NewArena(bytes int64) (*Arena, error) {
	bytes = (bytes + arenaAlign - 1) &^ (arenaAlign - 1)
	if err := d.reserve(bytes); err != nil {
		return nil, err
	}
	a := &Arena{d: d, size: bytes, holes: []hole{{0, bytes}}}
	err := a.with(func(s *Stream) (err error) {
		a.base, err = d.drv.Alloc(s.h, bytes)
		return err
	})
	if err != nil {
		d.used.Add(-bytes)
		return nil, err
	}
	return a, nil
}

// with gives work a stream and waits for it: from then on what it did holds for every stream.
func (a *Arena) with(work func(*Stream) error) error {
	s, err := a.d.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(work(s), s.Synchronize(), s.Close())
}

// Use has the buffers that are allocated for s from now on come from a, or from the device if a is
// nil, and gives what it used before. A caller that had the arena has freed its buffers and waited
// for its stream. A buffer is freed while s uses what it came from.
func (s *Stream) Use(a *Arena) (before *Arena) {
	before, s.arena = s.arena, a
	return before
}

// Peak is the most that was taken of the arena at any time, in bytes.
func (a *Arena) Peak() int64 { return a.peak.Load() }

// Close gives the memory back. No stream may use it any more.
func (a *Arena) Close() error {
	a.d.used.Add(-a.size)
	return a.with(func(s *Stream) error { return a.d.drv.Free(s.h, a.base) })
}

// take returns memory from the first hole that holds it.
func (a *Arena) take(bytes int64) (driver.Ptr, bool) {
	bytes = (bytes + arenaAlign - 1) &^ (arenaAlign - 1)
	for i := range a.holes {
		h := &a.holes[i]
		if h.to-h.from < bytes {
			continue
		}
		p := a.base + driver.Ptr(h.from)
		if h.from += bytes; h.from == h.to {
			a.holes = slices.Delete(a.holes, i, i+1)
		}
		if a.used += bytes; a.used > a.peak.Load() {
			a.peak.Store(a.used)
		}
		return p, true
	}
	return 0, false
}

// give takes memory back, if it is the arena's.
func (a *Arena) give(p driver.Ptr, bytes int64) bool {
	if p < a.base || p >= a.base+driver.Ptr(a.size) {
		return false
	}
	bytes = (bytes + arenaAlign - 1) &^ (arenaAlign - 1)
	a.used -= bytes
	freed := hole{int64(p - a.base), int64(p-a.base) + bytes}
	i, _ := slices.BinarySearchFunc(a.holes, freed, func(h, f hole) int { return cmp.Compare(h.from, f.from) })
	if i < len(a.holes) && a.holes[i].from == freed.to {
		freed.to = a.holes[i].to
		a.holes = slices.Delete(a.holes, i, i+1)
	}
	if i > 0 && a.holes[i-1].to == freed.from {
		a.holes[i-1].to = freed.to
		return true
	}
	a.holes = slices.Insert(a.holes, i, freed)
	return true
}
