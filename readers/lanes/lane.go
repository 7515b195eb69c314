package lanes

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Lane is what one chunk on its way needs. Whoever took it has it alone.
type Lane struct {
	card *card
	s    *gpu.Stream
	text gpu.Buffer[byte]
	kept []kept
}

// kept is what a format leaves on the device from chunk to chunk.
type kept interface{ Free(*gpu.Stream) error }

// Kernels are those of the lane's card.
func (l *Lane) Kernels() *kernels.Set { return l.card.k }

// Stream orders the work on the lane's chunk.
func (l *Lane) Stream() *gpu.Stream { return l.s }

// Text is the lane's memory for text. Behind what Fill brought it holds whatever it held.
func (l *Lane) Text() gpu.Buffer[byte] { return l.text }

// Result gives page-locked memory for the columns of a chunk. The caller gives it back, which may be long after the lane.
func (l *Lane) Result() *Result { return &Result{from: &l.card.results} }

// Keep gives what a format keeps on the lane from chunk to chunk, of which there is one for each type: a zero T at first. It outlives the arena, so it is
// allocated while the stream uses none (gpu.Stream.Use). Pool.Close calls its Free.
func Keep[T any, P interface {
	*T
	Free(*gpu.Stream) error
}](l *Lane) *T {
	for _, k := range l.kept {
		if p, ok := k.(P); ok {
			return p
		}
	}
	p := P(new(T))
	l.kept = append(l.kept, p)
	return p
}

// close gives the lane's memory back.
func (l *Lane) close() error {
	var err error
	for _, k := range l.kept {
		err = errors.Join(err, k.Free(l.s))
	}
	return errors.Join(err, l.text.Free(l.s))
}

// Filling is how long it took to bring a chunk's text: to page-locked memory, and from there to the card behind the last byte that was read.
type Filling struct{ Read, Upload time.Duration }

// Fill brings n bytes of a file, from an offset on, to the lane's text, and waits for them. It waits for its turn first, as Pool.Take does; that is not
// counted. filled is an error of src or of ctx, err one of the card.
func (l *Lane) Fill(ctx context.Context, file any, src io.ReaderAt, at int64, n int) (t Filling, filled, err error) {
	f := fill{lane: l, ctx: ctx, line: timeline.Of(ctx), file: file, src: src, at: at, n: n}
	began := f.read()
	read := time.Now()
	defer f.line.Begin("upload", at)()
	err = cmp.Or(l.s.Synchronize(), f.err) // the copies are under way
	return Filling{read.Sub(began), time.Since(read)}, f.filled, err
}

// fill is the text of a chunk on its way to a lane.
type fill struct {
	lane *Lane
	ctx  context.Context
	line *timeline.Timeline
	file any
	src  io.ReaderAt
	at   int64
	n    int

	next   atomic.Int64 // what nobody reads yet
	failed atomic.Bool

	mu          sync.Mutex // of the stream and of the errors
	filled, err error
}

// read reads the text and has it copied, as soon as there are readers, and says since when. It is there once the lane's stream is done.
func (f *fill) read() (began time.Time) {
	var wait sync.WaitGroup
	var first sync.Once
	done := func() {}
	for range min(readersAtOnce, (f.n+f.lane.card.slot-1)/f.lane.card.slot) {
		wait.Go(func() {
			lent := f.line.Begin("wait for a turn", f.at)
			ring, _ := f.lane.card.readers.take(f.file, f.at)
			lent()
			defer f.lane.card.readers.give(ring)
			first.Do(func() { began, done = time.Now(), f.line.Begin("read", f.at) })
			for !f.failed.Load() && f.piece(ring) {
			}
		})
	}
	wait.Wait()
	done()
	first.Do(func() { began = time.Now() })
	return began
}

// piece reads what fits a slot, and reports whether there was anything left to be read.
func (f *fill) piece(ring *gpu.Ring) bool {
	at := int(f.next.Add(int64(f.lane.card.slot))) - f.lane.card.slot
	if at >= f.n {
		return false
	}
	if err := f.ctx.Err(); err != nil { // it may have been a long wait
		f.fail(err, nil)
		return false
	}
	lent := f.line.Begin("wait for a slot", f.at)
	slot, err := ring.Take(context.WithoutCancel(f.ctx)) // it is the reader's alone, and only the card is waited for
	lent()
	if err != nil {
		f.fail(nil, err)
		return false
	}
	text := slot.Bytes[:min(len(slot.Bytes), f.n-at)]
	done := f.line.Begin("read a piece", f.at)
	got, filled := f.src.ReadAt(text, f.at+int64(at))
	done()
	if got == len(text) { // at the end of a file an io.ReaderAt may say so
		filled = nil
	}
	defer f.line.Begin("queue a piece", f.at)()
	f.fail(filled, f.upload(slot, at, len(text), filled == nil))
	return true
}

// upload gives a slot back once what it holds is copied.
func (f *fill) upload(slot *gpu.Slot, at, n int, whole bool) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if whole {
		err = gpu.Upload(f.lane.s, f.lane.text.Slice(at, at+n), slot.Bytes[:n])
	}
	return cmp.Or(err, slot.Give(f.lane.s))
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

// Work waits for memory for the work of kernels on the lane's chunk, as Pool.Take does, and has buffers of the lane's stream come from it while do runs. do
// frees them and waits for the stream, or knows that nobody writes to them.
func (l *Lane) Work(file any, at int64, do func()) {
	arena, _ := l.card.work.take(file, at)
	l.s.Use(arena)
	defer func() {
		l.s.Use(nil)
		l.card.work.give(arena)
	}()
	do()
}
