package list

import (
	"strconv"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Gather sets out[i] to from[index[i]].
//
//	from   n elements
//	index  m elements. One outside of [0, n) gives 0, so that -1 may stand for nothing
//	out    m elements, overwritten. Not the memory of the others
//
//	from   7 8 9
//	index  2 -1 0 0
//	out    9  0 7 7
//
// Reads 8 bytes and an element, and writes one, for each index.
func Gather[T kernels.Element](k *kernels.Set, s *gpu.Stream, from gpu.Buffer[T], index gpu.Buffer[int64],
	out gpu.Buffer[T],
) error {
	w := k.Begin(s, "gather")
	m := int64(index.Len())
	w.Need(int64(out.Len()) == m, "%d elements for %d indexes", out.Len(), m)
	w.Launch("gather_"+bitsOf[T](), kernels.Blocks(m, kernels.Block), kernels.Block, from.Arg(),
		gpu.Int(from.Len()), index.Arg(),
		gpu.Int(m), out.Arg())
	return w.Done()
}

// NarrowInt32 makes integers of 32 bits of such of 64. One that they do not hold becomes the
// nearest one that they do.
//
//	in   n elements
//	out  n elements, overwritten
//
// Reads 8 bytes an element and writes 4.
func NarrowInt32(k *kernels.Set, s *gpu.Stream, in gpu.Buffer[int64], out gpu.Buffer[int32]) error {
	w := k.Begin(s, "narrow to int32")
	n := int64(in.Len())
	w.Need(int64(out.Len()) == n, "%d elements into %d", n, out.Len())
	w.Launch("gather_narrow", kernels.Blocks(n, kernels.Block), kernels.Block, in.Arg(), gpu.Int(n), out.Arg())
	return w.Done()
}

// bitsOf is how many bits an element has, as the names of kernels have it.
func bitsOf[T kernels.Element]() string { return strconv.Itoa(8 * int(unsafe.Sizeof(*new(T)))) }
