package list

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// TallyValues is how many counts Tally gives.
const TallyValues = 256

// Tally counts how often each value comes. What must hold for all rows, such as that each has a
// value and all are of one kind, is then read from the counts: a few bytes, that a parser downloads
// with others when it waits anyway.
//
//	values  n bytes
//	among   Words(n) words: bit i says that element i counts; or none, then all do
//	counts  TallyValues elements, overwritten
//
//	values  3 7 3 3 9
//	among   1 1 1 . 1
//	counts  [3] 2  [7] 1  [9] 1, all others 0; their sum is the number of set bits
//
// One launch; reads a byte and a bit an element.
func Tally[T ~uint8](k *kernels.Set, s *gpu.Stream, values gpu.Buffer[T], among kernels.Mask,
	counts gpu.Buffer[int64],
) error {
	const grid = 1024 // blocks fill any device
	w := k.Begin(s, "tally")
	n := int64(values.Len())
	if among.Len() > 0 {
		w.CheckBits("among", among, n)
	}
	w.Need(counts.Len() == TallyValues, "%d counts of %d values", counts.Len(), TallyValues)
	if w.Err == nil {
		w.Err = gpu.Fill(s, counts, 0)
	}
	w.Launch("tally", min(kernels.Blocks(n, kernels.Block), grid), kernels.Block, values.Arg(), gpu.Int(n),
		among.Arg(), counts.Arg())
	return w.Done()
}
