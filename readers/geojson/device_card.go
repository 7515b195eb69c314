package geojson

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// card is what a Device keeps for one card.
//
//	file --pread, several at once--> ring --lane's stream--> text of a lane --kernels--> columns --lane's stream--> results --> batches
//
// The ring is small enough to stay in the processor's cache from the read to the copy: reading into larger memory takes twice the time.
type card struct {
	k       *kernels.Set
	ring    *gpu.Ring
	slot    int // its slots' size
	lanes   []*lane
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

// lane is what one chunk on its way needs.
type lane struct {
	card  *card
	s     *gpu.Stream
	text  gpu.Buffer[byte]
	names uploaded // of its last chunk
}

func openCard(k *kernels.Set, p plan) (_ *card, err error) {
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
	for range p.work {
		if err := c.openArena(p.arena); err != nil {
			return nil, err
		}
	}
	for range p.lanes {
		l := &lane{card: c}
		if l.s, err = k.Device().NewStream(); err != nil {
			return nil, err
		}
		c.free = append(c.free, l.s.Close)
		if l.text, err = gpu.Alloc[byte](l.s, int(p.text())); err != nil {
			return nil, err
		}
		c.free = append(c.free, func() error { return errors.Join(l.names.free(l.s), l.text.Free(l.s)) })
		c.lanes = append(c.lanes, l)
	}
	for range resultPieces {
		m, err := k.Device().AllocPinned(int((p.chunk + 63) &^ 63))
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

// close gives everything back, in the order opposite to that in which it was taken.
func (c *card) close() error {
	var err error
	for i := len(c.free) - 1; i >= 0; i-- {
		err = errors.Join(err, c.free[i]())
	}
	c.free = nil
	return err
}

// fill brings n bytes of a file, from off on, to the lane's text. They are there once its stream is done with them. filled is an error of the file or of ctx, err
// one of the card.
func (l *lane) fill(ctx context.Context, src io.ReaderAt, off int64, n int) (filled, err error) {
	var (
		next   atomic.Int64
		failed atomic.Bool
		wait   sync.WaitGroup
		mu     sync.Mutex // of the stream and of the errors
	)
	upload := func(slot *gpu.Slot, at, size int, read error) {
		mu.Lock()
		defer mu.Unlock()
		if read == nil && size > 0 {
			err = cmp.Or(err, gpu.Upload(l.s, l.text.Slice(at, at+size), slot.Bytes[:size]))
		}
		filled, err = cmp.Or(filled, read), cmp.Or(err, slot.Give(l.s))
		failed.Store(filled != nil || err != nil)
	}
	piece := func() bool {
		slot, taken := l.card.ring.Take(ctx)
		if taken != nil {
			mu.Lock()
			defer mu.Unlock()
			if filled = cmp.Or(filled, ctx.Err()); filled == nil {
				err = cmp.Or(err, taken)
			}
			return false
		}
		at := int(next.Add(int64(len(slot.Bytes)))) - len(slot.Bytes)
		size := max(0, min(len(slot.Bytes), n-at))
		_, read := src.ReadAt(slot.Bytes[:size], off+int64(at))
		upload(slot, at, size, read)
		return size > 0 && !failed.Load()
	}
	for range min(ringReaders, n/l.card.slot+1) {
		wait.Go(func() {
			for piece() {
			}
		})
	}
	wait.Wait()
	return filled, err
}
