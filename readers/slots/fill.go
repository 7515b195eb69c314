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

// FillTime is how long it took to bring a chunk's text: to page-locked memory, and from there to
// the device after the last byte that was read.
type FillTime struct{ Read, Upload time.Duration }

// Fill brings n bytes of a file, from an offset on, to the slot's text, and waits for them. It
// waits for its turn first, as Pool.Take does; that is not counted. filled is an error of src or of
// ctx, err one of the device.
func (l *Slot) Fill(ctx context.Context, file any, src io.ReaderAt, at int64, n int) (t FillTime, filled, err error) {
	f := &fill{place: place{file, at}, slot: l, ctx: ctx, line: timeline.Of(ctx), src: src, n: n}
	l.device.pieces.read(f)
	read := time.Now()
	defer f.line.Begin("upload", at)()
	err = cmp.Or(l.s.Synchronize(), f.err) // the copies are under way
	return FillTime{read.Sub(f.began), time.Since(read)}, f.filled, err
}

// fill is the text of a chunk on its way to a slot.
type fill struct {
	place
	slot *Slot
	ctx  context.Context
	line *timeline.Timeline
	src  io.ReaderAt
	n    int
	each int // of a piece

	next   int            // what nobody reads yet; pieces guards it
	left   sync.WaitGroup // pieces that are not read
	turn   func()         // ends the wait for the first of them
	began  time.Time      // with it
	read   func()         // ends the reading
	failed atomic.Bool

	mu          sync.Mutex // of the stream and of the errors
	filled, err error
}

// begin says that the first piece is about to be read.
func (f *fill) begin() {
	f.turn()
	f.began, f.read = time.Now(), f.line.Begin("read", f.at)
}

// pieces are what texts are read in, each into a buffer. There is a reader for each ring: a
// goroutine, as long as there is something to read. All of them read the chunk that is next (see
// foremost) until none of its pieces is left, so that kernels get to work on it while they read
// another one.
type pieces struct {
	buffer  int // bytes of a ring's buffer
	readers int

	mu    sync.Mutex
	free  []*gpu.Ring
	fills []*fill // with pieces that nobody reads yet, in the order in which they were requested
}

// read has a text read and copied, and waits until it is read. It is there once the slot's stream
// is done.
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

// each returns how long the pieces of a text of n bytes are: there is one for each reader, none is
// longer than a slot, and a short text is left to few.
func (p *pieces) each(n int) int {
	return min(p.buffer, max(minPiece, (n/p.readers+pageBytes)&^(pageBytes-1)))
}

// add adds a text of n pieces, and takes the rings that are free and of use for it.
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

// serve reads pieces until nobody wants any, and returns the ring back.
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

// piece reads a piece, and has it copied.
func (f *fill) piece(ring *gpu.Ring, at int) {
	if f.failed.Load() {
		return
	}
	if err := f.ctx.Err(); err != nil { // it may have been a long wait
		f.fail(err, nil)
		return
	}
	lent := f.line.Begin("wait for a buffer", f.at)
	// it is the reader's alone, and only the device is waited for
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
	if got == len(text) { // at the end of a file an io.ReaderAt may say so
		filled = nil
	}
	defer f.line.Begin("queue a piece", f.at)()
	f.fail(filled, f.upload(buffer, at, len(text), filled == nil))
}

// upload returns a buffer back once what it holds is copied.
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
