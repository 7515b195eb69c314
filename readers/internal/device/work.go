package device

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Work is the work on one chunk of whole rows. Every step says what it does not accept; then the
// chunk is refused, and nothing of it counts. What goes wrong first is what is told, and from then
// on the functions here do nothing: who queues work looks at Stopped before it reads what they
// gave.
type Work struct {
	K    *kernels.Set
	S    *gpu.Stream
	Text gpu.Buffer[byte] // of the chunk
	At   int64            // its offset in the file

	// what belongs to it from other files; their addresses are multiples of 16 bytes, as that of
	// Text
	Pieces []gpu.Buffer[byte]

	slot  *slots.Slot
	out   *slots.Result
	short []kernels.Piece // results that the next Await has brought
	line  *timeline.Timeline
	free  []func() error
	after []func()
	err   error  // of the device
	why   string // of the refusal
}

// read has the format read the chunk, and returns the part once it is whole, or says why there is
// none. An error is one of the device.
func (w *Work) read(chunks Chunks) (part readers.Part, why string, err error) {
	whole := false
	defer func() {
		if !whole { // copies may be under way to memory that others get now, after a panic too
			_ = w.S.Synchronize() // what went wrong is known
		}
		for _, free := range w.free {
			w.Try(free())
		}
		if w.err != nil {
			part, why, err = readers.Part{}, w.err.Error(), w.err
		}
		if !whole || err != nil {
			w.out.Give()
		}
	}()
	chunks.Read(w, &part)
	w.Await()
	for _, look := range w.after {
		if !w.Stopped() {
			look()
		}
	}
	if w.Stopped() {
		return readers.Part{}, w.why, w.err
	}
	whole = true
	part.Release = w.out.Give
	return part, "", nil
}

// Stopped reports whether there is nothing more to do.
func (w *Work) Stopped() bool { return w.err != nil || w.why != "" }

// Try keeps the first error of the device. Work that goes on after it is refused.
func (w *Work) Try(err error) {
	if err != nil && !w.Stopped() {
		w.err = err
	}
}

// Accept refuses the chunk unless ok.
func (w *Work) Accept(ok bool, why string) {
	if !ok && !w.Stopped() {
		w.why = why
	}
}

// Await waits for all that the device was given.
func (w *Work) Await() {
	if !w.Stopped() {
		defer w.line.Begin("wait for kernels", w.At)()
		w.Try(w.S.Synchronize())
	}
}

// Bring has the results so far copied, all of them: what they are in may serve something else
// after it.
func (w *Work) Bring() { w.Try(w.bring()) }

// bring has short results copied.
func (w *Work) bring() error {
	pieces := w.short
	w.short = w.short[:0]
	if w.Stopped() {
		return nil // nobody reads them
	}
	return w.K.Fetch(w.S, pieces)
}

// Later has something freed at the end, whatever happens.
func (w *Work) Later(free func() error) { w.free = append(w.free, free) }

// After has something done, in the order of the calls, once all results are there. It may refuse
// the chunk, too.
func (w *Work) After(look func()) { w.after = append(w.after, look) }

// Alloc takes memory of the device until the end of the work.
func Alloc[T any](w *Work, n int) gpu.Buffer[T] {
	if w.Stopped() {
		return gpu.Buffer[T]{}
	}
	b, err := gpu.Alloc[T](w.S, n)
	w.Try(err)
	if err == nil {
		w.Later(func() error { return b.Free(w.S) })
	}
	return b
}

// Read waits for the elements of b, which it gives on the heap.
func Read[T any](w *Work, b gpu.Buffer[T]) []T {
	if w.Stopped() {
		return nil
	}
	out, err := gpu.Read(w.S, b)
	w.Try(err)
	return out
}

// shortBytes are as many as go together with other results to the host. A copy of the driver's
// costs 13 µs of a processor's time, a launch half of that; long ones are better left to the
// device's copy engines.
const shortBytes = 64 << 10

// Result has the elements of b copied into page-locked memory, which is the part's until its
// Release; they are there after the next Await. Until then, or until Bring, b stays as it is.
func Result[T any](w *Work, b gpu.Buffer[T]) []T {
	if w.Stopped() || b.Len() == 0 {
		return nil
	}
	out, locked := slots.Cut[T](w.out, b.Len())
	if p := kernels.PieceOf(out, b); locked && p.Bytes() <= shortBytes {
		w.short = append(w.short, p)
		w.S.Ahead(w.bring)
	} else {
		w.Try(gpu.Download(w.S, out, b))
	}
	return out
}

// Keep gives what the format keeps on the slot from chunk to chunk, of which there is one for each
// type: a zero T at first. It is allocated from the device and not from the chunk's arena:
// s.Use(nil) before, and what that gave after. Its Free is called when the slots are closed.
func Keep[T any, P interface {
	*T
	Free(*gpu.Stream) error
}](w *Work) *T {
	return slots.Keep[T, P](w.slot)
}
