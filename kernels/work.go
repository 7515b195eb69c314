package kernels

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/gpu"
)

// work is one primitive on its way to the device: what it launches and the scratch it takes. The
// first error sticks and later steps do nothing.
type work struct {
	k    *Set
	s    *gpu.Stream
	name string // of the primitive, for messages
	free []func() error
	err  error
}

// begin starts a primitive. done ends it, in every case.
func (k *Set) begin(s *gpu.Stream, name string) *work { return &work{k: k, s: s, name: name} }

// fail keeps err if it is the first.
func (w *work) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// need refuses what holds false, in the words of the format.
func (w *work) need(holds bool, format string, args ...any) {
	if !holds {
		w.fail(fmt.Errorf(format, args...))
	}
}

// text checks a chunk of text and gives its length.
func (w *work) text(text gpu.Buffer[byte]) int64 {
	w.need(text.Address()%16 == 0, "text at an address that is no multiple of 16")
	return int64(text.Len())
}

// mask checks that a mask is as long as n bytes of text need.
func (w *work) mask(what string, m Mask, n int64) {
	w.need(int64(m.Len()) == int64(Words(int(n))), "%s of %d words for %d bytes of text", what, m.Len(), n)
}

// carry checks that there is one element, or none.
func carry[T any](w *work, b gpu.Buffer[T]) {
	w.need(b.Len() <= 1, "a carry of %d elements", b.Len())
}

// take gives n elements of scratch, with undefined contents, until done.
func take[T any](w *work, n int) gpu.Buffer[T] {
	if w.err != nil {
		return gpu.Buffer[T]{}
	}
	b, err := gpu.Alloc[T](w.s, n)
	if err != nil {
		w.err = err
		return b
	}
	w.free = append(w.free, func() error { return b.Free(w.s) })
	return b
}

// zeros gives n elements of scratch that are all 0.
func zeros[T any](w *work, n int) gpu.Buffer[T] {
	b := take[T](w, n)
	if w.err == nil {
		w.err = gpu.Fill(w.s, b, 0)
	}
	return b
}

// launch queues a kernel of the .cu files.
func (w *work) launch(name string, grid int64, block int, args ...gpu.Arg) {
	if w.err != nil {
		return
	}
	f, err := w.k.kernel(name)
	if err != nil {
		w.err = err
		return
	}
	w.run(f, grid, block, args...)
}

// run queues a kernel.
func (w *work) run(f *gpu.Kernel, grid int64, block int, args ...gpu.Arg) {
	w.need(grid <= maxGrid, "a grid of %d blocks", grid)
	if w.err == nil {
		w.err = f.Launch(w.s, gpu.Dim{Grid: int(grid), Block: block}, args...)
	}
}

// done gives the scratch back and says what went wrong.
func (w *work) done() error {
	for _, free := range w.free {
		w.err = errors.Join(w.err, free())
	}
	if w.err != nil {
		return fmt.Errorf("%s: %w", w.name, w.err)
	}
	return nil
}

// blocks is how many blocks of each items n items take.
func blocks(n, each int64) int64 { return (n + each - 1) / each }

// countSpans checks the ends of spans and gives their number.
func countSpans[T any](w *work, starts, ends gpu.Buffer[T]) int64 {
	w.need(starts.Len() == ends.Len(), "%d starts and %d ends", starts.Len(), ends.Len())
	return int64(starts.Len())
}

// bits checks that a mask has one bit for each of n items.
func (w *work) bits(what string, m Mask, n int64) {
	w.need(int64(m.Len()) == int64(Words(int(n))), "%s of %d words for %d items", what, m.Len(), n)
}

// join is a list with more behind it; the list keeps its elements.
func join(list []gpu.Arg, more ...gpu.Arg) []gpu.Arg {
	return append(list[:len(list):len(list)], more...)
}
