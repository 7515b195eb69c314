package wkt

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
)

// TaggedKinds takes the types of rows that have a geometry.
//
//	types     n elements
//	valid     Words(n) words: bit i says that row i has a geometry; the others' types don't count
//	kinds     n elements, overwritten: none has a dimension
//	collects  Words(n) words, overwritten: bit i says that row i is a GeometryCollection
//	report    one element, overwritten: GeometryUnlike says that a type is not one of the seven
//
// One launch; reads a byte and a bit a row and writes as much.
func TaggedKinds(k *kernels.Set, s *gpu.Stream, types gpu.Buffer[kgeom.TypeKind], valid kernels.Mask,
	kinds gpu.Buffer[kgeom.GeometryKind],
	collects kernels.Mask, report gpu.Buffer[kgeom.GeometryReport],
) error {
	w := k.Begin(s, "tagged kinds")
	n := int64(types.Len())
	w.Need(int64(kinds.Len()) == n, "%d kinds for %d types", kinds.Len(), n)
	w.CheckBits("valid", valid, n)
	w.CheckBits("collects", collects, n)
	kgeom.ClearReport(w, report)
	w.Launch("tagged_dims_kinds", kernels.Blocks(n, kernels.Block), kernels.Block, types.Arg(), valid.Arg(),
		gpu.Int(n), kinds.Arg(),
		collects.Arg(), report.Arg())
	return w.Done()
}

// TaggedDims gives geometries the dimension that their tags say, or without a tag their positions:
// two ordinates, three, which are z, or four. It checks that all positions of a geometry have as
// many, and refuses those that don't: then Odd has GeometryRagged, and the kinds say nothing. A
// position without numbers has the dimension of its geometry.
//
//	x       positions; the NaN of x says that one has no numbers
//	z, m    their third and fourth ordinates, NaN where there is none; or none of them at all. Updated: the
//	        third ordinate of a geometry with m and without z is moved to m
//	first   n+1 offsets: row i is the positions from first[i] to first[i+1]
//	tags    n elements
//	kinds   n elements as TaggedKinds gives them, updated. A collection has no positions
//	report  one element, overwritten
//
//	kinds   LineString                        Point             Point
//	tags    M                                 none              Z
//	z       7 8                               9                 (EMPTY)
//	kinds   LineString|GeometryM              Point|GeometryZ   Point|GeometryZ
//	z, m    NaN NaN, 7 8                      9, NaN            NaN, NaN
//
// z has to be there if m is, and both if a row has three ordinates and a tag M. Three launches;
// reads up to 24 bytes a position and 14 bytes a row.
func TaggedDims(k *kernels.Set, s *gpu.Stream, x, z, m gpu.Buffer[float64], first gpu.Buffer[int64],
	tags gpu.Buffer[TagDims], kinds gpu.Buffer[kgeom.GeometryKind], report gpu.Buffer[kgeom.GeometryReport],
) error {
	w := k.Begin(s, "tagged dims")
	n, positions := int64(kinds.Len()), int64(x.Len())
	w.Need(int64(first.Len()) == n+1, "%d offsets for %d rows", first.Len(), n)
	w.Need(int64(tags.Len()) == n, "%d tags for %d rows", tags.Len(), n)
	w.Need((z.Len() == x.Len() || z.Len() == 0) && (m.Len() == z.Len() || m.Len() == 0), "%d, %d and %d ordinates",
		x.Len(), z.Len(), m.Len())
	kgeom.ClearReport(w, report)
	sizes := kernels.ZeroScratch[uint32](w, int(n))
	w.Launch("tagged_dims_sizes", kernels.Blocks(positions, kernels.Block), kernels.Block, x.Arg(), z.Arg(),
		m.Arg(), gpu.Int(positions),
		first.Arg(), gpu.Int(n), sizes.Arg())
	w.Launch("tagged_dims_rows", kernels.Blocks(n, kernels.Block), kernels.Block, sizes.Arg(), tags.Arg(),
		gpu.Int(n), kinds.Arg(),
		report.Arg())
	if m.Len() > 0 {
		w.Launch("tagged_dims_move", kernels.Blocks(positions, kernels.Block), kernels.Block, gpu.Int(positions),
			first.Arg(),
			gpu.Int(n), kinds.Arg(), z.Arg(), m.Arg())
	}
	return w.Done()
}
