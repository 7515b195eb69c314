package shapefile

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/nesting"
)

// decoder decodes the contents of records to geometries. It adds nothing for a malformed record.
type decoder struct {
	kind shapeType // of the file
	geom *geoarrow.GeometryBuilder
	odd  oddities
	nest nesting.Nesting

	surplus int // bytes after the shape that was added last
}

// oddities counts valid but unusual features of shapes, which are kept.
type oddities struct{ unclosedRings, shortRings, shortLines int64 }

// shape adds the shape of a record's content. A defect is at byte at of it.
func (d *decoder) shape(content []byte) (at int, err error) {
	if len(content) < 4 {
		return 0, fmt.Errorf("a content of %d bytes has no room for a shape type", len(content))
	}
	switch t := shapeType(binary.LittleEndian.Uint32(content)); {
	case t == null:
		d.surplus = len(content) - 4
		d.geom.Null()
		return 0, nil
	case t != d.kind:
		return 0, fmt.Errorf("the shape is a %s in a file of %s", t, d.kind)
	}
	if d.kind.family() == point {
		return d.point(content)
	}
	b, at, err := d.kind.body(content)
	if err != nil {
		return at, err
	}
	return d.add(&b)
}

// add adds a shape that is not a point.
func (d *decoder) add(b *body) (at int, err error) {
	d.surplus = b.surplus
	switch d.kind.family() {
	case multiPoint:
		d.positions(b, 0, b.points)
		d.geom.End(geoarrow.MultiPoint)
	case polyLine:
		d.lines(b)
	case polygon:
		if len(b.parts) > 4 {
			return 36, d.rings(b)
		}
		d.positions(b, 0, b.points)
		if b.points > 0 {
			d.endRing(b.points)
		}
		d.geom.End(geoarrow.Polygon)
	default:
		return d.patches(b)
	}
	return 0, nil
}

// point adds a point:
//
//	byte 0   4  shape type
//	byte 4  16  x y
//	     +   8  z, of PointZ
//	     +   8  m, of PointZ and PointM; some writers leave it out
func (d *decoder) point(c []byte) (at int, err error) {
	need, measured, _ := d.kind.sizes(c)
	n := int64(len(c))
	if n < need {
		return 4, fmt.Errorf("a %s has %d bytes, expected %s", d.kind, n, either(need, measured))
	}
	if d.kind == point { // files of points have the most records: keep this path short
		g := d.geom
		g.Extend(1, geoarrow.XY)
		last := len(g.X) - 1
		geoarrow.FillXY(g.X[last:], g.Y[last:], c[4:20])
		g.End(geoarrow.Point)
		d.surplus = len(c) - 20
		return 0, nil
	}
	b := body{points: 1, dim: d.kind.dim(), xy: c[4:20], z: c[20:need]}
	if measured <= n {
		b.setM(c[need:measured])
		need = measured
	}
	d.surplus = int(n - need)
	d.positions(&b, 0, 1)
	d.geom.End(geoarrow.Point)
	return 0, nil
}

// lines adds a PolyLine: a LineString if it has one part or none.
func (d *decoder) lines(b *body) {
	n := len(b.parts) / 4
	d.positions(b, 0, 0)
	for i := range n {
		from, to := b.part(i)
		d.positions(b, from, to)
		if to == from+1 {
			d.odd.shortLines++
		}
		if n > 1 {
			d.geom.EndRing()
		}
	}
	if n > 1 {
		d.geom.End(geoarrow.MultiLineString)
		return
	}
	d.geom.End(geoarrow.LineString)
}

// rings adds a polygon of several rings: outer rings in the order of the file, each with its holes
// after it, in the order of the file.
func (d *decoder) rings(b *body) error {
	n := len(b.parts) / 4
	d.nest.Begin(b.points)
	geoarrow.FillXY(d.nest.X, d.nest.Y, b.xy)
	for i := range n {
		d.nest.Add(b.part(i))
	}
	if err := d.nest.Resolve(); err != nil {
		return err
	}
	several := d.nest.Outers > 1
	for k, i := range d.nest.Order {
		if several && k > 0 && d.nest.IsOuter(i) {
			d.geom.EndPart()
		}
		from, to := b.part(int(i))
		d.positions(b, from, to)
		d.endRing(to - from)
	}
	if several {
		d.geom.EndPart()
		d.geom.End(geoarrow.MultiPolygon)
		return nil
	}
	d.geom.End(geoarrow.Polygon)
	return nil
}

// endRing ends a ring of the last n positions. It is kept unchanged, even if open or short.
func (d *decoder) endRing(n int) {
	g := d.geom
	last := len(g.X) - 1
	first := last - n + 1
	if n < 4 {
		d.odd.shortRings++
	}
	if g.X[first] != g.X[last] || g.Y[first] != g.Y[last] {
		d.odd.unclosedRings++
	}
	g.EndRing()
}

// positions adds the points [from, to).
func (d *decoder) positions(b *body, from, to int) {
	g := d.geom
	g.Extend(to-from, b.dim)
	at := len(g.X) - (to - from)
	geoarrow.FillXY(g.X[at:], g.Y[at:], b.xy[16*from:16*to])
	if b.dim&geoarrow.HasZ != 0 {
		geoarrow.Fill(g.Z[at:], b.z[8*from:8*to])
	}
	if b.dim&geoarrow.HasM != 0 {
		geoarrow.Fill(g.M[at:], b.m[8*from:8*to])
		for i, m := range g.M[at:] {
			if !(m > noMeasure) {
				g.M[at+i] = nan
			}
		}
	}
}

var nan = math.Float64frombits(0x7ff8000000000000)
