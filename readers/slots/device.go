package slots

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// poolDevice is what a Pool keeps for one device.
type poolDevice struct {
	k       *kernels.Set
	slots   []*Slot
	pieces  pieces            // of the texts of chunks
	work    queue[*gpu.Arena] // for each chunk that kernels work on
	results pinnedStack
	free    []func() error
}

const (
	// eight keep the link busy where nothing else moves; columns that come back and are copied slow
	// each of them by a third
	readersAtOnce = 10
	ringBuffers   = 2 // one is read into while the other is copied: a reader has the same memory again and again

	// The rings of all devices together stay in the processor's cache: 20 readers brought a quarter
	// less text with 160 MiB of them than with 80 or 40.
	ringsBytes = 80 << 20
	maxBuffer  = 2 << 20
	minBuffer  = 1 << 20 // each costs two calls to the driver, of which there is one at a time

	resultPieces = 10 // of a chunk's size each, for columns on their way into batches
)

// openDevice allocates what one of some devices has.
func openDevice(k *kernels.Set, p Plan, devices int) (_ *poolDevice, err error) {
	c := &poolDevice{k: k}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	c.pieces.buffer, c.pieces.readers = bufferBytes(p, devices), readersAtOnce
	for range readersAtOnce {
		r, err := k.Device().NewRing(ringBuffers, c.pieces.buffer)
		if err != nil {
			return nil, err
		}
		c.free = append(c.free, r.Close)
		c.pieces.free = append(c.pieces.free, r)
	}
	for range p.Work {
		if err := c.openArena(p.ArenaBytes); err != nil {
			return nil, err
		}
	}
	for range p.Slots {
		if err := c.openSlot(int(p.text())); err != nil {
			return nil, err
		}
	}
	for range resultPieces {
		m, err := k.Device().AllocPinned(int((p.ChunkBytes + 63) &^ 63))
		if err != nil {
			return nil, err
		}
		c.free = append(c.free, m.Free)
		c.results.push(m)
	}
	return c, nil
}

// bufferBytes returns the size of a ring's buffers: at most half a text, so that two readers share
// it.
func bufferBytes(p Plan, devices int) int {
	share := int64(max(minBuffer, ringsBytes/(devices*readersAtOnce*ringBuffers)&^63))
	return int(min(share, maxBuffer, (p.text()/2+63)&^63))
}

// openArena takes the memory for the work on a chunk; without bytes it will come from the device as
// it is needed.
func (c *poolDevice) openArena(bytes int64) error {
	if bytes == 0 {
		c.work.give(nil)
		return nil
	}
	a, err := c.k.Device().NewArena(bytes)
	if err != nil {
		return err
	}
	c.free = append(c.free, a.Close)
	c.work.give(a)
	return nil
}

// openSlot takes the memory for the text of a chunk, and a stream.
func (c *poolDevice) openSlot(bytes int) error {
	s, err := c.k.Device().NewStream()
	if err != nil {
		return err
	}
	c.free = append(c.free, s.Close)
	text, err := gpu.Alloc[byte](s, bytes)
	if err != nil {
		return err
	}
	l := &Slot{device: c, s: s, text: text}
	c.free = append(c.free, l.close)
	c.slots = append(c.slots, l)
	return nil
}

// close gives everything back, in the order opposite to that in which it was taken.
func (c *poolDevice) close() error {
	var err error
	for i := len(c.free) - 1; i >= 0; i-- {
		err = errors.Join(err, c.free[i]())
	}
	c.free = nil
	return err
}
