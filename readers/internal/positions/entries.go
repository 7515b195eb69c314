//go:build amd64 || arm64

package positions

import "math"

// entry is what is known of a number by its length and where its point is.
type entry struct {
	spread [16]byte // which byte of the text is the point, and the k-th of 15 digits
	power  float64  // of ten, for the digits after the point
	lowest float64  // value without a leading zero; an infinity if no number of such a length is plain
}

// entries are those of numbers with l digits before the point and n in all: entries[l+1][n].
type entries [18][16]entry

func makeEntries() (e entries) {
	for l := range e {
		for n := range e[l] {
			e[l][n] = makeEntry(l-1, n)
		}
	}
	return e
}

func makeEntry(before, digits int) entry {
	e := entry{power: 1, lowest: math.Inf(1)}
	if before < 1 || before > 8 || digits <= before {
		return e
	}
	e.power, e.lowest = math.Pow10(digits-before), 0
	if before > 1 {
		e.lowest = math.Pow10(before - 1)
	}
	for k := range e.spread {
		switch digit := k - (16 - digits); {
		case k == 0:
			e.spread[k] = byte(before)
		case digit < 0:
			e.spread[k] = 0x80 // the shuffle writes 0
		case digit < before:
			e.spread[k] = byte(digit)
		default:
			e.spread[k] = byte(digit + 1)
		}
	}
	return e
}
