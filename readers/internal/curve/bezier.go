package curve

import (
	"math"

	"github.com/vibeflight/vibeflight/readers/internal/trig"
)

const (
	maxBezierSteps = 1000
	minBezier      = 1e-9 // square of the distance between the ends of a curve that has a length
)

// Bezier adds a cubic Bézier curve after its first position a: with the control points b and c to d.
// The steps depend on the turn between the tangents and on their lengths. It returns false if the
// row has too many computed positions.
func (l *Line) Bezier(a, b, c, d Position) bool {
	n := bezierSteps(a, b, c, d)
	if !l.Count(n) {
		return false
	}
	for i := 1; i < n; i++ {
		t := float64(i) / float64(n)
		l.Add(Position{
			bezier(t, a.X, b.X, c.X, d.X), bezier(t, a.Y, b.Y, c.Y, d.Y),
			mix(a.Z, d.Z, t), mix(a.M, d.M, t),
		})
	}
	l.Add(d)
	return true
}

func bezier(t, a, b, c, d float64) float64 {
	u := 1 - t
	return float64(u*u*u*a) + float64(3*u*u*t*b) + float64(3*u*t*t*c) + float64(t*t*t*d)
}

func bezierSteps(a, b, c, d Position) int {
	length := squared(a, d)
	if !(length >= minBezier) {
		return 0
	}
	from, to := trig.Atan2(b.Y-a.Y, b.X-a.X), trig.Atan2(d.Y-c.Y, d.X-c.X)
	turn := math.Abs(to - from)
	if turn > math.Pi {
		turn = 2*math.Pi - turn
	}
	n := math.Ceil(max(2, turn/Step) * max(1, 5*(squared(a, b)+squared(c, d))/length))
	if !(n < maxBezierSteps) {
		return maxBezierSteps
	}
	return int(n)
}

func squared(a, b Position) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	return float64(dx*dx) + float64(dy*dy)
}
