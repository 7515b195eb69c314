// Package list has the kernels for offsets, ranks and elements of lists.
package list

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// MeasureArrays reports how many bytes the elements of each JSON array have, with a comma after them:
// what JoinArrays writes. Up to 256 blanks before the first element don't count, and an array that
// has nothing else is empty.
//
//	text     n bytes
//	starts   m arrays' opening brackets
//	ends     after their closing ones. An array that does not lie in the text is empty, and so is one whose
//	         bracket is a letter, as of EMPTY in WKT
//	firsts   m elements, overwritten: where the first element begins
//	offsets  m+1 elements, overwritten: bytes of the arrays before each, and of all
//
//	text     {"a":[ 1,2],"b":[ ]}
//	firsts   7 18
//	offsets  0 4 4                   "1,2,"
//
// A launch and a scan; reads 16 bytes an array and writes 16.
func MeasureArrays(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends, firsts,
	offsets gpu.Buffer[int64],
) error {
	w := k.Begin(s, "measure arrays")
	n, m := w.CheckText(text), kernels.CountSpans(w, starts, ends)
	w.Need(int64(offsets.Len()) == m+1 && int64(firsts.Len()) == m, "%d offsets and %d first elements for %d arrays",
		offsets.Len(), firsts.Len(), m)
	w.Launch("arrays_measure", kernels.Blocks(m, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		starts.Arg(), ends.Arg(),
		gpu.Int(m), firsts.Arg(), offsets.Arg())
	if w.Err == nil {
		kernels.Scan(w, offsets.Slice(0, int(m)), offsets, gpu.Buffer[int64]{})
	}
	return w.Done()
}

// JoinArrays writes the elements of arrays one after the other, each array's with a comma after
// them: the elements of all of them as if they were in one array, less its brackets.
//
//	text     n bytes
//	firsts   of m arrays, as MeasureArrays gives them
//	offsets  likewise
//	out      as many bytes as the last offset says; what does not fit is left out
//
// One launch; reads and writes each byte once, and looks for the array of every eighth.
func JoinArrays(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], firsts, offsets gpu.Buffer[int64],
	out gpu.Buffer[byte],
) error {
	w := k.Begin(s, "join arrays")
	n, m, room := w.CheckText(text), firsts.Len(), w.CheckText(out)
	w.Need(offsets.Len() == m+1, "%d offsets for %d arrays", offsets.Len(), m)
	w.Launch("arrays_join", kernels.Blocks(kernels.Blocks(room, 8), kernels.Block), kernels.Block,
		text.Arg(), gpu.Int(n), firsts.Arg(),
		offsets.Arg(), gpu.Int(m), out.Arg(), gpu.Int(room))
	return w.Done()
}

// LowerBounds reports how many elements of a list are below each value.
//
//	sorted  n elements, ascending
//	values  m elements
//	out     m elements, overwritten
//
//	sorted  2 5 5 9
//	values  5 0 10
//	out     1 0 4
//
// One launch; reads 8 bytes a value and some of the list, and writes 8 bytes.
func LowerBounds(k *kernels.Set, s *gpu.Stream, sorted, values, out gpu.Buffer[int64]) error {
	w := k.Begin(s, "lower bounds")
	m := values.Len()
	w.Need(out.Len() == m, "%d places for %d values", out.Len(), m)
	w.Launch("arrays_rank", kernels.Blocks(int64(m), kernels.Block), kernels.Block, sorted.Arg(),
		gpu.Int(sorted.Len()), values.Arg(),
		gpu.Int(m), out.Arg())
	return w.Done()
}
