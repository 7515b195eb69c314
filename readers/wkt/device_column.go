package wkt

import (
	"math/bits"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// native fills a column of g.Kind, whose rows are of this kind or of its single kind. Kinds differ
// in their number of levels, but on the device each row has parts, each part rings and each ring
// positions.
func (d *deviceRows) native(g *geoarrow.Geometry, sh *deviceShapes) {
	promoted := sh.some(g.Kind) && g.Kind.IsMulti() && sh.some(g.Kind-3)
	final := !promoted // else some members are dropped, on the host
	g.X, g.Y = device.Deliver(d.Work, sh.x, final), device.Deliver(d.Work, sh.y, final)
	if g.Dim&geoarrow.HasZ != 0 {
		g.Z = device.Deliver(d.Work, sh.z, final)
	}
	if g.Dim&geoarrow.HasM != 0 {
		g.M = device.Deliver(d.Work, sh.m, final)
	}
	switch g.Kind {
	case geoarrow.LineString, geoarrow.MultiPoint:
		g.Geoms = device.Offsets(d.Work, sh.first, final)
	case geoarrow.Polygon, geoarrow.MultiLineString:
		g.Geoms = device.Offsets(d.Work, sh.lines, final)
		g.Rings = device.Offsets(d.Work, sh.at.Rings, final)
	case geoarrow.MultiPolygon:
		g.Geoms = device.Offsets(d.Work, sh.at.Spans, final)
		g.Parts = device.Offsets(d.Work, sh.at.Parts, final)
		g.Rings = device.Offsets(d.Work, sh.at.Rings, final)
	}
	var kinds []kgeom.GeometryKind
	if bits.OnesCount32(sh.all) > 1 {
		kinds = device.Result(d.Work, sh.kinds)
	}
	d.After(func() {
		g.Kinds = device.RowKinds(kinds)
		switch {
		case g.Kind == geoarrow.Point && g.Nulls > 0:
			device.Spread(g)
		case promoted:
			device.DropEmpty(g, sh.empty)
		}
	})
}
