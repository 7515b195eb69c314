package gpu

import (
	"context"
	"fmt"
	"math"
	"unsafe"
)

// PinnedBuffer is page-locked host memory: copies from and to it run at the speed of the link,
// while the host does something else.
type PinnedBuffer struct {
	d *Device
	p unsafe.Pointer
	n int
}

// AllocPinned returns n > 0 bytes of page-locked memory; the caller frees it. Pages are locked one by
// one (about 0.4 s a GiB), so it is taken once and reused.
func (d *Device) AllocPinned(n int) (*PinnedBuffer, error) {
	if n <= 0 {
		return nil, fmt.Errorf("gpu: %d bytes of page-locked memory", n)
	}
	p, err := d.drv.AllocHost(int64(n))
	if err != nil {
		return nil, err
	}
	return &PinnedBuffer{d: d, p: p, n: n}, nil
}

// Bytes is the memory, aligned to 16 bytes, and to 64 where its size is a multiple of 64; it is
// gone after Free.
func (m *PinnedBuffer) Bytes() []byte { return unsafe.Slice((*byte)(m.p), m.n) }

// Free gives the memory back. No copy may be under way.
func (m *PinnedBuffer) Free() error {
	if m.p == nil {
		return nil
	}
	p := m.p
	m.p, m.n = nil, 0
	return m.d.drv.FreeHost(p)
}

// A Ring lends the slots of a fixed amount of page-locked memory, so that files of any size stream
// through it. Its methods may be called from any goroutine.
type Ring struct {
	memory *PinnedBuffer
	free   chan *Slot
	slots  []*Slot
}

// A Slot is one borrowed piece of a Ring.
type Slot struct {
	Bytes []byte // page-locked
	ring  *Ring
	done  *Event
	used  bool // done was recorded since the slot was last waited for
}

// NewRing makes a ring of slots of slotBytes each; the caller closes it.
func (d *Device) NewRing(slots, slotBytes int) (*Ring, error) {
	if slots <= 0 || slotBytes <= 0 || slotBytes%64 != 0 || slots > math.MaxInt/slotBytes {
		return nil, fmt.Errorf("gpu: a ring of %d slots of %d bytes; slots are multiples of 64 bytes", slots, slotBytes)
	}
	memory, err := d.AllocPinned(slots * slotBytes)
	if err != nil {
		return nil, err
	}
	r := &Ring{memory: memory, free: make(chan *Slot, slots)}
	for i := range slots {
		e, err := d.NewEvent()
		if err != nil {
			_ = r.Close() // the event's error is the one to tell
			return nil, err
		}
		slot := &Slot{Bytes: memory.Bytes()[i*slotBytes : (i+1)*slotBytes : (i+1)*slotBytes], ring: r, done: e}
		r.slots = append(r.slots, slot)
		r.free <- slot
	}
	return r, nil
}

// Take lends a slot, waiting for one to be given back and for the device to be done with it.
func (r *Ring) Take(ctx context.Context) (*Slot, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case slot := <-r.free:
		if !slot.used {
			return slot, nil
		}
		slot.used = false
		if err := slot.done.Await(); err != nil {
			r.free <- slot
			return nil, err
		}
		return slot, nil
	}
}

// Give gives the slot back once the work that s was given before, which reads or writes it, is
// done. A nil stream says that there is none.
func (slot *Slot) Give(s *Stream) error {
	var err error
	if s != nil {
		err = s.Record(slot.done)
		slot.used = err == nil
	}
	slot.ring.free <- slot
	return err
}

// Close frees the memory. Every slot must have been given back; Close waits for the device to be
// done with them.
func (r *Ring) Close() error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, slot := range r.slots {
		if slot.used {
			keep(slot.done.Await())
		}
		keep(slot.done.Close())
	}
	r.slots = nil
	keep(r.memory.Free())
	return first
}
