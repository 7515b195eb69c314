package lanes

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// card is what a Pool keeps for one card. The ring is small enough to stay in the processor's cache from the read to the copy: reading into larger memory takes
// twice the time.
type card struct {
	k       *kernels.Set
	ring    *gpu.Ring
	slot    int // its slots' size
	lanes   []*Lane
	fillers queue[struct{}]   // for each chunk whose text comes
	work    queue[*gpu.Arena] // for each chunk that kernels work on
	results pinnedStack
	free    []func() error
}

const (
	ringSlots     = 32
	ringSlotBytes = 2 << 20
	ringReaders   = 6  // that fill slots for one chunk
	ringFillers   = 4  // chunks whose slots are filled at the same time: more would only come later
	resultPieces  = 12 // of a chunk's size each, for columns on their way into batches
)

func openCard(k *kernels.Set, p Plan) (_ *card, err error) {
	c := &card{k: k}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	c.slot = int(min(ringSlotBytes, (p.text()/2+63)&^63))
	if c.ring, err = k.Device().NewRing(ringSlots, c.slot); err != nil {
		return nil, err
	}
	c.free = append(c.free, c.ring.Close)
	for range ringFillers {
		c.fillers.give(struct{}{})
	}
	for range p.Work {
		if err := c.openArena(p.ArenaBytes); err != nil {
			return nil, err
		}
	}
	for range p.Lanes {
		if err := c.openLane(int(p.text())); err != nil {
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

// openArena takes the memory for the work on a chunk; without bytes it will come from the device as it is needed.
func (c *card) openArena(bytes int64) error {
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

// openLane takes the memory for the text of a chunk, and a stream.
func (c *card) openLane(bytes int) error {
	s, err := c.k.Device().NewStream()
	if err != nil {
		return err
	}
	c.free = append(c.free, s.Close)
	text, err := gpu.Alloc[byte](s, bytes)
	if err != nil {
		return err
	}
	l := &Lane{card: c, s: s, text: text}
	c.free = append(c.free, l.close)
	c.lanes = append(c.lanes, l)
	return nil
}

// close gives everything back, in the order opposite to that in which it was taken.
func (c *card) close() error {
	var err error
	for i := len(c.free) - 1; i >= 0; i-- {
		err = errors.Join(err, c.free[i]())
	}
	c.free = nil
	return err
}
