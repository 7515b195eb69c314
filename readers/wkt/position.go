package wkt

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
)

// positions reads EMPTY, or positions in brackets: nearly all bytes of most files. Plain ones are
// read in bulk if the processor can.
func (t *text) positions(p int) int {
	if t.at(p) != '(' {
		return t.nothing(p)
	}
	p++
	if isBlank(t.at(p)) {
		p = t.space(p)
	}
	if t.loose != nil && t.missing(p) {
		return p + 1
	}
	for {
		more := true
		if t.plainRuns && t.size <= 2 {
			var count int
			if p, count, more = positions.WKT(t.geom, t.q, p, positions.Most); count > 0 {
				t.size, t.dim = 2, geoarrow.XY
			}
		}
		if more {
			if isBlank(t.at(p)) { // a second one after a comma
				p = t.space(p)
			}
			if p = t.usual(p); p < 0 {
				return -1
			}
		}
		if isBlank(t.at(p)) {
			p = t.space(p)
		}
		switch t.at(p) {
		case ',':
			if p++; isBlank(t.at(p)) {
				p = t.space(p)
			}
			if t.loose != nil && t.missing(p) {
				return p + 1
			}
		case ')':
			return p + 1
		default:
			return t.fail(p, `"," or ")"`)
		}
	}
}

// usual reads a position of two or three numbers with one blank between them, or calls position.
func (t *text) usual(p int) int {
	x, end := number.Float(t.q, p)
	if end < 0 || t.at(end) != ' ' {
		return t.position(p)
	}
	y, end := number.Float(t.q, end+1)
	if end < 0 {
		return t.position(p)
	}
	g := t.geom
	switch c := t.at(end); {
	case (c == ',' || c == ')') && t.size <= 2:
		t.size, t.dim = 2, geoarrow.XY
		g.X, g.Y = append(g.X, x), append(g.Y, y)
		return end
	case c != ' ' || t.size != 3 || t.dim != geoarrow.XYZ:
		return t.position(p)
	}
	z, end := number.Float(t.q, end+1)
	if end < 0 || t.at(end) != ',' && t.at(end) != ')' {
		return t.position(p)
	}
	g.X, g.Y = append(g.X, x), append(g.Y, y)
	g.AddZ(z)
	return end
}

// position reads any position, without brackets: numbers with blanks between them. The first one of
// a geometry without a tag determines how many.
func (t *text) position(p int) int {
	var v [4]float64
	n := 0
	for {
		var end int
		if v[n], end = t.ordinate(p); end < 0 {
			if n > 0 && t.fault.want == wantNumber {
				t.fault.want = [...]string{1: wantSecond, 2: wantMore, 3: wantMore}[n]
			}
			return -1
		}
		n++
		p = t.space(end)
		switch t.at(p) {
		case ',', ')':
			return t.end(p, v, n)
		}
		switch {
		case n == len(v) || n == t.size && !t.growable():
			return t.fail(p, `"," or ")" behind `+ordinates[n])
		case p == end:
			return t.fail(p, `a blank, "," or ")" behind a number`)
		}
	}
}

const (
	wantSecond = "a second ordinate"
	wantMore   = `a number, "," or ")"`
)

// ordinates reads positions of n numbers.
var ordinates = [...]string{"", "an ordinate", "2 ordinates", "3 ordinates", "4 ordinates"}

// end adds a position of n ordinates, which ends at p.
func (t *text) end(p int, v [4]float64, n int) int {
	switch {
	case n == 1:
		return t.fail(p, wantSecond)
	case t.size == 0:
		t.size = n
		t.dim = [...]geoarrow.Dim{2: geoarrow.XY, 3: geoarrow.XYZ, 4: geoarrow.XYZM}[n]
		if n == 3 && t.outer == geoarrow.XYM {
			t.dim = geoarrow.XYM
		}
	case t.loose != nil && n != t.size:
		return t.uneven(p, v, n)
	case n < t.size:
		return t.fail(p, "one of "+ordinates[t.size]+", which every position of this geometry has")
	}
	t.add(v)
	return p
}

// add adds a position of the current dimension.
func (t *text) add(v [4]float64) {
	g := t.geom
	g.X, g.Y = append(g.X, v[0]), append(g.Y, v[1])
	switch t.dim {
	case geoarrow.XYZ:
		g.AddZ(v[2])
	case geoarrow.XYM:
		g.AddM(v[2])
	case geoarrow.XYZM:
		g.AddZ(v[2])
		g.AddM(v[3])
	}
}
