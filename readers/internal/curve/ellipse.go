package curve

import (
	"math"

	"github.com/vibeflight/vibeflight/readers/internal/trig"
)

// Ellipse is an ellipse whose major axis is rotated counter-clockwise from the x axis, in radians.
type Ellipse struct{ X, Y, Major, Minor, Rotation float64 }

// Extent says which part of an ellipse an arc is.
type Extent uint8

// Extents.
const (
	MinorArc  Extent = iota // the shorter way from one position to the other
	MajorArc                // the longer way
	WholeTurn               // all of it, clockwise
)

// Angle returns the parameter of a position.
func (e *Ellipse) Angle(p Position) float64 {
	sin, cos := trig.Sincos(e.Rotation)
	dx, dy := p.X-e.X, p.Y-e.Y
	return trig.Atan2((float64(dy*cos)-float64(dx*sin))/e.Minor, (float64(dx*cos)+float64(dy*sin))/e.Major)
}

// turn returns the parameters of the ends of an arc.
func (e *Ellipse) turn(a, b Position, extent Extent) (from, to float64) {
	from, to = e.Angle(a), e.Angle(b)
	switch {
	case extent == WholeTurn:
		to = from - 2*math.Pi
	case (extent == MinorArc) == (math.Abs(to-from) <= math.Pi):
	case to > from:
		to -= 2 * math.Pi
	case to < from:
		to += 2 * math.Pi
	}
	return from, to
}

// Ellipse adds an arc of an ellipse after its first position a, up to b. It returns false if the row
// has too many computed positions.
func (l *Line) Ellipse(e Ellipse, a, b Position, extent Extent) bool {
	from, to := e.turn(a, b, extent)
	n := 1
	if angle := math.Abs(to - from); angle > Step {
		n = int(math.Ceil(angle / Step))
	}
	if !l.Count(n) {
		return false
	}
	sinR, cosR := trig.Sincos(e.Rotation)
	for i := 1; i < n; i++ {
		part := float64(i) / float64(n)
		sin, cos := trig.Sincos(from + float64((to-from)*part))
		x, y := e.Major*cos, e.Minor*sin
		l.Add(Position{
			e.X + (float64(x*cosR) - float64(y*sinR)), e.Y + (float64(x*sinR) + float64(y*cosR)),
			mix(a.Z, b.Z, part), mix(a.M, b.M, part),
		})
	}
	l.Add(b)
	return true
}
