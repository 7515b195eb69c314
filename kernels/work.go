package kernels

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/gpu"
)

// Call is one primitive on its way to the device: what it launches and the scratch it takes. The
// first error sticks and later steps do nothing.
type Call struct {
	Set    *Set
	Stream *gpu.Stream
	name   string // of the primitive, for messages
	free   []func() error
	Err    error
}

// Begin starts a primitive. done ends it, in every case.
func (k *Set) Begin(s *gpu.Stream, name string) *Call { return &Call{Set: k, Stream: s, name: name} }

// Fail keeps err if it is the first.
func (w *Call) Fail(err error) {
	if w.Err == nil {
		w.Err = err
	}
}

// Need refuses what holds false, in the words of the format.
func (w *Call) Need(holds bool, format string, args ...any) {
	if !holds {
		w.Fail(fmt.Errorf(format, args...))
	}
}

// CheckText checks a chunk of text and gives its length.
func (w *Call) CheckText(text gpu.Buffer[byte]) int64 {
	w.Need(text.Address()%16 == 0, "text at an address that is no multiple of 16")
	return int64(text.Len())
}

// CheckMask checks that a mask is as long as n bytes of text need.
func (w *Call) CheckMask(what string, m Mask, n int64) {
	w.Need(int64(m.Len()) == int64(Words(int(n))), "%s of %d words for %d bytes of text", what, m.Len(), n)
}

// CheckCarry checks that there is one element, or none.
func CheckCarry[T any](w *Call, b gpu.Buffer[T]) {
	w.Need(b.Len() <= 1, "a carry of %d elements", b.Len())
}

// Scratch returns n elements of scratch, with undefined contents, until done.
func Scratch[T any](w *Call, n int) gpu.Buffer[T] {
	if w.Err != nil {
		return gpu.Buffer[T]{}
	}
	b, err := gpu.Alloc[T](w.Stream, n)
	if err != nil {
		w.Err = err
		return b
	}
	w.free = append(w.free, func() error { return b.Free(w.Stream) })
	return b
}

// ZeroScratch returns n elements of scratch that are all 0.
func ZeroScratch[T any](w *Call, n int) gpu.Buffer[T] {
	b := Scratch[T](w, n)
	if w.Err == nil {
		w.Err = gpu.Fill(w.Stream, b, 0)
	}
	return b
}

// Launch queues a kernel of the .cu files.
func (w *Call) Launch(name string, grid int64, block int, args ...gpu.Arg) {
	if w.Err != nil {
		return
	}
	f, err := w.Set.kernel(name)
	if err != nil {
		w.Err = err
		return
	}
	w.LaunchKernel(f, grid, block, args...)
}

// LaunchKernel queues a kernel.
func (w *Call) LaunchKernel(f *gpu.Kernel, grid int64, block int, args ...gpu.Arg) {
	w.Need(grid <= maxGrid, "a grid of %d blocks", grid)
	if w.Err == nil {
		w.Err = f.Launch(w.Stream, gpu.Dim{Grid: int(grid), Block: block}, args...)
	}
}

// Done gives the scratch back and says what went wrong.
func (w *Call) Done() error {
	for _, free := range w.free {
		w.Err = errors.Join(w.Err, free())
	}
	if w.Err != nil {
		return fmt.Errorf("%s: %w", w.name, w.Err)
	}
	return nil
}

// Blocks is how many blocks of each items n items take.
func Blocks(n, each int64) int64 { return (n + each - 1) / each }

// CountSpans checks the ends of spans and gives their number.
func CountSpans[T any](w *Call, starts, ends gpu.Buffer[T]) int64 {
	w.Need(starts.Len() == ends.Len(), "%d starts and %d ends", starts.Len(), ends.Len())
	return int64(starts.Len())
}

// CheckBits checks that a mask has one bit for each of n items.
func (w *Call) CheckBits(what string, m Mask, n int64) {
	w.Need(int64(m.Len()) == int64(Words(int(n))), "%s of %d words for %d items", what, m.Len(), n)
}

// JoinArgs returns list followed by more, and does not change list.
func JoinArgs(list []gpu.Arg, more ...gpu.Arg) []gpu.Arg {
	return append(list[:len(list):len(list)], more...)
}
