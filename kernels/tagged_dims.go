package kernels

import "github.com/vibeflight/vibeflight/gpu"

// TaggedKinds takes the types of rows that have a geometry.
//
//	types     n elements
//	valid     Words(n) words: bit i says that row i has a geometry; the others' types don't count
//	kinds     n elements, overwritten: none has a dimension
//	collects  Words(n) words, overwritten: bit i says that row i is a GeometryCollection
//	report    one element, overwritten: GeometryUnlike says that a type is none of the seven
//
// One launch; reads a byte and a bit a row and writes as much.
func (k *Set) TaggedKinds(s *gpu.Stream, types gpu.Buffer[TypeKind], valid Mask, kinds gpu.Buffer[GeometryKind],
	collects Mask, report gpu.Buffer[GeometryReport],
) error {
	w := k.begin(s, "tagged kinds")
	n := int64(types.Len())
	w.need(int64(kinds.Len()) == n, "%d kinds for %d types", kinds.Len(), n)
	w.bits("valid", valid, n)
	w.bits("collects", collects, n)
	w.geometryReport(report)
	w.launch("tagged_dims_kinds", blocks(n, block), block, types.Arg(), valid.Arg(), gpu.Int(n), kinds.Arg(),
		collects.Arg(), report.Arg())
	return w.done()
}

// TaggedDims gives geometries the dimension that their tags say, or without a tag their positions:
// two ordinates, three, which are z, or four. It checks that all positions of a geometry have as
// many, and refuses those that don't: then Odd has GeometryRagged, and the kinds say nothing. A
// position without numbers has the dimension of its geometry.
//
//	x       positions; the NaN of x says that one has no numbers
//	z, m    their third and fourth ordinates, NaN where there is none; or none of them at all. Updated: the third ordinate of a geometry with m and without z is moved to m
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
func (k *Set) TaggedDims(s *gpu.Stream, x, z, m gpu.Buffer[float64], first gpu.Buffer[int64],
	tags gpu.Buffer[TagDims], kinds gpu.Buffer[GeometryKind], report gpu.Buffer[GeometryReport],
) error {
	w := k.begin(s, "tagged dims")
	n, positions := int64(kinds.Len()), int64(x.Len())
	w.need(int64(first.Len()) == n+1, "%d offsets for %d rows", first.Len(), n)
	w.need(int64(tags.Len()) == n, "%d tags for %d rows", tags.Len(), n)
	w.need((z.Len() == x.Len() || z.Len() == 0) && (m.Len() == z.Len() || m.Len() == 0), "%d, %d and %d ordinates",
		x.Len(), z.Len(), m.Len())
	w.geometryReport(report)
	sizes := zeros[uint32](w, int(n))
	w.launch("tagged_dims_sizes", blocks(positions, block), block, x.Arg(), z.Arg(), m.Arg(), gpu.Int(positions),
		first.Arg(), gpu.Int(n), sizes.Arg())
	w.launch("tagged_dims_rows", blocks(n, block), block, sizes.Arg(), tags.Arg(), gpu.Int(n), kinds.Arg(),
		report.Arg())
	if m.Len() > 0 {
		w.launch("tagged_dims_move", blocks(positions, block), block, gpu.Int(positions), first.Arg(),
			gpu.Int(n), kinds.Arg(), z.Arg(), m.Arg())
	}
	return w.done()
}
