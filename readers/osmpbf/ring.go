package osmpbf

import (
	"math/bits"
)

// ring is a run of positions of a polygon's boundary.
type ring struct {
	line                   []location
	west, south, east, top int32
	area                   float64 // doubled, without sign
	outer                  bool
	parent                 int // its outer ring, if it is a hole
}

func (r *ring) closed() bool { return len(r.line) > 0 && r.line[0] == r.line[len(r.line)-1] }

// measure sets the box and the area.
func (r *ring) measure() {
	a := r.line[0]
	r.west, r.east, r.south, r.top = a.lon, a.lon, a.lat, a.lat
	sum, last := 0.0, a
	for _, l := range r.line[1:] {
		r.west, r.east = min(r.west, l.lon), max(r.east, l.lon)
		r.south, r.top = min(r.south, l.lat), max(r.top, l.lat)
		// Relative to the first position. Conversions keep products from being fused.
		x0, y0 := float64(last.lon)-float64(a.lon), float64(last.lat)-float64(a.lat)
		x1, y1 := float64(l.lon)-float64(a.lon), float64(l.lat)-float64(a.lat)
		sum += float64(x0*y1) - float64(x1*y0)
		last = l
	}
	r.area = max(sum, -sum)
}

// around reports whether the box of r contains that of s.
func (r *ring) around(s *ring) bool {
	return r.west <= s.west && r.east >= s.east && r.south <= s.south && r.top >= s.top
}

// spot is a position in units of 5e-8 degrees, so that the middle of two positions is one.
type spot struct{ x, y int64 }

func spotOf(l location) spot { return spot{2 * int64(l.lon), 2 * int64(l.lat)} }

func middle(a, b location) spot {
	return spot{int64(a.lon) + int64(b.lon), int64(a.lat) + int64(b.lat)}
}

// turn returns the sign of the area of the triangle a, b, p: 1 if p is left of the way from a to b.
func turn(a, b, p spot) int {
	x1, y1, x2, y2 := b.x-a.x, b.y-a.y, p.x-a.x, p.y-a.y
	const small = 1 << 31
	if max(x1, -x1, y1, -y1) < small && max(x2, -x2, y2, -y2) < small {
		return sign(x1*y2 - x2*y1)
	}
	return compareProducts(x1, y2, x2, y1)
}

func sign(v int64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// compareProducts returns the sign of a*b - c*d.
func compareProducts(a, b, c, d int64) int {
	h1, l1 := product(a, b)
	h2, l2 := product(c, d)
	switch {
	case h1 != h2:
		if h1 > h2 {
			return 1
		}
		return -1
	case l1 != l2:
		if l1 > l2 {
			return 1
		}
		return -1
	}
	return 0
}

// product returns the 128 bits of a*b.
func product(a, b int64) (high int64, low uint64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	high = int64(h)
	if a < 0 {
		high -= b
	}
	if b < 0 {
		high -= a
	}
	return high, l
}

// side returns 1 for a position inside of the ring, -1 outside, 0 on its line: the ray to the right
// of a position inside crosses the line an odd number of times.
func (r *ring) side(p spot) int {
	inside := false
	a := spotOf(r.line[0])
	for _, l := range r.line[1:] {
		b := spotOf(l)
		switch {
		case a.y > p.y && b.y > p.y, a.y < p.y && b.y < p.y, a.x < p.x && b.x < p.x:
		case a.y == p.y && b.y == p.y:
			if min(a.x, b.x) <= p.x && p.x <= max(a.x, b.x) {
				return 0
			}
		default:
			s := turn(a, b, p)
			if s == 0 {
				return 0
			}
			if (a.y > p.y) != (b.y > p.y) {
				inside = inside != ((s > 0) == (b.y > a.y))
			}
		}
		a = b
	}
	if inside {
		return 1
	}
	return -1
}

// contains reports whether s is inside of r, as the first position of s that is not on the line of
// r says; if all are, the first middle of two of them.
func (r *ring) contains(s *ring, steps *int) bool {
	for _, l := range s.line {
		*steps -= len(r.line)
		if side := r.side(spotOf(l)); side != 0 || *steps < 0 {
			return side > 0
		}
	}
	for i, l := range s.line[1:] {
		*steps -= len(r.line)
		if l == s.line[i] {
			continue
		}
		if side := r.side(middle(s.line[i], l)); side != 0 || *steps < 0 {
			return side > 0
		}
	}
	return false
}
