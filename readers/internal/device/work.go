package device

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/resident"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Work is the work on one chunk of whole rows. Every step reports what it does not accept; then the
// chunk is refused as a whole. The first error or refusal is kept, and after it the functions here
// do nothing. Code that queues work checks Stopped before it uses their results.
type Work struct {
	K    *kernels.Set
	S    *gpu.Stream
	Text gpu.Buffer[byte] // of the chunk
	At   int64            // its offset in the file

	// its ranges of other files; aligned to 16 bytes, like Text
	Pieces []gpu.Buffer[byte]

	slot  *slots.Slot
	out   *slots.Result
	keep  *resident.Writer // nil: no column stays on the device
	short []kernels.Piece  // results that arrive with the next Await
	line  *timeline.Timeline
	free  []func() error
	after []func()
	err   error  // of the device
	why   string // of the refusal
}

// read calls the format's Read, and returns the complete part, or the reason for a refusal. An
// error is one of the device.
func (w *Work) read(chunks Chunks) (part readers.Part, why string, err error) {
	whole := false
	defer func() {
		if !whole { // even after a panic, copies may be in flight to memory that is reused next
			_ = w.S.Synchronize() // the first error is known
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
	kept, err := w.keep.Part(part.Columns)
	if w.Try(err); kept != nil {
		w.Await()
	}
	if w.Stopped() {
		return readers.Part{}, w.why, w.err
	}
	whole = true
	part.Release, part.Resident = w.out.Give, kept
	return part, "", nil
}

// Stopped reports whether the work has failed or was refused.
func (w *Work) Stopped() bool { return w.err != nil || w.why != "" }

// Try keeps the first error of the device.
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

// Await waits for all queued work of the device.
func (w *Work) Await() {
	if !w.Stopped() {
		defer w.line.Begin("wait for kernels", w.At)()
		w.Try(w.S.Synchronize())
	}
}

// Bring queues copies of all results so far, so that their memory can be reused by later work.
func (w *Work) Bring() { w.Try(w.bring()) }

// bring queues copies of short results.
func (w *Work) bring() error {
	pieces := w.short
	w.short = w.short[:0]
	if w.Stopped() {
		return nil // they are not read
	}
	return w.K.Fetch(w.S, pieces)
}

// Later frees a resource at the end of the work, whatever happens.
func (w *Work) Later(free func() error) { w.free = append(w.free, free) }

// After registers a function that runs, in the order of the calls, once all results have arrived.
// It may refuse the chunk.
func (w *Work) After(look func()) { w.after = append(w.after, look) }

// Alloc allocates device memory until the end of the work.
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

// Read waits for the elements of b, and returns them on the heap.
func Read[T any](w *Work, b gpu.Buffer[T]) []T {
	if w.Stopped() {
		return nil
	}
	out, err := gpu.Read(w.S, b)
	w.Try(err)
	return out
}

// shortBytes is the maximum size of a result that a kernel stores to the host together with others.
// A copy by the driver costs 13 µs of CPU time, a launch half of that; copy engines are better for
// long results.
const shortBytes = 64 << 10

// Result queues a copy of the elements of b to page-locked memory, which the part owns until its
// Release. It is complete after the next Await. Until then, or until Bring, b must not change.
func Result[T any](w *Work, b gpu.Buffer[T]) []T {
	if w.Stopped() || b.Len() == 0 {
		return nil
	}
	out, locked := slots.Cut[T](w.out, b.Len())
	if p := kernels.PieceOf(out, b); locked && p.Bytes() <= shortBytes {
		w.short = append(w.short, p)
		w.S.Ahead(w.bring)
		return out
	}
	if !locked { // the driver waits for such a copy
		defer w.line.Begin("copy to memory that is not page-locked", w.At)()
	}
	w.Try(gpu.Download(w.S, out, b))
	return out
}

// Keep returns the value that the format keeps on the slot from chunk to chunk, one for each type,
// at first a zero T. Its memory is allocated from the device, not from the chunk's arena: call
// s.Use(nil) before, and s.Use with its result afterwards. Its Free is called when the slots are
// closed.
func Keep[T any, P interface {
	*T
	Free(*gpu.Stream) error
}](w *Work) *T {
	return slots.Keep[T, P](w.slot)
}
