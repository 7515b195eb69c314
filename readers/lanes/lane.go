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
	turn, _ := l.card.fillers.take(file, at)
	if err := ctx.Err(); err != nil { // it may have been a long wait
		l.card.fillers.give(turn)
		return t, err, nil
	}
	began := time.Now()
	filled, err = l.queue(ctx, src, at, n)
	l.card.fillers.give(turn)
	read := time.Now()
	err = cmp.Or(l.s.Synchronize(), err) // the copies are under way
	return Filling{read.Sub(began), time.Since(read)}, filled, err
}

// queue reads bytes of a file and has them copied. They are there once the lane's stream is done with them.
func (l *Lane) queue(ctx context.Context, src io.ReaderAt, off int64, n int) (filled, err error) {
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
		got, read := src.ReadAt(slot.Bytes[:size], off+int64(at))
		if got == size { // at the end of a file an io.ReaderAt may say so
			read = nil
		}
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
