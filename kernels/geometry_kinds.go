package kernels

import "github.com/vibeflight/vibeflight/gpu"

// GeometryKind is what a geometry is by itself: 0 for none, else a TypeKind from KindPoint to KindGeometryCollection, and GeometryZ and GeometryM with it.
type GeometryKind uint8

// GeometryZ and GeometryM say that positions of the geometry have a z and an m. In GeoJSON, where no ordinate has a name, the third one is z.
const (
	GeometryZ GeometryKind = 8
	GeometryM GeometryKind = 16
)

// GeometryOddity is why geometries are not what their types say.
type GeometryOddity uint32

// As GEOMETRY_* of geometry_kinds.cu and tagged_dims.cu.
const (
	GeometryUnlike GeometryOddity = 1 << iota // a row of no known type, or without the member that its type has, or with the one that it has not
	GeometryHollow                            // a position without numbers in a geometry that is no Point
	GeometryRagged                            // positions of several lengths in a geometry, or of others than its tag says
)

// GeometryReport says what there is among geometries.
type GeometryReport struct {
	Kinds uint32 // bit 1<<kind for each GeometryKind but 0
	Odd   GeometryOddity
	Named uint32 // of GeometryKinds: the types that Record names, as GeoJSONTypesFound has them
}

// GeometryMembers are the members that say what geometries are: of each row a member, or -1.
//
//	Record       its value names the record's own type: Feature; or no element
//	Type         its value names the type, as GeoJSONTypes has it
//	Geometry     the record's member whose value the geometry is; or no element: every row has a geometry
//	Coordinates  arrays
//	Geometries   likewise
//	Base         where the empty span of a row without coordinates lies
type GeometryMembers struct {
	Record, Type, Geometry, Coordinates, Geometries gpu.Buffer[int32]
	Base                                            gpu.Buffer[int64]
}

// GeometryKinds reads the types of rows that have a geometry, and checks that coordinates stand with the types that have them.
//
//	text        n bytes
//	rows        of m members
//	valueStart  m members' values, brackets and quotes included
//	valueEnd    likewise
//	kind        m elements
//	to          overwritten: of the coordinates of each row, and what its type names, whether it has a geometry or not
//	kinds       an element a row, overwritten: none has GeometryZ
//	valid       a bit a row, overwritten: it has a geometry
//	report      one element, overwritten
//
//	text      {"geometry":{"type":"Point","coordinates":[1,2]}} {"geometry":null}
//	to.Kinds  Point                                             unknown
//	kinds     Point                                             0
//	valid     1                                                 .
//
// One launch; reads up to 51 bytes a row and 24 of text for each name, and writes 18.
func (k *Set) GeometryKinds(s *gpu.Stream, text gpu.Buffer[byte], rows GeometryMembers, valueStart, valueEnd gpu.Buffer[uint32], kind gpu.Buffer[ValueKind], to Coordinates, kinds gpu.Buffer[GeometryKind], valid Mask, report gpu.Buffer[GeometryReport]) error {
	w := k.begin(s, "geometry kinds")
	n, members, count := w.text(text), countSpans(w, valueStart, valueEnd), int64(kinds.Len())
	w.need(int64(kind.Len()) == members, "%d kinds for %d members", kind.Len(), members)
	for _, slots := range []gpu.Buffer[int32]{rows.Type, rows.Coordinates, rows.Geometries} {
		w.need(int64(slots.Len()) == count, "members of %d rows, of %d", slots.Len(), count)
	}
	for _, slots := range []gpu.Buffer[int32]{rows.Record, rows.Geometry} {
		w.need(int64(slots.Len()) == count || slots.Len() == 0, "types or geometries of %d rows, of %d", slots.Len(), count)
	}
	w.need(int64(rows.Base.Len()) == count && countSpans(w, to.Starts, to.Ends) == count && int64(to.Kinds.Len()) == count, "%d bases, %d starts and %d types for %d rows", rows.Base.Len(), to.Starts.Len(), to.Kinds.Len(), count)
	w.bits("valid", valid, count)
	w.geometryReport(report)
	w.launch("geometry_kinds_rows", blocks(count, block), block, text.Arg(), gpu.Int(n), valueStart.Arg(), valueEnd.Arg(), kind.Arg(), gpu.Int(members), gpu.Int(count),
		rows.Record.Arg(), rows.Type.Arg(), rows.Geometry.Arg(), rows.Coordinates.Arg(), rows.Geometries.Arg(), rows.Base.Arg(),
		to.Starts.Arg(), to.Ends.Arg(), to.Kinds.Arg(), kinds.Arg(), valid.Arg(), report.Arg())
	return w.done()
}

// GeometryDims looks at the positions of geometries: which rows have a third ordinate, and whether a position without numbers stands where none may.
//
//	x       positions; NaN says that it has no numbers
//	z       positions, NaN where there is none; or none of them at all
//	first   n+1 offsets: row i is the positions from first[i] to first[i+1]
//	kinds   n elements as GeometryKinds gives them, updated
//	report  one element, overwritten
//
//	kinds   LineString  Point  Polygon
//	z       NaN 7       NaN    NaN NaN NaN NaN
//	kinds   LineString|GeometryZ  Point  Polygon
//
// Two launches; reads 16 bytes a position and a byte a row.
func (k *Set) GeometryDims(s *gpu.Stream, x, z gpu.Buffer[float64], first gpu.Buffer[int64], kinds gpu.Buffer[GeometryKind], report gpu.Buffer[GeometryReport]) error {
	w := k.begin(s, "geometry dims")
	n, positions := int64(kinds.Len()), int64(x.Len())
	w.need(int64(first.Len()) == n+1, "%d offsets for %d rows", first.Len(), n)
	w.need(z.Len() == x.Len() || z.Len() == 0, "%d and %d ordinates", x.Len(), z.Len())
	w.geometryReport(report)
	w.launch("geometry_kinds_dims", blocks(positions, block), block, x.Arg(), z.Arg(), gpu.Int(positions), first.Arg(), gpu.Int(n), kinds.Arg(), report.Arg())
	w.launch("geometry_kinds_totals", blocks(n, block), block, kinds.Arg(), gpu.Int(n), report.Arg())
	return w.done()
}

// geometryReport checks and clears a report.
func (w *work) geometryReport(report gpu.Buffer[GeometryReport]) {
	w.need(report.Len() == 1, "%d elements for the report", report.Len())
	if w.err == nil {
		w.err = gpu.Fill(w.s, report, 0)
	}
}
