package kernels

import "github.com/vibeflight/vibeflight/gpu"

// ScatterCounts makes the offsets of a list column from the counts of those rows that own
// something.
//
//	rows     the rows, ascending or not; one that comes twice owns both counts, one outside of [0, n) is left out
//	counts   what each owns, or none: one item each. A negative count is none
//	offsets  n+1 elements, overwritten: items of the rows before each row, and of all
//
//	rows     3 0     n = 4
//	counts   2 5
//	offsets  0 5 5 5 7
//
// A row that is not named is an empty list, and never takes from its neighbours. Reads 12 bytes an
// entry, and writes and scans 8 bytes a row.
func (k *Set) ScatterCounts(s *gpu.Stream, rows gpu.Buffer[int64], counts gpu.Buffer[int32],
	offsets gpu.Buffer[int64],
) error {
	w := k.begin(s, "scatter counts")
	w.need(counts.Len() == 0 || counts.Len() == rows.Len(), "%d counts for %d rows", counts.Len(), rows.Len())
	w.need(offsets.Len() > 0, "no offset")
	if w.err == nil {
		w.err = gpu.Fill(s, offsets, 0)
	}
	if w.err == nil {
		sizes := offsets.Slice(0, offsets.Len()-1)
		w.launch("offsets_counts", blocks(int64(rows.Len()), block), block, rows.Arg(), counts.Arg(),
			gpu.Int(rows.Len()), offsets.Arg(), gpu.Int(sizes.Len()))
		scan(w, sizes, offsets, gpu.Buffer[int64]{})
	}
	return w.done()
}

// ListOffsets makes the offsets of a list column from the row of each item.
//
//	rows     the row of each item, ascending
//	offsets  n+1 elements, overwritten: the items of rows below 0, of rows below 1, ..., of rows below n
//
//	rows     0 0 0 2     n = 4
//	offsets  0 3 3 4 4
//
// One thread an offset, each of which looks at a few items however many a row owns. Reads 8 bytes
// an item, writes 8 bytes a row.
func (k *Set) ListOffsets(s *gpu.Stream, rows, offsets gpu.Buffer[int64]) error {
	w := k.begin(s, "list offsets")
	w.need(offsets.Len() > 0, "no offset")
	w.launch("offsets_lists", blocks(int64(offsets.Len()), block), block, rows.Arg(), gpu.Int(rows.Len()),
		offsets.Arg(), gpu.Int(offsets.Len()-1))
	return w.done()
}

// NarrowOffsets makes the offsets of Arrow's List of those of its LargeList.
//
//	wide      n+1 offsets, ascending
//	narrow    as many, overwritten; an offset of 2^31 and more becomes 2^31-1
//	overflow  one element, overwritten: 1 if there is such an offset, and narrow is of no use
//
// Reads 8 bytes an offset and writes 4.
func (k *Set) NarrowOffsets(s *gpu.Stream, wide gpu.Buffer[int64], narrow gpu.Buffer[int32],
	overflow gpu.Buffer[uint32],
) error {
	w := k.begin(s, "narrow offsets")
	w.need(wide.Len() > 0 && narrow.Len() == wide.Len(), "%d offsets into %d", wide.Len(), narrow.Len())
	w.need(overflow.Len() == 1, "%d elements for the overflow", overflow.Len())
	w.launch("offsets_narrow", blocks(int64(wide.Len()), block), block, wide.Arg(), gpu.Int(wide.Len()),
		narrow.Arg(), overflow.Arg())
	return w.done()
}

// ValidityFromRows makes the validity bitmap of n rows from those that are present.
//
//	rows    the rows, ascending or not, once or more; one outside of [0, n) is left out
//	n       rows in all
//	bitmap  Words(n) words, overwritten. Its bytes are Arrow's bitmap
//
// Reads 8 bytes an entry, writes a bit a row.
func (k *Set) ValidityFromRows(s *gpu.Stream, rows gpu.Buffer[int64], n int, bitmap Mask) error {
	w := k.begin(s, "validity from rows")
	w.bits("bitmap", bitmap, int64(n))
	if w.err == nil {
		w.err = gpu.Fill(s, bitmap, 0)
	}
	w.launch("offsets_validity", blocks(int64(rows.Len()), block), block, rows.Arg(), gpu.Int(rows.Len()),
		bitmap.Arg(), gpu.Int(n))
	return w.done()
}
