package kernels

import "github.com/vibeflight/vibeflight/gpu"

// scanTile is how many elements a block of scan.cu takes.
const scanTile = 4096

// Count is what can be summed. Sums are 64 bits wide.
type Count interface{ int32 | uint32 | int64 }

// ExclusiveScan sets out[i] to the sum of the elements of in before i.
//
//	in     n elements
//	out    n elements, or n+1, the last of which is the sum of all, or none where only total is wanted
//	total  one element, the sum of all, or none
//
//	in   3 0 2 5
//	out  0 3 3 5 10
//
// in and out may be the same memory. Nothing overflows: what is summed are counts and sizes of things in memory, whose sum is below 2^63.
//
// One launch for up to 4096 elements and two more for each further factor of 4096; reads in twice and writes out once.
func ExclusiveScan[T Count](k *Set, s *gpu.Stream, in gpu.Buffer[T], out, total gpu.Buffer[int64]) error {
	w := k.begin(s, "exclusive scan")
	scan(w, in, out, total)
	return w.done()
}

// scan is ExclusiveScan as a step of another primitive.
func scan[T Count](w *work, in gpu.Buffer[T], out, total gpu.Buffer[int64]) {
	n := in.Len()
	w.need(out.Len() == n || out.Len() == n+1 || out.Len() == 0, "%d sums of %d elements", out.Len(), n)
	w.need(total.Len() <= 1, "%d totals", total.Len())
	var sum, apply string
	switch any(*new(T)).(type) {
	case int32:
		sum, apply = "scan_sums_i32", "scan_apply_i32"
	case uint32:
		sum, apply = "scan_sums_u32", "scan_apply_u32"
	case int64:
		sum, apply = "scan_sums_i64", "scan_apply_i64"
	}
	tiles := max(1, blocks(int64(n), scanTile))
	var sums gpu.Buffer[int64]
	if tiles > 1 {
		sums = take[int64](w, int(tiles))
		w.launch(sum, tiles, block, in.Arg(), gpu.Int(n), sums.Arg())
		if w.err == nil {
			scan(w, sums, sums, gpu.Buffer[int64]{})
		}
	}
	w.launch(apply, tiles, block, in.Arg(), gpu.Int(n), sums.Arg(), out.Arg(), gpu.Int(out.Len()), total.Arg())
}
