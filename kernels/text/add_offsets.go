package text

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// AddOffsets adds the offsets of one column of strings to those of another one, so that the strings
// of both, of which one is empty in each row, are one column.
//
//	offsets  n elements, overwritten: the sums
//	more     n elements
//
// GatherStrings writes each of the two columns to its place, At the sums.
func AddOffsets(k *kernels.Set, s *gpu.Stream, offsets, more gpu.Buffer[int64]) error {
	w := k.Begin(s, "add offsets")
	n := int64(offsets.Len())
	w.Need(int64(more.Len()) == n, "%d offsets and %d more", n, more.Len())
	w.Launch("add_offsets", kernels.Blocks(n, kernels.Block), kernels.Block, offsets.Arg(), gpu.Int(n), more.Arg())
	return w.Done()
}
