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

// Validity returns how many of n rows have no value, by a mask of the device of those that have
// one, and the mask as Arrow has it: nil if every row has one.
func Validity(mask []uint64, n int) (nulls int, valid []byte) {
	if nulls = n - CountBits(mask); nulls > 0 {
		valid = geoarrow.AsBytes(mask)[:(n+7)/8]
	}
	return nulls, valid
}

// BeyondOffsets is why a chunk is refused whose offsets may not fit 32 bits. Chunks are far
// smaller.
const BeyondOffsets = "a chunk beyond 2 GiB"

// Offsets has offsets of the rows of a chunk copied, in 32 bits.
func Offsets(w *Work, wide gpu.Buffer[int64]) []int32 {
	w.Accept(w.Text.Len() < math.MaxInt32, BeyondOffsets)
	to := Alloc[int32](w, wide.Len())
	if w.Stopped() {
		return nil
	}
	w.Try(klist.NarrowInt32(w.K, w.S, wide, to))
	return Result(w, to)
}

// RowKinds returns the same numbers.
func RowKinds(kinds []kgeom.GeometryKind) []geoarrow.RowKind {
	return unsafe.Slice((*geoarrow.RowKind)(unsafe.Pointer(unsafe.SliceData(kinds))), len(kinds))
}

// Spread gives every row of points its ordinates: the rows that are not null have one each, others 0.
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

// DropEmpty takes from a column of a Multi kind the members that are empty geometries of its single
// kind: these have none. empty says that there may be some among points, whose numbers are NaN
// then; those of a MultiPoint stay.
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
