package tiles

import "math/bits"

// clipper cuts paths at the box [lo, hi] in x and y. It is for one goroutine.
type clipper struct {
	lo, hi int64
	a, b   []vertex
}

// inside reports whether the box has all vertices.
func (c *clipper) inside(v []vertex) bool {
	for _, w := range v {
		if w.x < c.lo || w.x > c.hi || w.y < c.lo || w.y > c.hi {
			return false
		}
	}
	return true
}

// ring returns the part of a ring in the box (Sutherland and Hodgman 1974), or nil. The result is
// valid until the next call. It has no consecutive vertices that are equal.
func (c *clipper) ring(v []vertex) []vertex {
	if c.inside(v) {
		return v
	}
	v = append(c.a[:0], v...)
	out := c.b[:0]
	for side := range 4 {
		out = out[:0]
		for i, w := range v {
			before := v[(i+len(v)-1)%len(v)]
			in, wasIn := c.within(side, w), c.within(side, before)
			if in != wasIn {
				out = appendVertex(out, c.cut(side, before, w))
			}
			if in {
				out = appendVertex(out, w)
			}
		}
		if len(out) > 1 && out[0] == out[len(out)-1] {
			out = out[:len(out)-1]
		}
		v, out = out, v
	}
	c.a, c.b = v, out
	return v
}

func appendVertex(v []vertex, w vertex) []vertex {
	if len(v) > 0 && v[len(v)-1] == w {
		return v
	}
	return append(v, w)
}

// within reports whether a vertex is on the inner side of a line of the box.
func (c *clipper) within(side int, v vertex) bool {
	switch side {
	case 0:
		return v.x >= c.lo
	case 1:
		return v.x <= c.hi
	case 2:
		return v.y >= c.lo
	}
	return v.y <= c.hi
}

// cut returns where an edge meets a line of the box. The direction of the edge does not change it.
func (c *clipper) cut(side int, v, w vertex) vertex {
	if w.less(v) {
		v, w = w, v
	}
	at := c.lo
	if side&1 == 1 {
		at = c.hi
	}
	if side < 2 {
		return vertex{at, between(v.y, w.y, at-v.x, w.x-v.x)}
	}
	return vertex{between(v.x, w.x, at-v.y, w.y-v.y), at}
}

// between returns a + (b-a)·part/whole, rounded to the nearest integer, halves away from a. part
// is between 0 and whole, which is not 0.
func between(a, b, part, whole int64) int64 {
	if whole < 0 {
		part, whole = -part, -whole
	}
	d := b - a
	hi, lo := bits.Mul64(uint64(max(d, -d)), uint64(part))
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(whole))
	if d < 0 {
		return a - int64(q)
	}
	return a + int64(q)
}

// line calls f with each part of a line in the box. The vertices are valid until f returns.
func (c *clipper) line(v []vertex, f func([]vertex)) {
	if c.inside(v) {
		f(v)
		return
	}
	part := c.a[:0]
	end := func() {
		if len(part) > 1 {
			f(part)
		}
		part = part[:0]
	}
	for i := 1; i < len(v); i++ {
		a, b, ok := c.segment(v[i-1], v[i])
		if !ok {
			end()
			continue
		}
		if len(part) > 0 && part[len(part)-1] != a {
			end()
		}
		part = appendVertex(appendVertex(part, a), b)
		if b != v[i] {
			end()
		}
	}
	end()
	c.a = part
}

// segment returns the part of an edge in the box.
func (c *clipper) segment(v, w vertex) (a, b vertex, ok bool) {
	for side := range 4 {
		in, inW := c.within(side, v), c.within(side, w)
		switch {
		case !in && !inW:
			return v, w, false
		case !in:
			v = c.cut(side, v, w)
		case !inW:
			w = c.cut(side, v, w)
		}
	}
	return v, w, true
}

// area returns twice the area of a ring: positive if it is clockwise as drawn, with y to the south.
// The vertices are in the box, so the result is exact.
func area(v []vertex) (sum int64) {
	for i, w := range v {
		before := v[(i+len(v)-1)%len(v)]
		sum += before.x*w.y - w.x*before.y
	}
	return sum
}
