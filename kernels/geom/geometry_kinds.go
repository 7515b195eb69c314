package geom

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// GeometryKind is what a geometry is by itself: 0 for none, else a TypeKind from KindPoint to
// KindGeometryCollection, and GeometryZ and GeometryM with it.
type GeometryKind uint8

// GeometryZ and GeometryM say that positions of the geometry have a z and an m. In GeoJSON, where
// no ordinate has a name, the third one is z.
const (
	GeometryZ GeometryKind = 8
	GeometryM GeometryKind = 16
)

// GeometryOddity is why geometries are not what their types say.
type GeometryOddity uint32

// As GEOMETRY_* of geometry_kinds.cu and tagged_dims.cu.
const (
	// a row of no known type, or without the member that its type has, or with the one that it has
	// not
	GeometryUnlike GeometryOddity = 1 << iota
	GeometryHollow                // a position without numbers in a geometry that is no Point
	// positions of several lengths in a geometry, or of others than its tag says
	GeometryRagged
)

// GeometryReport reports what there is among geometries.
type GeometryReport struct {
	Kinds uint32 // bit 1<<kind for each GeometryKind but 0
	Odd   GeometryOddity
	Named uint32 // of ReadMembers: the types that Record names, as GeoJSONTypesFound has them
}

// GeometryDims looks at the positions of geometries: which rows have a third ordinate, and whether
// a position without numbers stands where none may.
//
//	x       positions; NaN says that it has no numbers
//	z       positions, NaN where there is none; or none of them at all
//	first   n+1 offsets: row i is the positions from first[i] to first[i+1]
//	kinds   n elements as ReadMembers gives them, updated
//	report  one element, overwritten
//
//	kinds   LineString  Point  Polygon
//	z       NaN 7       NaN    NaN NaN NaN NaN
//	kinds   LineString|GeometryZ  Point  Polygon
//
// Two launches; reads 16 bytes a position and a byte a row.
func GeometryDims(k *kernels.Set, s *gpu.Stream, x, z gpu.Buffer[float64], first gpu.Buffer[int64],
	kinds gpu.Buffer[GeometryKind], report gpu.Buffer[GeometryReport],
) error {
	w := k.Begin(s, "geometry dims")
	n, positions := int64(kinds.Len()), int64(x.Len())
	w.Need(int64(first.Len()) == n+1, "%d offsets for %d rows", first.Len(), n)
	w.Need(z.Len() == x.Len() || z.Len() == 0, "%d and %d ordinates", x.Len(), z.Len())
	ClearReport(w, report)
	w.Launch("geometry_kinds_dims", kernels.Blocks(positions, kernels.Block), kernels.Block, x.Arg(),
		z.Arg(), gpu.Int(positions),
		first.Arg(), gpu.Int(n), kinds.Arg(), report.Arg())
	w.Launch("geometry_kinds_totals", kernels.Blocks(n, kernels.Block), kernels.Block, kinds.Arg(),
		gpu.Int(n), report.Arg())
	return w.Done()
}

// ClearReport checks and clears a report.
func ClearReport(w *kernels.Call, report gpu.Buffer[GeometryReport]) {
	w.Need(report.Len() == 1, "%d elements for the report", report.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(w.Stream, report, 0)
	}
}
