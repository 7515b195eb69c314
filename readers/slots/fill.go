package slots

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// FillTime is the time to copy a chunk's text: to page-locked memory, and then, after the last byte
// was read, to the device.
type FillTime struct{ Read, Upload time.Duration }

// Fill copies n bytes of a file, from an offset on, to the slot's text, and waits for the copy. It
// first waits for its turn, as Pool.Take does, which does not count. filled is an error of src or
// of ctx, err one of the device.
func (l *Slot) Fill(ctx context.Context, file any, src io.ReaderAt, at int64, n int) (t FillTime, filled, err error) {
	f := &fill{place: place{file, at}, slot: l, ctx: ctx, line: timeline.Of(ctx), src: src, n: n}
	l.device.pieces.read(f)
	read := time.Now()
	defer f.line.Begin("upload", at)()
	err = cmp.Or(l.s.Synchronize(), f.err) // the copies are in flight
	return FillTime{read.Sub(f.began), time.Since(read)}, f.filled, err
}

// fill is the copy of a chunk's text to a slot.
type fill struct {
	place
	slot *Slot
	ctx  context.Context
	line *timeline.Timeline
	src  io.ReaderAt
	n    int
	each int // of a piece

	next   int            // pieces that are not read yet; guarded by pieces
	left   sync.WaitGroup // pieces that are not read
	turn   func()         // ends the wait for the first of them
	began  time.Time      // with it
	read   func()         // ends the reading
	failed atomic.Bool

	mu          sync.Mutex // of the stream and of the errors
	filled, err error
}

// begin ends the wait for the first piece.
func (f *fill) begin() {
	f.turn()
	f.began, f.read = time.Now(), f.line.Begin("read", f.at)
}

// pieces divides texts into pieces, each of which is read into a buffer. Each ring has a reader, a
// goroutine that runs while there is something to read. All readers read the next chunk (see
// foremost) until none of its pieces is left, so that kernels work on it while they read another
// one.
type pieces struct {
	buffer  int // bytes of a ring's buffer
	readers int

	mu    sync.Mutex
	free  []*gpu.Ring
	fills []*fill // with unread pieces, in the order in which they were requested
}

// read queues the reading and copying of a text, and waits until it is read. The copy is complete
// when the slot's stream is.
func (p *pieces) read(f *fill) {
	f.turn, f.read = f.line.Begin("wait for a turn", f.at), func() {}
	f.began, f.each = time.Now(), p.each(f.n)
	n := (f.n + f.each - 1) / f.each
	f.left.Add(n)
	for _, ring := range p.add(f, n) {
		go p.serve(ring)
	}
	f.left.Wait()
	f.read()
}

const (
	minPiece  = 256 << 10
	pageBytes = 4 << 10
)

// each returns the length of the pieces of a text of n bytes: one for each reader, none longer than
// a ring's buffer; a short text has few.
func (p *pieces) each(n int) int {
	return min(p.buffer, max(minPiece, (n/p.readers+pageBytes)&^(pageBytes-1)))
}

// add adds a text of n pieces, and starts readers on the free rings that it can use.
func (p *pieces) add(f *fill, n int) []*gpu.Ring {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > 0 {
		p.fills = append(p.fills, f)
	}
	left := len(p.free) - min(len(p.free), n)
	rings := slices.Clone(p.free[left:])
	p.free = p.free[:left]
	return rings
}

// serve reads pieces until none is left, and returns the ring.
func (p *pieces) serve(ring *gpu.Ring) {
	for {
		f, at := p.take(ring)
		if f == nil {
			return
		}
		if at == 0 {
			f.begin()
		}
		f.piece(ring, at)
		f.left.Done()
	}
}

// take returns the piece that is read next and where it begins in its text. If there is none, the
// ring is free.
func (p *pieces) take(ring *gpu.Ring) (f *fill, at int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fills) == 0 {
		p.free = append(p.free, ring)
		return nil, 0
	}
	i := foremost(p.fills)
	f = p.fills[i]
	at = f.next
	if f.next += f.each; f.next >= f.n {
		p.fills = without(p.fills, i)
	}
	return f, at
}

// piece reads a piece, and queues its copy.
func (f *fill) piece(ring *gpu.Ring, at int) {
	if f.failed.Load() {
		return
	}
	if err := f.ctx.Err(); err != nil { // the wait may have been long
		f.fail(err, nil)
		return
	}
	lent := f.line.Begin("wait for a buffer", f.at)
	// only this reader uses it, and only the device is waited for
	buffer, err := ring.Take(context.WithoutCancel(f.ctx))
	lent()
	if err != nil {
		f.fail(nil, err)
		return
	}
	text := buffer.Bytes[:min(f.each, f.n-at)]
	done := f.line.Begin("read a piece", f.at)
	got, filled := f.src.ReadAt(text, f.at+int64(at))
	done()
	if got == len(text) { // an io.ReaderAt may return io.EOF with the last bytes
		filled = nil
	}
	defer f.line.Begin("queue a piece", f.at)()
	f.fail(filled, f.upload(buffer, at, len(text), filled == nil))
}

// upload returns a buffer once its content is copied.
func (f *fill) upload(buffer *gpu.Slot, at, n int, whole bool) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if whole {
		err = gpu.Upload(f.slot.s, f.slot.text.Slice(at, at+n), buffer.Bytes[:n])
	}
	return cmp.Or(err, buffer.Give(f.slot.s))
}

// fail keeps the first errors, if there are any, and ends the reading.
func (f *fill) fail(filled, err error) {
	if filled == nil && err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filled, f.err = cmp.Or(f.filled, filled), cmp.Or(f.err, err)
	f.failed.Store(true)
}
