package ogc

import (
	"math"
	"math/big"

	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// meetsAny reports whether a geometry has a point in common with one of some boxes.
func meetsAny(t *geoarrow.Tree, boxes []cql2.Rect) bool {
	for _, b := range boxes {
		if meets(t, b) {
			return true
		}
	}
	return false
}

// meets reports whether a geometry has a point in common with a closed box, which may be a point.
func meets(t *geoarrow.Tree, b cql2.Rect) bool {
	for i := range t.Members {
		if meets(&t.Members[i], b) {
			return true
		}
	}
	n := t.Dim.Size()
	for _, run := range t.Runs {
		if len(run) == n && inBox(run[0], run[1], b) {
			return true
		}
		for i := n; i < len(run); i += n {
			if segmentMeets(run[i-n], run[i-n+1], run[i], run[i+1], b) {
				return true
			}
		}
	}
	// No edge meets the box, so that a polygon has all of it or nothing.
	return t.Kind == geoarrow.Polygon && !math.IsInf(b[0], 0) && !math.IsInf(b[2], 0) && inPolygon(t, b[0], b[1])
}

func inBox(x, y float64, b cql2.Rect) bool {
	return x >= b[0] && x <= b[2] && y >= b[1] && y <= b[3]
}

// segmentMeets reports whether a segment has a point in common with a box: there is no line that
// separates them, which would be parallel to an edge of the box or to the segment.
func segmentMeets(x0, y0, x1, y1 float64, b cql2.Rect) bool {
	if math.Max(x0, x1) < b[0] || math.Min(x0, x1) > b[2] || math.Max(y0, y1) < b[1] || math.Min(y0, y1) > b[3] {
		return false
	}
	if inBox(x0, y0, b) || inBox(x1, y1, b) {
		return true
	}
	if x0 != x0 || y0 != y0 || x1 != x1 || y1 != y1 {
		return false
	}
	// Bounds of a box may be infinite. Its part outside of the segment's bounds does not matter.
	b = cql2.Rect{
		math.Max(b[0], math.Min(x0, x1)), math.Max(b[1], math.Min(y0, y1)),
		math.Min(b[2], math.Max(x0, x1)), math.Min(b[3], math.Max(y0, y1)),
	}
	first := side(x0, y0, x1, y1, b[0], b[1])
	for _, corner := range [3][2]float64{{b[2], b[1]}, {b[0], b[3]}, {b[2], b[3]}} {
		if s := side(x0, y0, x1, y1, corner[0], corner[1]); s != first || s == 0 {
			return true
		}
	}
	return first == 0
}

// side returns on which side of a line a point is: the sign of the determinant, which is exact.
func side(x0, y0, x1, y1, x, y float64) int {
	left, right := (x1-x0)*(y-y0), (y1-y0)*(x-x0)
	det := left - right
	// Bound of the error: Shewchuk, "Adaptive Precision Floating-Point Arithmetic" (1997), 3.1.
	if bound := 4 * 0x1p-53 * (math.Abs(left) + math.Abs(right)); det > bound || -det > bound {
		if det > 0 {
			return 1
		}
		return -1
	}
	r := func(v float64) *big.Rat {
		out := new(big.Rat)
		out.SetFloat64(v) // finite
		return out
	}
	sub := func(a, b float64) *big.Rat { return new(big.Rat).Sub(r(a), r(b)) }
	l := new(big.Rat).Mul(sub(x1, x0), sub(y, y0))
	return l.Cmp(new(big.Rat).Mul(sub(y1, y0), sub(x, x0)))
}

// inPolygon reports whether a point that is on no ring is in a polygon: a ray to the right crosses an
// odd number of edges.
func inPolygon(t *geoarrow.Tree, x, y float64) bool {
	in := false
	n := t.Dim.Size()
	for _, run := range t.Runs {
		for i := n; i < len(run); i += n {
			x0, y0, x1, y1 := run[i-n], run[i-n+1], run[i], run[i+1]
			if (y0 > y) == (y1 > y) {
				continue
			}
			if s := side(x0, y0, x1, y1, x, y); (s > 0) == (y1 > y0) {
				in = !in
			}
		}
	}
	return in
}
