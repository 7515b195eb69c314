package shapefile

import (
	"math/bits"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	kshape "github.com/vibeflight/vibeflight/kernels/shape"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// geometry makes the column of geometries with GeometryBuilder's rules. It is complete after the
// functions that were passed to After have run.
func (d *deviceShapes) geometry(valid []uint64, sum *readers.Summary) *geoarrow.Geometry {
	if d.Stopped() {
		return nil
	}
	g := &geoarrow.Geometry{Rows: d.rows}
	g.Nulls, g.Valid = device.Validity(valid, d.rows)
	d.countOdd(sum)
	asked, nested := d.parser.layout.Columns.Geometry(), d.kind.family() == polygon && d.has&kshape.ShapeHasParts != 0
	if g.Nulls == d.rows || !asked && !nested {
		return geoarrow.NullGeometry(d.rows, geoarrow.NoKind, geoarrow.XY)
	}
	kinds, all := d.rowKinds()
	d.ordinates(g, !nested)
	if d.shapes.Parts.Len() > 0 {
		final := !nested && d.kind.family() == polygon // finish changes others
		g.Geoms, g.Rings = device.Offsets(d.Work, d.shapes.Parts, final), device.Offsets(d.Work, d.rings, final)
	} else if d.kind.family() != point {
		g.Geoms = device.Offsets(d.Work, d.shapes.Points, true)
	}
	if d.Stopped() {
		return nil
	}
	if g.Geoms != nil {
		g.Geoms = g.Geoms[:d.rows+1]
	}
	d.After(func() {
		d.finish(g, kinds, all[0], nested)
		if !asked {
			*g = *geoarrow.NullGeometry(d.rows, geoarrow.NoKind, geoarrow.XY)
		}
	})
	return g
}

// rowKinds returns the kinds of rows, and a bit for each of them.
func (d *deviceShapes) rowKinds() (kinds []geoarrow.RowKind, all []uint32) {
	each, every := device.Alloc[kgeom.GeometryKind](d.Work, d.rows), device.Alloc[uint32](d.Work, 1)
	if d.Stopped() {
		return nil, nil
	}
	d.Try(kshape.ShapeKinds(d.K, d.S, &d.shapes, d.to.Measured, each, every))
	copied := device.Result(d.Work, each)
	return device.RowKinds(copied), device.Result(d.Work, every)
}

// ordinates queues copies of ordinates. final: they are those of the column, as in device.Final.
func (d *deviceShapes) ordinates(g *geoarrow.Geometry, final bool) {
	g.X, g.Y = device.Deliver(d.Work, d.to.X, final), device.Deliver(d.Work, d.to.Y, final)
	g.Z, g.M = device.Deliver(d.Work, d.to.Z, final), device.Deliver(d.Work, d.to.M, final)
}

// finish makes the column after the copies. nested: some polygons have several rings.
func (d *deviceShapes) finish(g *geoarrow.Geometry, kinds []geoarrow.RowKind, all uint32, nested bool) {
	if nested {
		if all = d.nestAll(g, kinds); d.Stopped() {
			return
		}
	}
	different := 0
	for rest := all; rest != 0; rest &= rest - 1 {
		k := geoarrow.RowKind(bits.TrailingZeros32(rest))
		g.Kind, g.Dim = max(g.Kind, k.Kind()), g.Dim|k.Dim()
		different++
	}
	if different > 1 {
		g.Kinds = kinds
	}
	if g.Dim&geoarrow.HasM == 0 {
		g.M = nil
	}
	if g.Kind == geoarrow.LineString { // each line is its row's only one, or its row has none
		for i, line := range g.Geoms {
			g.Geoms[i] = g.Rings[line]
		}
		g.Rings = nil
	}
}

// countOdd counts unclosed and short rings and lines.
func (d *deviceShapes) countOdd(sum *readers.Summary) {
	if d.Stopped() || d.rings.Len() == 0 {
		return
	}
	lines := d.kind.family() == polyLine
	odd := device.RingCheck{Polygons: !lines, Lines: lines}
	odd.Count(d.Work, odd.Look(d.Work, d.to.X, d.to.Y, d.rings), sum)
}
