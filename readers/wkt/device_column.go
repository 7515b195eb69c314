package wkt

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// native fills a column of g.Kind, whose rows are of this kind or of its single kind. Rows have their own number of levels, but for the device each has parts,
// a part rings and a ring positions.
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
		g.Geoms = d.narrow(sh.first)
	case geoarrow.Polygon, geoarrow.MultiLineString:
		g.Geoms, g.Rings = d.narrow(sh.lines), d.narrow(sh.at.Rings)
	case geoarrow.MultiPolygon:
		g.Geoms, g.Parts, g.Rings = d.narrow(sh.at.Spans), d.narrow(sh.at.Parts), d.narrow(sh.at.Rings)
	}
	var kinds []kernels.GeometryKind
	if bits.OnesCount32(sh.all) > 1 {
		kinds = device.Result(d.Work, sh.kinds)
	}
	d.After(func() {
		g.Kinds = rowKinds(kinds)
		switch promoted := sh.some(g.Kind) && sh.some(g.Kind-3); {
		case g.Kind == geoarrow.Point && g.Nulls > 0:
			g.X, g.Y, g.Z, g.M = spread(g.X, g), spread(g.Y, g), spread(g.Z, g), spread(g.M, g)
		case !g.Kind.IsMulti() || !promoted:
		case g.Kind == geoarrow.MultiPoint && sh.empty:
			dropEmptyPoints(g)
		case g.Kind == geoarrow.MultiLineString:
			g.Rings = dropEmpty(g, g.Rings, geoarrow.LineString)
		case g.Kind == geoarrow.MultiPolygon:
			g.Parts = dropEmpty(g, g.Parts, geoarrow.Polygon)
		}
	})
}

// narrow gives offsets of 32 bits: a chunk is far below what these hold.
func (d *deviceRows) narrow(wide gpu.Buffer[int64]) []int32 {
	d.Accept(d.Text.Len() < math.MaxInt32, "a chunk beyond 2 GiB")
	to := device.Alloc[int32](d.Work, wide.Len())
	if d.Stopped() {
		return nil
	}
	d.Try(d.K.NarrowInt32(d.S, wide, to))
	return device.Result(d.Work, to)
}

// rowKinds are the same numbers.
func rowKinds(kinds []kernels.GeometryKind) []geoarrow.RowKind {
	return unsafe.Slice((*geoarrow.RowKind)(unsafe.Pointer(unsafe.SliceData(kinds))), len(kinds))
}

// nulls counts the bits that are not set among the first n.
func nulls(valid []uint64, n int) int {
	for _, w := range valid {
		n -= bits.OnesCount64(w)
	}
	return n
}

// validity are the first n bits, byte by byte.
func validity(valid []uint64, n int) []byte {
	out := make([]byte, (n+7)/8)
	for i := range out {
		out[i] = byte(valid[i/8] >> (i % 8 * 8))
	}
	return out
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

// dropEmptyPoints takes from a column of MultiPoint the positions of empty Points. Those of a MultiPoint stay, without numbers.
func dropEmptyPoints(g *geoarrow.Geometry) {
	kept, at := int32(0), int32(0)
	for i, k := range g.Kinds {
		end := g.Geoms[i+1]
		for ; at < end; at++ {
			if k.Kind() == geoarrow.Point && math.IsNaN(g.X[at]) {
				continue
			}
			for _, v := range [][]float64{g.X, g.Y, g.Z, g.M} {
				if v != nil {
					v[kept] = v[at]
				}
			}
			kept++
		}
		g.Geoms[i+1] = kept
	}
	for _, v := range []*[]float64{&g.X, &g.Y, &g.Z, &g.M} {
		*v = (*v)[:min(int(kept), len(*v))]
	}
}
