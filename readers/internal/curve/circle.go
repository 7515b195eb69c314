package curve

import (
	"math"

	"github.com/vibeflight/vibeflight/readers/internal/trig"
)

// Circle is a circle with angles counter-clockwise from the x axis.
type Circle struct{ X, Y, Radius float64 }

// Angle returns the angle of a position as seen from the center.
func (c Circle) Angle(p Position) float64 { return trig.Atan2(p.Y-c.Y, p.X-c.X) }

// At returns the position at an angle.
func (c Circle) At(angle float64) (x, y float64) {
	sin, cos := trig.Sincos(angle)
	return c.X + float64(c.Radius*cos), c.Y + float64(c.Radius*sin)
}

// CircleThrough returns the circle through three positions, and their angles on it, in order.
// Collinear positions have none. If the first one equals the last one, it is the full circle with
// the second one opposite.
func CircleThrough(a, b, c Position) (o Circle, at [3]float64, ok bool) {
	if a.X == c.X && a.Y == c.Y {
		o = Circle{(a.X + b.X) / 2, (a.Y + b.Y) / 2, trig.Hypot(a.X-b.X, a.Y-b.Y) / 2}
		at[0] = o.Angle(a)
		return o, [3]float64{at[0], at[0] + math.Pi, at[0] + 2*math.Pi}, o.Radius > 0
	}
	bx, by, cx, cy := b.X-a.X, b.Y-a.Y, c.X-a.X, c.Y-a.Y
	twice := 2 * (float64(bx*cy) - float64(by*cx))
	bb, cc := float64(bx*bx)+float64(by*by), float64(cx*cx)+float64(cy*cy)
	if bb == 0 || math.Abs(twice) <= 1e-8*math.Sqrt(bb*cc) {
		return Circle{}, at, false
	}
	ox, oy := (float64(cy*bb)-float64(by*cc))/twice, (float64(bx*cc)-float64(cx*bb))/twice
	o = Circle{a.X + ox, a.Y + oy, trig.Hypot(ox, oy)}
	if math.IsInf(o.Radius, 0) || math.IsNaN(o.Radius) || math.IsNaN(o.X) || math.IsNaN(o.Y) {
		return Circle{}, at, false
	}
	at = [3]float64{o.Angle(a), o.Angle(b), o.Angle(c)}
	turn := 2 * math.Pi
	if twice < 0 {
		turn = -turn
	}
	for i := 1; i < 3; i++ {
		for (at[i]-at[i-1])*turn < 0 {
			at[i] += turn
		}
	}
	return o, at, true
}

// Through adds an arc after its first position: through b to c. It returns false if the row has too
// many computed positions.
func (l *Line) Through(a, b, c Position) bool {
	o, at, ok := CircleThrough(a, b, c)
	if !ok {
		l.Add(b)
		l.Add(c)
		return true
	}
	if !l.Between(o, at[0], at[1], a, b) {
		return false
	}
	l.Add(b)
	if !l.Between(o, at[1], at[2], b, c) {
		return false
	}
	l.Add(c)
	return true
}

// minArcSteps is the minimum number of steps of Arc, which is always odd, as in GDAL.
const minArcSteps = 7

// Arc adds an arc after its first position, to c, as GDAL does for a CIRCULARSTRING: with an odd
// number of equal steps. The position b, through which it goes, is added only if all three are in a
// line. It returns false if the row has too many computed positions.
func (l *Line) Arc(a, b, c Position) bool {
	o, at, ok := CircleThrough(a, b, c)
	if !ok {
		l.Add(b)
		l.Add(c)
		return true
	}
	if !l.between(o, at[0], at[2], a, c, max(minArcSteps, Steps(at[2]-at[0])|1)) {
		return false
	}
	l.Add(c)
	return true
}

// CloseCircle adds the arc from the third position of a circle back to its first one. known is false
// if the positions are in a line.
func (l *Line) CloseCircle(a, b, c Position) (fits, known bool) {
	o, at, ok := CircleThrough(a, b, c)
	if !ok {
		return true, false
	}
	end := at[0] + 2*math.Pi
	if at[1] < at[0] {
		end = at[0] - 2*math.Pi
	}
	middle := (at[2] + end) / 2
	half := Position{Z: (c.Z + a.Z) / 2, M: (c.M + a.M) / 2}
	half.X, half.Y = o.At(middle)
	if !l.Between(o, at[2], middle, c, half) {
		return false, true
	}
	l.Add(half)
	if !l.Between(o, middle, end, half, a) {
		return false, true
	}
	l.Add(a)
	return true, true
}

// Between adds the positions of a circle between two angles, without those at either end. Z and M
// are interpolated linearly between those of a and b. It returns false if the row has too many
// computed positions.
func (l *Line) Between(o Circle, from, to float64, a, b Position) bool {
	return l.between(o, from, to, a, b, Steps(to-from))
}

// between is Between with a number of steps.
func (l *Line) between(o Circle, from, to float64, a, b Position, n int) bool {
	if !l.Count(n) {
		return false
	}
	for i := 1; i < n; i++ {
		part := float64(i) / float64(n)
		x, y := o.At(from + float64((to-from)*part))
		l.Add(Position{x, y, mix(a.Z, b.Z, part), mix(a.M, b.M, part)})
	}
	return true
}

func mix(a, b, part float64) float64 { return a + float64((b-a)*part) }
