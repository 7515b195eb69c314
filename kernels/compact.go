package kernels

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// Element is what Compact moves: 1, 4 or 8 bytes.
type Element interface {
	uint8 | int32 | uint32 | float32 | int64 | uint64 | float64
}

// CountBits says how many bits of mask are set. It waits for the device.
func (k *Set) CountBits(s *gpu.Stream, mask Mask) (int64, error) {
	w := k.begin(s, "count bits")
	total := take[int64](w, 1)
	countTiles(w, mask, total)
	n := only(w, total)
	return n, w.done()
}

// Positions lists the set bits of mask.
//
//	mask   words as they are: bits behind the last byte are 0, as in every Mask
//	base   is added to each: where the mask's first byte lies in the file, say
//	out    base + i for each set bit i, ascending. What does not fit is left out, what is left of it keeps its garbage
//	count  one element, how many bits are set, whether they fitted or not; or none
//
//	mask   . 1 . . 1 1
//	out    1 4 5          base 0
//
// Reads the mask twice, writes 8 bytes a set bit.
func (k *Set) Positions(s *gpu.Stream, mask Mask, base int64, out, count gpu.Buffer[int64]) error {
	w := k.begin(s, "positions")
	w.need(count.Len() <= 1, "%d counts", count.Len())
	positions(w, mask, countTiles(w, mask, count), base, out)
	return w.done()
}

// AllocPositions is Positions into a buffer of the right length, which the caller frees. It waits
// for the device to count.
func (k *Set) AllocPositions(s *gpu.Stream, mask Mask, base int64) (gpu.Buffer[int64], error) {
	w := k.begin(s, "positions")
	total := take[int64](w, 1)
	before := countTiles(w, mask, total)
	out := give[int64](w, only(w, total))
	positions(w, mask, before, base, out)
	return handed(w, out)
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
	w := k.begin(s, "compact")
	w.mask("mask", mask, int64(in.Len()))
	w.need(count.Len() <= 1, "%d counts", count.Len())
	before := countTiles(w, mask, count)
	name := map[uintptr]string{1: "compact_8", 4: "compact_32", 8: "compact_64"}[unsafe.Sizeof(*new(T))]
	w.launch(name, tilesOf(mask), block, in.Arg(), mask.Arg(), gpu.Int(mask.Len()), before.Arg(), out.Arg(),
		gpu.Int(out.Len()))
	return w.done()
}

// tilesOf is how many tiles a mask has.
func tilesOf(mask Mask) int64 { return blocks(int64(mask.Len()), block) }

// countTiles gives the set bits before each tile, and their number to total if it has an element.
func countTiles(w *work, mask Mask, total gpu.Buffer[int64]) gpu.Buffer[int64] {
	tiles := tilesOf(mask)
	before := take[int64](w, int(tiles))
	w.launch("compact_counts", blocks(tiles, block/32), block, mask.Arg(), gpu.Int(mask.Len()), before.Arg())
	scan(w, before, before, total)
	return before
}

// positions lists the set bits, of which before lie before each tile.
func positions(w *work, mask Mask, before gpu.Buffer[int64], base int64, out gpu.Buffer[int64]) {
	w.launch("compact_positions", tilesOf(mask), block, mask.Arg(), gpu.Int(mask.Len()), before.Arg(),
		gpu.Int(base), out.Arg(), gpu.Int(out.Len()))
}

// only waits for the one element of b.
func only[T any](w *work, b gpu.Buffer[T]) T {
	one := noted[T](w)
	if w.err == nil {
		w.err = w.k.Fetch(w.s, []Piece{PieceOf(one, b)})
	}
	w.wait()
	return one[0]
}

// noted is one element of page-locked memory, for what a kernel tells the host; until the next one
// is asked for.
func noted[T any](w *work) []T {
	if w.err != nil {
		return make([]T, 1)
	}
	note, err := w.s.Note(int(unsafe.Sizeof(*new(T))))
	if err != nil {
		w.err = err
		return make([]T, 1)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(note))), 1)
}

// wait waits for all that the stream was given.
func (w *work) wait() {
	if w.err == nil {
		w.err = w.s.Synchronize()
	}
}

// give gives n elements with undefined contents that outlive the primitive, if it succeeds.
func give[T any](w *work, n int64) gpu.Buffer[T] {
	if w.err != nil {
		return gpu.Buffer[T]{}
	}
	b, err := gpu.Alloc[T](w.s, int(n))
	w.err = err
	return b
}

// handed is done for a primitive whose result is b, which give gave: the caller's, or freed after
// an error.
func handed[T any](w *work, b gpu.Buffer[T]) (gpu.Buffer[T], error) {
	err := w.done()
	if err != nil {
		_ = b.Free(w.s) // the first error is the one to tell
		return gpu.Buffer[T]{}, err
	}
	return b, nil
}
