package kernels

import "github.com/vibeflight/vibeflight/gpu"

// As scan.cu has them.
const (
	scanTile  = 4096  // elements that one of many blocks takes
	scanOne   = 65536 // elements that one block takes, in less time than two launches
	scanTiles = 1024  // tiles that every block adds up by itself
)

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
// in and out may be the same memory. Nothing overflows: what is summed are counts and sizes of
// things in memory, whose sum is below 2^63.
//
// One launch for up to 65,536 elements, two for up to 4 million, and one more for each further
// factor of 4096 or so; reads in twice and writes out once.
func ExclusiveScan[T Count](k *Set, s *gpu.Stream, in gpu.Buffer[T], out, total gpu.Buffer[int64]) error {
	w := k.Begin(s, "exclusive scan")
	Scan(w, in, out, total)
	return w.Done()
}

// Scan is ExclusiveScan as a step of another primitive.
func Scan[T Count](w *Call, in gpu.Buffer[T], out, total gpu.Buffer[int64]) {
	n := in.Len()
	w.Need(out.Len() == n || out.Len() == n+1 || out.Len() == 0, "%d sums of %d elements", out.Len(), n)
	w.Need(total.Len() <= 1, "%d totals", total.Len())
	var kind string
	switch any(*new(T)).(type) {
	case int32:
		kind = "i32"
	case uint32:
		kind = "u32"
	case int64:
		kind = "i64"
	}
	if n <= scanOne {
		w.Launch("scan_one_"+kind, 1, ScanBlock, in.Arg(), gpu.Int(n), out.Arg(), gpu.Int(out.Len()), total.Arg())
		return
	}
	tiles := Blocks(int64(n), scanTile)
	sums := Scratch[int64](w, int(tiles))
	w.Launch("scan_sums_"+kind, tiles, Block, in.Arg(), gpu.Int(n), sums.Arg())
	scanned := 0
	if tiles > scanTiles && w.Err == nil {
		Scan(w, sums, sums, gpu.Buffer[int64]{})
		scanned = 1
	}
	w.Launch("scan_apply_"+kind, tiles, Block, in.Arg(), gpu.Int(n), sums.Arg(), gpu.Int(scanned), out.Arg(),
		gpu.Int(out.Len()), total.Arg())
}
