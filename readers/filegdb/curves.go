package filegdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/curve"
	"github.com/vibeflight/vibeflight/readers/internal/trig"
)

// A curve replaces the straight segment from one position to the next:
//
//	number of the first position, type (varuints)
//	1 circular arc   x, y of the position on it, or of the center; flags (4)
//	4 Bézier curve   x, y of two control points
//	5 elliptic arc   x, y of the center, rotation, half of the major axis, ratio of the minor one; flags (4)
const (
	curveArc     = 1
	curveBezier  = 4
	curveEllipse = 5

	minCurve = 2 + 20 // bytes
)

// Flags of arcs.
const (
	arcEmpty         = 0x1
	arcCounter       = 0x8 // counter-clockwise
	arcLine          = 0x20
	arcPoint         = 0x40
	arcThrough       = 0x80 // the position is on the arc
	ellipseLine      = 0x40
	ellipsePoint     = 0x80
	ellipseCenterTo  = 0x200
	ellipseFrom      = 0x400
	ellipseMinor     = 0x1000
	ellipseComplete  = 0x2000
	ellipseNotCenter = arcEmpty | ellipseLine | ellipsePoint | ellipseCenterTo | ellipseFrom
)

var (
	errComputed = fmt.Errorf("curves of more than %d computed positions", curve.MaxComputed)
	errCurve    = errors.New("a curve with a number that is not finite")
	errOrder    = errors.New("the curves are not in the order of their positions, or one is after the last position")
)

// curves reads the curves, and sets d.curved to the lines with them; d.ends are its parts.
func (d *decoder) curves(n int, dim geoarrow.Dim) error {
	c, out := &d.c, &d.curved
	out.x, out.y, out.z, out.m = out.x[:0], out.y[:0], out.z[:0], out.m[:0]
	d.arcs = curve.Line{Add: func(p curve.Position) {
		out.x, out.y = append(out.x, canonical(p.X)), append(out.y, canonical(p.Y))
		if dim&geoarrow.HasZ != 0 {
			out.z = append(out.z, canonical(p.Z))
		}
		if dim&geoarrow.HasM != 0 {
			out.m = append(out.m, canonical(p.M))
		}
	}}
	at, part := 0, 0 // the next position, and the part that it is in
	straight := func(to int) {
		for ; at < to; at++ {
			for at == d.ends[part] {
				d.ends[part] = len(out.x)
				part++
			}
			d.arcs.Add(d.position(at))
		}
	}
	for range n {
		first := c.varuint()
		if c.err != nil {
			return c.err
		}
		if first >= uint64(len(d.line.x)) || int(first)+1 < at {
			return errOrder
		}
		straight(int(first) + 1)
		if at == d.ends[part] { // nothing follows in the part
			if err := d.skipCurve(); err != nil {
				return err
			}
			continue
		}
		if err := d.curve(at); err != nil {
			return err
		}
		at++
	}
	straight(len(d.line.x))
	for ; part < len(d.ends); part++ {
		d.ends[part] = len(out.x)
	}
	return nil
}

// canonical returns v, or the canonical NaN for any: sums of very large numbers may be NaN.
func canonical(v float64) float64 {
	if v != v {
		return nan
	}
	return v
}

func (d *decoder) position(i int) curve.Position {
	p := curve.Position{X: d.line.x[i], Y: d.line.y[i], Z: nan, M: nan}
	if len(d.line.z) > 0 {
		p.Z = d.line.z[i]
	}
	if len(d.line.m) > 0 {
		p.M = d.line.m[i]
	}
	return p
}

// curveBytes is the size of a curve after its type; 0: it is not known.
var curveBytes = [...]int{curveArc: 2*8 + 4, curveBezier: 4 * 8, curveEllipse: 5*8 + 4}

// curveNumbers is how many numbers a curve begins with.
var curveNumbers = [...]int{curveArc: 2, curveBezier: 4, curveEllipse: 5}

// skipCurve reads a curve after its first position.
func (d *decoder) skipCurve() error {
	_, _, err := d.curveBody()
	return err
}

func (d *decoder) curveBody() (of uint64, b []byte, err error) {
	of = d.c.varuint()
	if d.c.err == nil && (of >= uint64(len(curveBytes)) || curveBytes[of] == 0) {
		return 0, nil, fmt.Errorf("a curve of type %d, which is not known", of)
	}
	if d.c.err == nil {
		b = d.c.take(curveBytes[of])
	}
	return of, b, d.c.err
}

// curve adds a curve to the position at from the one before.
func (d *decoder) curve(at int) error {
	of, b, err := d.curveBody()
	if err != nil {
		return err
	}
	number := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])) }
	for i := range curveNumbers[of] {
		if !isFinite(number(i)) {
			return errCurve
		}
	}
	from, to := d.position(at-1), d.position(at)
	half := curve.Position{Z: (from.Z + to.Z) / 2, M: (from.M + to.M) / 2}
	ok := true
	switch of {
	case curveArc:
		flags := binary.LittleEndian.Uint32(b[16:])
		half.X, half.Y = number(0), number(1)
		switch {
		case flags&arcThrough != 0:
			ok = d.through(from, half, to)
		case flags&(arcEmpty|arcLine|arcPoint) != 0:
			d.arcs.Add(to)
		default:
			half.X, half.Y = middle(from, to, number(0), number(1), flags&arcCounter != 0)
			ok = d.arcs.Arc(from, half, to)
		}
	case curveBezier:
		first, second := curve.Position{X: number(0), Y: number(1)}, curve.Position{X: number(2), Y: number(3)}
		ok = d.arcs.Bezier(from, first, second, to)
	case curveEllipse:
		flags := binary.LittleEndian.Uint32(b[40:])
		if flags&ellipseNotCenter != 0 {
			d.arcs.Add(to)
			break
		}
		e := curve.Ellipse{X: number(0), Y: number(1), Rotation: number(2), Major: number(3)}
		e.Minor = e.Major * number(4)
		extent := curve.MajorArc
		switch {
		case flags&ellipseComplete != 0:
			extent = curve.WholeTurn
		case flags&ellipseMinor != 0:
			extent = curve.MinorArc
		}
		ok = d.arcs.Ellipse(e, from, to, extent)
	}
	if !ok {
		return errComputed
	}
	return nil
}

// through adds an arc through a position. Of a circle it adds both halves: the position is opposite
// of the ends. Where all three are the same one, it is that.
func (d *decoder) through(from, half, to curve.Position) bool {
	if from.X != to.X || from.Y != to.Y {
		return d.arcs.Arc(from, half, to)
	}
	if from.X == half.X && from.Y == half.Y {
		d.arcs.Add(to)
		return true
	}
	x, y := (from.X+half.X)/2, (from.Y+half.Y)/2
	dx, dy := from.X-x, half.Y-y
	first, second := curve.Position{X: x - dy, Y: y + dx}, curve.Position{X: x + dy, Y: y - dx}
	return d.arcs.Arc(from, first, half) && d.arcs.Arc(half, second, to)
}

// middle returns the middle of an arc around a center.
func middle(from, to curve.Position, x, y float64, counter bool) (float64, float64) {
	start, end := trig.Atan2(from.Y-y, from.X-x), trig.Atan2(to.Y-y, to.X-x)
	switch {
	case counter && start >= end:
		end += 2 * math.Pi
	case !counter && start <= end:
		end -= 2 * math.Pi
	}
	return curve.Circle{X: x, Y: y, Radius: trig.Hypot(to.X-x, to.Y-y)}.At((start + end) / 2)
}
