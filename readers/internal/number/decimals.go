package number

import "unsafe"

// Decimals reads a column of numbers into out: number k is the text of buffer q from
// starts[first[k]] to the byte before starts[first[k]+1] - 1, which is a separator. It stops at one
// that is not plain, and returns how many it read, 64 at most, and which of them are there, a bit
// each: an empty text has no value, and 0 in out. A plain number is one that Float reads to its
// last byte, of at most 15 digits and without an exponent. Processors differ in what else they take
// for plain, never in its value. At least Padding bytes after each start must be readable.
func Decimals(out []float64, q unsafe.Pointer, starts, first []uint32) (n int, valid uint64) {
	if most := min(len(out), len(first), 64); most > 0 {
		return decimals(out[:most], q, starts, first)
	}
	return 0, 0
}

// decimalsPlain is decimals for every processor.
func decimalsPlain(out []float64, q unsafe.Pointer, starts, first []uint32) (n int, valid uint64) {
	for ; n < len(out); n++ {
		k := first[n]
		from, end := int(starts[k]), int(starts[k+1])-1
		if from == end {
			out[n] = 0
			continue
		}
		v, after := Float(q, from)
		if after != end || v >= 1e15 || v <= -1e15 {
			break
		}
		out[n] = v
		valid |= 1 << n
	}
	return n, valid
}
