package rtree

import "math"

// hilbert is the place of a cell along the Hilbert curve that goes through all 65536 x 65536 cells,
// from (0, 0) to (65535, 0).
//
// From the highest bits down, a bit of x and one of y choose a quadrant, and how the curve runs
// through the four of them gives the next two bits of its place. It runs in one of four ways, and
// which way it runs inside of a quadrant follows from both:
//
//	  way 0    way 1    way 2    way 3
//	y  1 2      3 2      1 0      3 0      the quadrant's two bits of the place
//	^  0 3      0 1      2 3      2 1
//	+> x
//	   0 0      3 1      2 3      1 2      the way inside of it
//	   1 2      0 1      2 0      3 3
func hilbert(x, y uint32) uint32 {
	// Four bits for each way (2 bits), x and y: the lower two are the quadrant's bits of the place,
	// the upper two the way inside of it.
	const curve uint64 = 0x8d7ec39a65f02b14
	var place, step uint64
	for bit := 15; bit >= 0; bit-- {
		quadrant := uint64(x>>bit&1)<<1 | uint64(y>>bit&1)
		step = curve >> (step&0b1100<<2 | quadrant<<2)
		place = place<<2 | step&0b11
	}
	return uint32(place)
}

// extent is the box that the cells of the curve lie in: around all boxes, or around what is finite
// of them.
type extent struct{ x, y interval }

type interval struct{ lo, hi float64 }

// extentOf panics if a box is none: a NaN would spread up to the root, and hide all other rows.
func extentOf(boxes [][4]float64) extent {
	none := interval{math.Inf(1), math.Inf(-1)}
	x, y := none, none
	for _, b := range boxes {
		if !(b[0] <= b[2] && b[1] <= b[3]) {
			panic("rtree: a box whose min is not <= its max")
		}
		x = interval{min(x.lo, b[0]), max(x.hi, b[2])}
		y = interval{min(y.lo, b[1]), max(y.hi, b[3])}
	}
	if x.infinite() {
		x = none
		for _, b := range boxes {
			x = x.addFinite(b[0]).addFinite(b[2])
		}
	}
	if y.infinite() {
		y = none
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

// place is where along the curve the centre of a box lies.
func (e extent) place(b [4]float64) uint32 {
	return hilbert(e.x.cell(b[0], b[2]), e.y.cell(b[1], b[3]))
}

// cell is the cell, 0 to 65535, of the middle between lo and hi. What is outside of the interval,
// which is infinite, counts as its end. The steps are FlatGeobuf's: another order of them would
// round to other cells.
func (i interval) cell(lo, hi float64) uint32 {
	const last = 1<<16 - 1
	lo, hi = max(i.lo, lo), min(i.hi, hi) // two infinities of one sign leave one; of two signs, none
	centre := float64((lo + hi) / 2)      // rounded here: some processors would fuse it with the next step
	cell := last * (centre - i.lo) / (i.hi - i.lo)
	if !(cell > 0) { // NaN: an interval that is one number, or none, or whose width is no float64
		return 0
	}
	return uint32(min(cell, last))
}
