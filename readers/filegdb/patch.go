package filegdb

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/nesting"
)

// patches adds a MultiPatch as a MultiPolygon: a polygon of each triangle, and one of each outer or
// first ring and the rings after it. There is no m.
func (d *decoder) patches(dim geoarrow.Dim) error {
	n, _, err := d.partEnds(false, true)
	if err != nil {
		return err
	}
	dim &^= geoarrow.HasM
	if n == 0 || len(d.ends) == 0 {
		d.geom.Extend(0, dim)
		d.geom.End(geoarrow.MultiPolygon)
		return nil
	}
	l := &d.line
	part := func(i int) (from, to int) {
		if i > 0 {
			from = d.ends[i-1]
		}
		return from, d.ends[i]
	}
	p := nesting.Patches{
		Kinds: make([]uint32, len(d.ends)), Part: part,
		Fill: func(x, y []float64, from, to int) {
			copy(x, l.x[from:to])
			copy(y, l.y[from:to])
		},
	}
	for i := range p.Kinds {
		from, to := part(i)
		p.Kinds[i] = uint32(d.c.varuint() & 0xf)
		err := nesting.CheckPatch(p.Kinds[i], to-from)
		switch {
		case d.c.err != nil:
			return d.c.err
		case from == to:
			return fmt.Errorf("part %d has no positions", i)
		case err != nil:
			return fmt.Errorf("part %d %w", i, err)
		}
	}
	l.size(n, dim)
	if err := d.read(l); err != nil {
		return err
	}
	groups, err := d.nest.Groups(&p)
	if err != nil {
		return err
	}
	d.geom.Extend(0, dim)
	for _, g := range groups {
		if !g.Rings {
			from, to := part(g.Order[0])
			nesting.Triangles(p.Kinds[g.Order[0]], from, to, func(first, second int) { d.triangle(first, second, dim) })
			continue
		}
		for _, i := range g.Order {
			from, to := part(i)
			d.part(aPolygon, l, from, to, dim)
		}
		d.geom.EndPart()
	}
	d.geom.End(geoarrow.MultiPolygon)
	return nil
}

// triangle adds the triangle of a position and two that follow each other.
func (d *decoder) triangle(first, second int, dim geoarrow.Dim) {
	g := d.geom
	at := len(g.X)
	g.Extend(4, dim)
	for i, from := range [...]int{first, second, second + 1, first} {
		g.X[at+i], g.Y[at+i] = d.line.x[from], d.line.y[from]
		if dim&geoarrow.HasZ != 0 {
			g.Z[at+i] = d.line.z[from]
		}
	}
	d.endPart(aPolygon, at)
	g.EndPart()
}
