package rtree

import "math"

// hilbert returns the place of a cell along the Hilbert curve through all 65536 x 65536 cells, from
// (0, 0) to (65535, 0).
//
// From the highest bit down, one bit of x and one of y choose a quadrant. The curve visits the four
// quadrants in one of four ways. The way and the quadrant determine the next two bits of the place,
// and the way inside the quadrant:
//
//	  way 0    way 1    way 2    way 3
//	y  1 2      3 2      1 0      3 0      the quadrant's two bits of the place
//	^  0 3      0 1      2 3      2 1
//	+> x
//	   0 0      3 1      2 3      1 2      the way inside the quadrant
//	   1 2      0 1      2 0      3 3
func hilbert(x, y uint32) uint32 {
	// curve has four bits for each combination of way (2 bits), x and y. The lower two are the bits
	// of the place, the upper two the way inside the quadrant.
	const curve uint64 = 0x8d7ec39a65f02b14
	var place, step uint64
	for bit := 15; bit >= 0; bit-- {
		quadrant := uint64(x>>bit&1)<<1 | uint64(y>>bit&1)
		step = curve >> (step&0b1100<<2 | quadrant<<2)
		place = place<<2 | step&0b11
	}
	return uint32(place)
}

// extent is the box of the curve's cells: the bounds of all boxes, or of their finite values.
type extent struct{ x, y interval }

type interval struct{ lo, hi float64 }

// extentOf returns the extent of the boxes. It panics if a box is invalid: a NaN would spread up to
// the root and hide all other rows.
func extentOf(boxes [][4]float64) extent {
	empty := interval{math.Inf(1), math.Inf(-1)}
	x, y := empty, empty
	for _, b := range boxes {
		if !(b[0] <= b[2] && b[1] <= b[3]) {
			panic("rtree: a box whose min is not <= its max")
		}
		x = interval{min(x.lo, b[0]), max(x.hi, b[2])}
		y = interval{min(y.lo, b[1]), max(y.hi, b[3])}
	}
	if x.infinite() {
		x = empty
		for _, b := range boxes {
			x = x.addFinite(b[0]).addFinite(b[2])
		}
	}
	if y.infinite() {
		y = empty
		for _, b := range boxes {
			y = y.addFinite(b[1]).addFinite(b[3])
		}
	}
	return extent{x, y}
}

func (i interval) infinite() bool { return math.IsInf(i.lo, 0) || math.IsInf(i.hi, 0) }

func (i interval) addFinite(v float64) interval {
	if math.IsInf(v, 0) {
		return i
	}
	return interval{min(i.lo, v), max(i.hi, v)}
}

// place returns the place of the centre of a box along the curve.
func (e extent) place(b [4]float64) uint32 {
	return hilbert(e.x.cell(b[0], b[2]), e.y.cell(b[1], b[3]))
}

// cell returns the cell, 0 to 65535, of the middle between lo and hi. Infinite values count as the
// ends of the interval. The steps are those of FlatGeobuf: another order would round differently.
func (i interval) cell(lo, hi float64) uint32 {
	const last = 1<<16 - 1
	// two infinities of the same sign leave one value; of different signs, none
	lo, hi = max(i.lo, lo), min(i.hi, hi)
	// the conversion rounds: some processors would fuse this with the next step
	centre := float64((lo + hi) / 2)
	cell := last * (centre - i.lo) / (i.hi - i.lo)
	if !(cell > 0) { // NaN, for an interval that is empty, has one number or has an infinite width
		return 0
	}
	return uint32(min(cell, last))
}
