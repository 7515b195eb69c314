package kernels

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// Element is what Compact moves: 1, 4 or 8 bytes.
type Element interface {
	uint8 | int32 | uint32 | float32 | int64 | uint64 | float64
}

// CountBits reports how many bits of mask are set. It waits for the device.
func (k *Set) CountBits(s *gpu.Stream, mask Mask) (int64, error) {
	w := k.Begin(s, "count bits")
	total := Scratch[int64](w, 1)
	CountTiles(w, mask, total)
	n := ReadOne(w, total)
	return n, w.Done()
}

// Positions lists the set bits of mask.
//
//	mask   words as they are: bits after the last byte are 0, as in every Mask
//	base   is added to each: where the mask's first byte lies in the file, say
//	out    base + i for each set bit i, ascending. What does not fit is left out, what is left of it keeps its garbage
//	count  one element, how many bits are set, whether they fitted or not; or none
//
//	mask   . 1 . . 1 1
//	out    1 4 5          base 0
//
// Reads the mask twice, writes 8 bytes a set bit.
func (k *Set) Positions(s *gpu.Stream, mask Mask, base int64, out, count gpu.Buffer[int64]) error {
	w := k.Begin(s, "positions")
	w.Need(count.Len() <= 1, "%d counts", count.Len())
	Positions(w, mask, CountTiles(w, mask, count), base, out)
	return w.Done()
}

// AllocPositions is Positions into a buffer of the right length, which the caller frees. It waits
// for the device to count.
func (k *Set) AllocPositions(s *gpu.Stream, mask Mask, base int64) (gpu.Buffer[int64], error) {
	w := k.Begin(s, "positions")
	total := Scratch[int64](w, 1)
	before := CountTiles(w, mask, total)
	out := Result[int64](w, ReadOne(w, total))
	Positions(w, mask, before, base, out)
	return Finish(w, out)
}

// Compact keeps the elements of in whose bits of mask are set, in order.
//
//	in     n elements
//	mask   Words(n) words
//	out    the elements that are kept; those that do not fit are left out. Not in's memory
//	count  one element, how many bits are set, or none
//
// Reads the mask twice and each element that is kept once.
func Compact[T Element](k *Set, s *gpu.Stream, in gpu.Buffer[T], mask Mask, out gpu.Buffer[T],
	count gpu.Buffer[int64],
) error {
	w := k.Begin(s, "compact")
	w.CheckMask("mask", mask, int64(in.Len()))
	w.Need(count.Len() <= 1, "%d counts", count.Len())
	before := CountTiles(w, mask, count)
	name := map[uintptr]string{1: "compact_8", 4: "compact_32", 8: "compact_64"}[unsafe.Sizeof(*new(T))]
	w.Launch(name, TilesOf(mask), Block, in.Arg(), mask.Arg(), gpu.Int(mask.Len()), before.Arg(), out.Arg(),
		gpu.Int(out.Len()))
	return w.Done()
}

// TilesOf is how many tiles a mask has.
func TilesOf(mask Mask) int64 { return Blocks(int64(mask.Len()), Block) }

// CountTiles gives the set bits before each tile, and their number to total if it has an element.
func CountTiles(w *Call, mask Mask, total gpu.Buffer[int64]) gpu.Buffer[int64] {
	tiles := TilesOf(mask)
	before := Scratch[int64](w, int(tiles))
	w.Launch("compact_counts", Blocks(tiles, Block/32), Block, mask.Arg(), gpu.Int(mask.Len()), before.Arg())
	Scan(w, before, before, total)
	return before
}

// Positions lists the set bits, of which before lie before each tile.
func Positions(w *Call, mask Mask, before gpu.Buffer[int64], base int64, out gpu.Buffer[int64]) {
	w.Launch("compact_positions", TilesOf(mask), Block, mask.Arg(), gpu.Int(mask.Len()), before.Arg(),
		gpu.Int(base), out.Arg(), gpu.Int(out.Len()))
}

// ReadOne waits for the one element of b.
func ReadOne[T any](w *Call, b gpu.Buffer[T]) T {
	one := HostNote[T](w)
	if w.Err == nil {
		w.Err = w.Set.Fetch(w.Stream, []Piece{PieceOf(one, b)})
	}
	w.Wait()
	return one[0]
}

// HostNote is one element of page-locked memory, for what a kernel tells the host; until the next
// one is asked for.
func HostNote[T any](w *Call) []T {
	if w.Err != nil {
		return make([]T, 1)
	}
	note, err := w.Stream.Note(int(unsafe.Sizeof(*new(T))))
	if err != nil {
		w.Err = err
		return make([]T, 1)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(note))), 1)
}

// Wait waits for all that the stream was given.
func (w *Call) Wait() {
	if w.Err == nil {
		w.Err = w.Stream.Synchronize()
	}
}

// Result returns n elements with undefined contents that outlive the primitive, if it succeeds.
func Result[T any](w *Call, n int64) gpu.Buffer[T] {
	if w.Err != nil {
		return gpu.Buffer[T]{}
	}
	b, err := gpu.Alloc[T](w.Stream, int(n))
	w.Err = err
	return b
}

// Finish is done for a primitive whose result is b, which give gave: the caller's, or freed after
// an error.
func Finish[T any](w *Call, b gpu.Buffer[T]) (gpu.Buffer[T], error) {
	err := w.Done()
	if err != nil {
		_ = b.Free(w.Stream) // the first error is the one to tell
		return gpu.Buffer[T]{}, err
	}
	return b, nil
}
