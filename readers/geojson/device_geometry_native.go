package geojson

import (
	"math"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// native fills a column of g.Kind, whose rows are of this kind or of its single kind. Rows have their own number of levels, but for the device each has parts,
// a part rings and a ring positions.
func (d *deviceRows) native(g *geoarrow.Geometry, sh *deviceShapes) {
	g.X, g.Y, g.Z = device.Result(d.Work, sh.x), device.Result(d.Work, sh.y), device.Result(d.Work, sh.z)
	switch g.Kind {
	case geoarrow.Point:
		d.Accept(sh.x.Len() == g.Rows-g.Nulls, "points without a position")
	case geoarrow.LineString, geoarrow.MultiPoint:
		g.Geoms = d.narrow(d.first(sh))
	case geoarrow.Polygon, geoarrow.MultiLineString:
		g.Geoms, g.Rings = device.Result(d.Work, sh.at.SpanRings), device.Result(d.Work, sh.at.ShortRings)
	case geoarrow.MultiPolygon:
		g.Geoms, g.Parts, g.Rings = d.narrow(sh.at.Spans), d.narrow(sh.at.Parts), d.narrow(sh.at.Rings)
	}
	var kinds []kernels.GeometryKind
	promoted := sh.report.Kinds&(sh.report.Kinds-1) != 0
	if promoted || len(sh.dims) > 0 {
		kinds = device.Result(d.Work, sh.kinds)
	}
	d.After(func() {
		if !sh.uniform() {
			g.Kinds = rowKinds(kinds)
		}
		switch {
		case g.Kind == geoarrow.Point && g.Nulls > 0:
			g.X, g.Y, g.Z = spread(g.X, g), spread(g.Y, g), spread(g.Z, g)
		case !promoted:
		case g.Kind == geoarrow.MultiPoint && sh.found.Empty > 0:
			dropEmptyPoints(g)
		case g.Kind == geoarrow.MultiLineString:
			g.Rings = dropEmpty(g, g.Rings, geoarrow.LineString)
		case g.Kind == geoarrow.MultiPolygon:
			g.Parts = dropEmpty(g, g.Parts, geoarrow.Polygon)
		}
	})
}

// rowKinds are the same numbers.
func rowKinds(kinds []kernels.GeometryKind) []geoarrow.RowKind {
	return unsafe.Slice((*geoarrow.RowKind)(unsafe.Pointer(unsafe.SliceData(kinds))), len(kinds))
}

// acceptNarrow refuses chunks whose offsets 32 bits may not hold. They are far below that.
func (d *deviceRows) acceptNarrow() { d.Accept(d.dev.Len() < math.MaxInt32, "a chunk beyond 2 GiB") }

// narrow gives offsets of 32 bits.
func (d *deviceRows) narrow(wide gpu.Buffer[int64]) []int32 {
	d.acceptNarrow()
	to := device.Alloc[int32](d.Work, wide.Len())
	if d.Stopped() {
		return nil
	}
	d.Try(d.K.NarrowInt32(d.S, wide, to))
	return device.Result(d.Work, to)
}

// spread gives every row of points its ordinate: the rows that are not null have one each, others 0.
func spread(v []float64, g *geoarrow.Geometry) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, g.Rows)
	next := 0
	for i := range out {
		if g.Valid[i>>3]>>(i&7)&1 != 0 {
			out[i] = v[next]
			next++
		}
	}
	return out
}

// dropEmpty takes from a column of a Multi kind the members that are empty geometries of its single kind: these have none. members are the offsets of what the
// geometries consist of.
func dropEmpty(g *geoarrow.Geometry, members []int32, single geoarrow.Kind) []int32 {
	kept, at := int32(0), int32(0)
	for i, k := range g.Kinds {
		end := g.Geoms[i+1]
		for ; at < end; at++ {
			if k.Kind() == single && members[at+1] == members[kept] {
				continue
			}
			kept++
			members[kept] = members[at+1]
		}
		g.Geoms[i+1] = kept
	}
	return members[:kept+1]
}

// dropEmptyPoints takes from a column of MultiPoint the positions without numbers: those of empty Points.
func dropEmptyPoints(g *geoarrow.Geometry) {
	kept, at := int32(0), int32(0)
	for i := range g.Kinds {
		end := g.Geoms[i+1]
		for ; at < end; at++ {
			if math.IsNaN(g.X[at]) {
				continue
			}
			g.X[kept], g.Y[kept] = g.X[at], g.Y[at]
			if g.Z != nil {
				g.Z[kept] = g.Z[at]
			}
			kept++
		}
		g.Geoms[i+1] = kept
	}
	g.X, g.Y = g.X[:kept], g.Y[:kept]
	if g.Z != nil {
		g.Z = g.Z[:kept]
	}
}
