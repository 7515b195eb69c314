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
	g.X, g.Y = device.Result(d.Work, sh.x), device.Result(d.Work, sh.y)
	if g.Dim&geoarrow.HasZ != 0 {
		g.Z = device.Result(d.Work, sh.z)
	}
	if g.Dim&geoarrow.HasM != 0 {
		g.M = device.Result(d.Work, sh.m)
	}
	switch g.Kind {
	case geoarrow.LineString, geoarrow.MultiPoint:
		g.Geoms = device.Offsets(d.Work, sh.first)
	case geoarrow.Polygon, geoarrow.MultiLineString:
		g.Geoms, g.Rings = device.Offsets(d.Work, sh.lines), device.Offsets(d.Work, sh.at.Rings)
	case geoarrow.MultiPolygon:
		g.Geoms, g.Parts, g.Rings = device.Offsets(d.Work, sh.at.Spans), device.Offsets(d.Work, sh.at.Parts),
			device.Offsets(d.Work, sh.at.Rings)
	}
	var kinds []kgeom.GeometryKind
	if bits.OnesCount32(sh.all) > 1 {
		kinds = device.Result(d.Work, sh.kinds)
	}
	d.After(func() {
		g.Kinds = device.RowKinds(kinds)
		switch promoted := sh.some(g.Kind) && sh.some(g.Kind-3); {
		case g.Kind == geoarrow.Point && g.Nulls > 0:
			device.Spread(g)
		case g.Kind.IsMulti() && promoted:
			device.DropEmpty(g, sh.empty)
		}
	})
}
