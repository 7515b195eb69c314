package number

import "unsafe"

// Integers reads a column of integers into out, which lie as the numbers of Decimals do. It stops
// at one that is not plain or is not from low to high, and returns how many it read, 64 at most,
// and which of them are there, a bit each: an empty text has no value, and 0 in out. A plain
// integer is one that Number reads to its last byte, of 1 to 16 digits, except -0.
func Integers(out []int64, q unsafe.Pointer, starts, first []uint32, low, high int64) (n int, valid uint64) {
	for most := min(len(out), len(first), 64); n < most; n++ {
		k := first[n]
		from, end := int(starts[k]), int(starts[k+1])-1
		if from == end {
			out[n] = 0
			continue
		}
		v, ok := integer(q, from, end)
		if !ok || v < low || v > high {
			break
		}
		out[n] = v
		valid |= 1 << n
	}
	return n, valid
}

// integer returns the value of the bytes from from to end, if they are a plain integer.
func integer(q unsafe.Pointer, from, end int) (v int64, ok bool) {
	negative := 0
	if byteAt(q, from) == '-' {
		negative = 1
	}
	from += negative
	w := digits(q, from)
	n := uint64(end - from)
	if n-1 > 15 || w&0xFF == 0 && n+uint64(negative) > 1 {
		return 0, false
	}
	if n <= 8 {
		w <<= (64 - 8*n) & 63
		v = int64(value(w))
	} else {
		last := w>>(8*n-64) | digits(q, from+8)<<(128-8*n)
		w <<= 128 - 8*n
		v = int64(value(w)*1e8 + value(last))
		w |= nondigits(last)
	}
	return (v ^ -int64(negative)) + int64(negative), nondigits(w) == 0
}
