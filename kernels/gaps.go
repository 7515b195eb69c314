package kernels

import "github.com/vibeflight/vibeflight/gpu"

// LongestGap gives how many bytes the longest of spans has, each of which ends where the next one
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
func (k *Set) LongestGap(s *gpu.Stream, starts gpu.Buffer[int64], end int64, longest gpu.Buffer[int64]) error {
	w := k.begin(s, "longest gap")
	n := int64(starts.Len())
	w.need(longest.Len() == 1, "%d elements for the longest gap", longest.Len())
	if w.err == nil {
		w.err = gpu.Fill(s, longest, 0)
	}
	w.launch("gaps_longest", blocks(n, block), block, starts.Arg(), gpu.Int(n), gpu.Int(end), longest.Arg())
	return w.done()
}
