package project

import (
	"math"
	"sort"
)

// Box is xmin, ymin, xmax and ymax; both ends are inside.
type Box = [4]float64

// everywhere contains each position.
var everywhere = Box{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}

// Before returns a box in the system that positions come from. The box of a set of positions within
// the given one meets it if the box of their images meets the target. The converse does not hold. So it
// finds the candidates for a search.
//
// The box of the images may meet the target where no image is in it: think of a long parallel, which
// is a curve in UTM. So longitudes and latitudes are bounded one after the other. A set of positions
// whose images are on both sides of a line of constant easting has a position of that easting in its
// box, since a box is connected. The easting grows with the longitude, and at one longitude its
// extremes are at the ends of the latitudes or on the equator. Bisection finds the bounds. Where this
// does not hold, far from the central meridian or across the antimeridian, the result is everywhere.
func (t *Transformation) Before(target, within Box) Box {
	domains := make([]Box, len(t.steps))
	for i := range t.steps {
		domains[i] = within
		if i+1 < len(t.steps) {
			var ok bool
			if within, ok = t.steps[i].image(within); !ok {
				return everywhere
			}
		}
	}
	for i := len(t.steps) - 1; i >= 0; i-- {
		var ok bool
		if target, ok = t.steps[i].before(target, domains[i]); !ok {
			return everywhere
		}
	}
	return target
}

// Bounds of the part of the earth where eastings grow with longitudes, and northings with latitudes.
const (
	maxTurned  = 75 * radians // from the central meridian
	maxEasting = 5e6
	maxNorth   = 9.99e6
)

// at returns the image of one position.
func (s *step) at(x, y float64) [2]float64 {
	x, y = scalars[s.kind](x, y, &s.params)
	return [2]float64{x, y}
}

// monotone reports whether the step is monotone in both ordinates within a box.
func (s *step) monotone(within Box) bool {
	p := &s.params
	inside := func(x, y, dx, dy float64) bool {
		return within[0] >= x-dx && within[2] <= x+dx && within[1] >= y-dy && within[3] <= y+dy
	}
	var ok bool
	switch s.kind {
	case ToMercator:
		ok = inside(0, 0, math.Pi/p[unit], math.Pi/2/p[unit])
	case FromMercator:
		ok = inside(0, 0, wgs84.axis*math.Pi, math.Inf(1))
	case ToTransverse:
		ok = inside(p[origin]/p[unit], 0, maxTurned/p[unit], math.Pi/2/p[unit])
	case FromTransverse:
		ok = inside(p[east], p[north], maxEasting, maxNorth)
	}
	low, high := s.at(within[0], within[1]), s.at(within[2], within[3])
	return ok && low[0] <= high[0] && low[1] <= high[1] && !math.IsInf(high[0], 0) // and no jump of 360 degrees
}

// extremes returns where, at one value of an ordinate, the image has its extremes: at the ends of the
// other ordinate, and on its axis of symmetry.
func (s *step) extremes(within Box, ordinate int) []float64 {
	low, high := within[1-ordinate], within[3-ordinate]
	var axis float64
	switch {
	case s.kind == ToTransverse && ordinate == 1:
		axis = s.params[origin] / s.params[unit]
	case s.kind == FromTransverse:
		axis = s.params[east+1-ordinate]
	}
	if low < axis && axis < high {
		return []float64{low, axis, high}
	}
	return []float64{low, high}
}

// rangeAt returns the extremes of an ordinate of the images at a value of the same ordinate.
func (s *step) rangeAt(v float64, ordinate int, others []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, o := range others {
		position := [2]float64{v, o}
		if ordinate == 1 {
			position = [2]float64{o, v}
		}
		w := s.at(position[0], position[1])[ordinate]
		low, high = min(low, w), max(high, w)
	}
	return low, high
}

// image returns a box that contains the images of all positions of a box.
func (s *step) image(within Box) (out Box, ok bool) {
	if !s.monotone(within) {
		return within, false
	}
	for i := range 2 {
		others := s.extremes(within, i)
		out[i], _ = s.rangeAt(within[i], i, others)
		_, out[i+2] = s.rangeAt(within[i+2], i, others)
	}
	return wider(out), true
}

// before is Transformation.Before for one step.
func (s *step) before(target, within Box) (out Box, ok bool) {
	if !s.monotone(within) {
		return target, false
	}
	target = wider(target)
	for i := range 2 {
		others := s.extremes(within, i)
		out[i] = bisect(within[i], within[i+2], func(v float64) bool {
			_, high := s.rangeAt(v, i, others)
			return high >= target[i]
		})
		out[i+2] = bisect(within[i], within[i+2], func(v float64) bool {
			low, _ := s.rangeAt(v, i, others)
			return low > target[i+2]
		})
	}
	return wider(out), true
}

// bisectSteps is the number of parts that bisect distinguishes.
const bisectSteps = 1 << 52

// bisect returns the first value from low to high, or almost, from which on a condition is true: high
// if it never is.
func bisect(low, high float64, is func(v float64) bool) float64 {
	at := func(i int) float64 { return low + (high-low)*(float64(i)/bisectSteps) }
	return at(sort.Search(bisectSteps, func(i int) bool { return is(at(i)) }))
}

// wider returns a box with a margin for the rounding of positions.
func wider(b Box) Box {
	const margin = 1e-10
	for i := range 2 {
		b[i] -= margin * (1 + math.Abs(b[i]))
		b[i+2] += margin * (1 + math.Abs(b[i+2]))
	}
	return b
}
