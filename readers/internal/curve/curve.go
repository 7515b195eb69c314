// Package curve makes lines of circular arcs, Bézier curves and elliptic arcs, as GDAL does: with a
// position at every 4 degrees of a circle, and with equal steps in an arc.
//
// Positions that are given are kept exactly. Products are not fused with sums, so the positions are
// the same on every processor.
package curve

import "math"

// Step is the angle between positions of an arc, in radians.
const Step = 4 * math.Pi / 180

// MaxComputed is the maximum number of computed positions in a row: a few bytes of an arc become up
// to 90 positions.
const MaxComputed = 1 << 20

// Position is a position of a curve. Z and M are NaN if it has none.
type Position struct{ X, Y, Z, M float64 }

// Line receives the positions of a curve.
type Line struct {
	Add      func(Position)
	Computed int // positions that were computed; the caller sets it to 0 at the start of a row
}

// Count counts n positions that will be computed. It reports whether the row may have that many.
func (l *Line) Count(n int) bool {
	if n < 0 || n > MaxComputed { // the sum would overflow
		n = MaxComputed + 1
	}
	l.Computed += n
	return l.Computed <= MaxComputed
}

// Steps returns the number of steps of an arc.
func Steps(angle float64) int {
	steps := math.Abs(angle)/Step + 0.5
	if !(steps < MaxComputed) {
		return MaxComputed + 1
	}
	return int(steps)
}
