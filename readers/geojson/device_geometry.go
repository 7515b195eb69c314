package geojson

import (
	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// coordinatesDepth is how deep the bracket of coordinates is in a Feature: { "geometry": {
// "coordinates": [
const coordinatesDepth = 3

// geometry makes the column of geometries with GeometryBuilder's rules: native if all have one kind
// or a kind and its Multi kind, otherwise WKB.
//
//	kinds, spans of coordinates -> parts, rings, positions -> ordinates ─┬─> offsets            native
//	                                                                     └─> sizes -> bytes     WKB
//	members of collections, likewise ──────────────────────────────────────────────────────┘
//
// sh are the shapes whose kinds readMembers has read; nil: there are none.
func (d *deviceRows) geometry(top *placedMembers, sh *deviceShapes, sum *readers.Summary) *geoarrow.Geometry {
	if d.Stopped() {
		return nil
	}
	n := d.records.Count
	if sh == nil {
		d.checkTypes(top)
		return geoarrow.NullGeometry(n, geoarrow.NoKind, geoarrow.XY)
	}
	texts := d.measureCollections(d.shapes)
	d.find(sh, top, coordinatesDepth)
	if d.Stopped() {
		return nil
	}
	mask := sh.valid
	var inner *deviceCollections
	d.together(
		func() { d.ordinates(sh, d.third) },
		func() { inner = d.collections(sh, texts) },
	)
	if d.Stopped() {
		return nil
	}
	g := &geoarrow.Geometry{
		Rows: n, Nulls: n - device.CountBits(mask), Kind: nativeKind(sh.report.Kinds),
		Dim: sh.dim(),
	}
	if g.Nulls > 0 {
		g.Valid = maskBytes(mask, n)
	}
	if g.Kind == geoarrow.NoKind {
		c, dim := d.writeCollections(inner, sh, sum)
		g.Dim |= dim
		w := d.writeWKB(sh, c, false)
		if d.asked.Geometry() {
			d.wkb(g, sh, w)
		}
		sh.odd().Count(d.Work, w.facts, sum)
	} else {
		if d.asked.Geometry() {
			d.native(g, sh)
		}
		sh.odd().Count(d.Work, sh.odd().Look(d.Work, sh.x, sh.y, sh.at.Rings), sum)
	}
	sum.IgnoredOrdinates += sh.found.More
	if d.Stopped() {
		return nil
	}
	if !d.asked.Geometry() {
		return geoarrow.NullGeometry(n, geoarrow.NoKind, geoarrow.XY)
	}
	return g
}

// nativeKind returns the kind of a column of geometries of these kinds, or NoKind if no native
// encoding holds them.
func nativeKind(kinds uint32) (kind geoarrow.Kind) {
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		switch {
		case kinds>>k&1 == 0:
		case kind == geoarrow.NoKind || kind.Multi() == k:
			kind = k
		default:
			return geoarrow.NoKind
		}
	}
	if kind == geoarrow.GeometryCollection {
		return geoarrow.NoKind
	}
	return kind
}

// native fills a column of g.Kind, whose rows are of this kind or of its single kind. Kinds differ
// in their number of levels, but on the device each row has parts, each part rings and each ring
// positions.
func (d *deviceRows) native(g *geoarrow.Geometry, sh *deviceShapes) {
	promoted := sh.report.Kinds&(sh.report.Kinds-1) != 0
	final := !promoted // else some members are dropped, on the host
	deliver := func(b gpu.Buffer[float64]) []float64 { return device.Deliver(d.Work, b, final) }
	g.X, g.Y, g.Z = deliver(sh.x), deliver(sh.y), deliver(sh.z)
	switch g.Kind {
	case geoarrow.Point:
		d.Accept(sh.x.Len() == g.Rows-g.Nulls, "points without a position")
	case geoarrow.LineString, geoarrow.MultiPoint:
		g.Geoms = device.Offsets(d.Work, d.first(sh), final)
	case geoarrow.Polygon, geoarrow.MultiLineString:
		g.Geoms = device.Deliver(d.Work, sh.at.SpanRings, final)
		g.Rings = device.Deliver(d.Work, sh.at.ShortRings, final)
	case geoarrow.MultiPolygon:
		g.Geoms = device.Offsets(d.Work, sh.at.Spans, final)
		g.Parts = device.Offsets(d.Work, sh.at.Parts, final)
		g.Rings = device.Offsets(d.Work, sh.at.Rings, final)
	}
	var kinds []kgeom.GeometryKind
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
