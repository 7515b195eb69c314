package geojson

import (
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// native fills a column of g.Kind, whose rows are of this kind or of its single kind. Rows have
// their own number of levels, but for the device each has parts, a part rings and a ring positions.
func (d *deviceRows) native(g *geoarrow.Geometry, sh *deviceShapes) {
	g.X, g.Y, g.Z = device.Result(d.Work, sh.x), device.Result(d.Work, sh.y), device.Result(d.Work, sh.z)
	switch g.Kind {
	case geoarrow.Point:
		d.Accept(sh.x.Len() == g.Rows-g.Nulls, "points without a position")
	case geoarrow.LineString, geoarrow.MultiPoint:
		g.Geoms = device.Offsets(d.Work, d.first(sh))
	case geoarrow.Polygon, geoarrow.MultiLineString:
		g.Geoms, g.Rings = device.Result(d.Work, sh.at.SpanRings), device.Result(d.Work, sh.at.ShortRings)
	case geoarrow.MultiPolygon:
		g.Geoms, g.Parts, g.Rings = device.Offsets(d.Work, sh.at.Spans), device.Offsets(d.Work, sh.at.Parts),
			device.Offsets(d.Work, sh.at.Rings)
	}
	var kinds []kgeom.GeometryKind
	promoted := sh.report.Kinds&(sh.report.Kinds-1) != 0
	if promoted || len(sh.dims) > 0 {
		kinds = device.Result(d.Work, sh.kinds)
	}
	d.After(func() {
		if !sh.uniform() {
			g.Kinds = device.RowKinds(kinds)
		}
		switch {
		case g.Kind == geoarrow.Point && g.Nulls > 0:
			device.Spread(g)
		case promoted:
			device.DropEmpty(g, sh.found.Empty > 0)
		}
	})
}
