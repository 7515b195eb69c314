package list

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// ShiftOffsets adds a number to offsets: those of lists whose elements follow others.
//
//	from  n elements
//	by    added to each. The sums fit int32
//	to    n elements, overwritten
//
//	from    0 2 5
//	by      7
//	to      7 9 12
//
// Reads 4 bytes an element and writes 4.
func ShiftOffsets(k *kernels.Set, s *gpu.Stream, from gpu.Buffer[int32], by int32, to gpu.Buffer[int32]) error {
	w := k.Begin(s, "shift offsets")
	n := int64(from.Len())
	w.Need(int64(to.Len()) == n, "%d offsets into %d", n, to.Len())
	w.Launch("shift_offsets", kernels.Blocks(n, kernels.Block), kernels.Block, from.Arg(), gpu.Int(n),
		gpu.Int(int(by)), to.Arg())
	return w.Done()
}
