package device

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// CountBits returns how many bits of a mask are set.
func CountBits(mask []uint64) (n int) {
	for _, w := range mask {
		n += bits.OnesCount64(w)
	}
	return n
}

// Validity returns the number of nulls among n rows, given the device's mask of rows with a value,
// and the mask in Arrow's layout: nil without nulls.
func Validity(mask []uint64, n int) (nulls int, valid []byte) {
	if nulls = n - CountBits(mask); nulls > 0 {
		valid = geoarrow.AsBytes(mask)[:(n+7)/8]
	}
	return nulls, valid
}

// BeyondOffsets is the reason for refusing a chunk whose offsets may not fit 32 bits. Chunks are
// far smaller.
const BeyondOffsets = "a chunk beyond 2 GiB"

// Offsets queues a copy of the offsets of a chunk's rows, in 32 bits. final: they are those of the
// column, as in Final.
func Offsets(w *Work, wide gpu.Buffer[int64], final bool) []int32 {
	w.Accept(w.Text.Len() < math.MaxInt32, BeyondOffsets)
	to := Alloc[int32](w, wide.Len())
	if w.Stopped() {
		return nil
	}
	w.Try(klist.NarrowInt32(w.K, w.S, wide, to))
	return Deliver(w, to, final)
}

// RowKinds returns the same numbers.
func RowKinds(kinds []kgeom.GeometryKind) []geoarrow.RowKind {
	return unsafe.Slice((*geoarrow.RowKind)(unsafe.Pointer(unsafe.SliceData(kinds))), len(kinds))
}

// Spread gives every row of points its ordinates: one each for non-null rows, 0 for others.
func Spread(g *geoarrow.Geometry) {
	for _, v := range []*[]float64{&g.X, &g.Y, &g.Z, &g.M} {
		if *v == nil {
			continue
		}
		out, next := make([]float64, g.Rows), 0
		for i := range out {
			if g.Valid[i>>3]>>(i&7)&1 != 0 {
				out[i] = (*v)[next]
				next++
			}
		}
		*v = out
	}
}

// DropEmpty removes from a column of a Multi kind the members that come from empty geometries of
// the single kind. empty: there may be empty points, whose ordinates are NaN; members of a
// MultiPoint stay.
//
// On the device each row has the levels of a MultiPolygon, so that an empty LineString among
// MultiLineStrings has one part, without positions.
func DropEmpty(g *geoarrow.Geometry, empty bool) {
	switch {
	case g.Kind == geoarrow.MultiPoint && empty:
		dropEmptyPoints(g)
	case g.Kind == geoarrow.MultiLineString:
		g.Rings = dropEmpty(g, g.Rings, geoarrow.LineString)
	case g.Kind == geoarrow.MultiPolygon:
		g.Parts = dropEmpty(g, g.Parts, geoarrow.Polygon)
	}
}

// dropEmpty returns the offsets of the members that are left.
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
