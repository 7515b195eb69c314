package list

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// LongestGap returns how many bytes the longest of spans has, each of which ends where the next one
// begins.
//
//	starts   n elements, ascending
//	end      of the last span
//	longest  one element, overwritten; 0 if there is none
//
//	starts   3 5 12, end 14
//	longest  7
//
// One launch; reads 8 bytes a span.
func LongestGap(k *kernels.Set, s *gpu.Stream, starts gpu.Buffer[int64], end int64, longest gpu.Buffer[int64]) error {
	w := k.Begin(s, "longest gap")
	n := int64(starts.Len())
	w.Need(longest.Len() == 1, "%d elements for the longest gap", longest.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, longest, 0)
	}
	w.Launch("gaps_longest", kernels.Blocks(n, kernels.Block), kernels.Block, starts.Arg(), gpu.Int(n),
		gpu.Int(end), longest.Arg())
	return w.Done()
}
