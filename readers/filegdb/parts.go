package filegdb

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// parts adds a MultiLineString or a MultiPolygon.
func (d *decoder) parts(k shapeKind, mayCurve bool) error {
	n, curves, err := d.partEnds(mayCurve, false)
	if err != nil {
		return err
	}
	if curves > 0 && !d.linearize {
		return fmt.Errorf("%d segments are curves; the option %s=%s reads them as lines", curves, optionCurves,
			curvesLinearize)
	}
	if n == 0 || len(d.ends) == 0 {
		d.geom.Extend(0, k.dim)
		d.geom.End(k.family.kind())
		return nil
	}
	if curves == 0 && (len(d.ends) == 1 || k.family == aLine) {
		return d.asTheyAre(k, n)
	}
	dim := k.dim
	if dim&geoarrow.HasM != 0 && !d.hasMeasures(n, dim) {
		dim &^= geoarrow.HasM
	}
	d.line.size(n, dim)
	if err := d.read(&d.line); err != nil {
		return err
	}
	l := &d.line
	if curves > 0 {
		if err := d.curves(curves, dim); err != nil {
			return err
		}
		l = &d.curved
	}
	if k.family == aPolygon && len(d.ends) > 1 {
		return d.nestRings(l, dim)
	}
	from := 0
	for _, end := range d.ends {
		d.part(k.family, l, from, end, dim)
		from = end
	}
	if k.family == aPolygon {
		d.geom.EndPart()
	}
	d.geom.End(k.family.kind())
	return nil
}

// kind returns the kind of lines or polygons: always the Multi kind, as in GDAL.
func (f family) kind() geoarrow.Kind {
	if f == aLine {
		return geoarrow.MultiLineString
	}
	return geoarrow.MultiPolygon
}

// partEnds reads the numbers of positions and of curves, and sets the ends of the parts.
func (d *decoder) partEnds(mayCurve, patch bool) (n, curves int, err error) {
	c := &d.c
	d.ends = d.ends[:0]
	if n = c.count(minPosition); n == 0 || c.err != nil {
		return 0, 0, c.err
	}
	if patch {
		c.varuint()
	}
	parts := c.varuint()
	if mayCurve {
		curves = c.count(minCurve)
	}
	if c.err != nil || parts == 0 {
		return 0, 0, c.err
	}
	if parts > uint64(n) {
		return 0, 0, fmt.Errorf("%d parts of %d positions", parts, n)
	}
	c.skipBox()
	end := 0
	for range parts - 1 {
		size := c.varuint()
		if size > uint64(n-end) {
			return 0, 0, fmt.Errorf("a part of %d positions, of which %d are left", size, n-end)
		}
		end += int(size)
		d.ends = append(d.ends, end)
	}
	d.ends = append(d.ends, n)
	return n, curves, c.err
}

// asTheyAre adds lines, or a polygon of one ring, without curves.
func (d *decoder) asTheyAre(k shapeKind, n int) error {
	first := len(d.geom.X)
	if len(d.ends) == 1 {
		if err := d.positions(n, k.dim); err != nil {
			return err
		}
		d.endPart(k.family, first)
	} else {
		dim := k.dim
		if dim&geoarrow.HasM != 0 && !d.hasMeasures(n, dim) {
			dim &^= geoarrow.HasM
		}
		d.line.size(n, dim)
		if err := d.read(&d.line); err != nil {
			return err
		}
		from := 0
		for _, end := range d.ends {
			d.part(k.family, &d.line, from, end, dim)
			from = end
		}
	}
	if k.family == aPolygon {
		d.geom.EndPart()
	}
	d.geom.End(k.family.kind())
	return nil
}

// part adds a line or a ring of the positions [from, to). One without positions is left out.
func (d *decoder) part(f family, l *line, from, to int, dim geoarrow.Dim) {
	g := d.geom
	first := len(g.X)
	g.Extend(to-from, dim)
	if from == to {
		return
	}
	copy(g.X[first:], l.x[from:to])
	copy(g.Y[first:], l.y[from:to])
	if dim&geoarrow.HasZ != 0 {
		copy(g.Z[first:], l.z[from:to])
	}
	if dim&geoarrow.HasM != 0 {
		copy(g.M[first:], l.m[from:to])
	}
	d.endPart(f, first)
}

// endPart ends a line or a ring, whose positions begin at first, as they are: an open or a short one
// is counted.
func (d *decoder) endPart(f family, first int) {
	g := d.geom
	last := len(g.X) - 1
	switch n := last - first + 1; {
	case f == aLine && n == 1:
		d.shortLines++
	case f == aPolygon:
		if n < 4 {
			d.shortRings++
		}
		if g.X[first] != g.X[last] || g.Y[first] != g.Y[last] {
			d.unclosed++
		}
	}
	g.EndRing()
}

// nestRings adds a MultiPolygon of several rings: outer rings in the order of the file, each with its
// holes after it.
func (d *decoder) nestRings(l *line, dim geoarrow.Dim) error {
	n := &d.nest
	n.Begin(len(l.x))
	copy(n.X, l.x)
	copy(n.Y, l.y)
	from := 0
	for _, end := range d.ends {
		if end > from {
			n.Add(from, end)
		}
		from = end
	}
	if err := n.Resolve(); err != nil {
		return err
	}
	for k, i := range n.Order {
		if k > 0 && n.IsOuter(i) {
			d.geom.EndPart()
		}
		from, to := n.Bounds(i)
		d.part(aPolygon, l, int(from), int(to), dim)
	}
	d.geom.EndPart()
	d.geom.End(geoarrow.MultiPolygon)
	return nil
}
