// Package shape has the kernels for the records of shapefiles.
package shape

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
)

// ShapeType is the type of the shapes of a .shp, as ESRI numbers them; MultiPatch is not one of these.
type ShapeType uint32

// The families of shapes. 10 more is one with z and perhaps m, 20 more one with perhaps m.
const (
	ShapePoint      ShapeType = 1
	ShapePolyLine   ShapeType = 3
	ShapePolygon    ShapeType = 5
	ShapeMultiPoint ShapeType = 8
)

func (t ShapeType) family() ShapeType { return t % 10 }

// HasZ reports whether the shapes have a z.
func (t ShapeType) HasZ() bool { return t > 10 && t < 20 }

// HasParts reports whether the shapes consist of parts.
func (t ShapeType) HasParts() bool { return t.family() == ShapePolyLine || t.family() == ShapePolygon }

// ShapeOddity is why shapes are for a host to read.
type ShapeOddity uint32

// As ODD_* of shapes.cu.
const (
	ShapeRecords ShapeOddity = 1 << iota // a record of another number, place or length than the index says
	ShapeTooLong                         // a record that is longer than it may be
	// a shape of another type, or one whose length is not that of its parts and points
	ShapeUnlike
	ShapeBadParts // a part without points, or not after the one before it
)

// ShapeReport reports what there is among shapes.
type ShapeReport struct {
	Odd ShapeOddity
	Has uint32 // ShapeHas*
}

// As HAS_* of shapes.cu.
const (
	ShapeHasParts    = 1 << iota // a shape of more than one part
	ShapeHasMeasures             // a record with room for measures, which need not be some
)

// Shapes are the records of a .shp that lie in a text, one after the other. The caller sets and
// allocates all of it.
type Shapes struct {
	Type    ShapeType
	Records int
	First   int64 // number of the first one
	Base    int64 // offset in the file at which the text begins
	Longest int64 // bytes that the content of a record may have

	Index gpu.Buffer[byte]  // a .shx entry for each record, at a multiple of 16 bytes; it may say anything
	Rows  gpu.Buffer[int64] // as those of FixedRecords, or none: every record is a row
	Live  gpu.Buffer[int64] // likewise

	// Of each row, overwritten; there is an element for each record. After the last row Starts
	// hold anything, and the others 0.
	Starts gpu.Buffer[int64]       // where its record begins in the text
	Flags  gpu.Buffer[byte]        // for the methods of Set
	Valid  kernels.Mask            // it has a shape
	Points gpu.Buffer[int64]       // positions of the rows before each one, and of all; of types but points
	Parts  gpu.Buffer[int64]       // parts likewise; of types that have some
	Report gpu.Buffer[ShapeReport] // one element
}

// The structs of shapes.cu.
type (
	shapeRecordsArgs struct {
		n, base, first, records, longest, kind int64
		starts                                 gpu.Pointer[int64]
		flags                                  gpu.Pointer[byte]
		points, parts                          gpu.Pointer[int32]
		valid                                  gpu.Pointer[uint64]
		report                                 gpu.Pointer[ShapeReport]
	}
	shapePositionsArgs struct {
		n, kind, records, count int64
		x, y, z, m              gpu.Pointer[float64]
		measured                gpu.Pointer[byte]
	}
)

// FindShapes checks records and finds the shapes of rows.
//
//	text  the records; the last one ends with it
//
//	index   50 20      24 20         in words: after the header, and after 48 bytes
//	text    1 20 shape 2 20 shape
//	Starts  0 48
//
// One launch and a scan each for points and for parts; reads a sector or two a record, and writes
// up to 41 bytes.
func FindShapes(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Shapes) error {
	w := k.Begin(s, "find shapes")
	n := w.CheckText(text)
	x.check(w)
	w.Need(x.Index.Len() == 8*x.Records && x.Index.Address()%8 == 0, "an index of %d bytes for %d records",
		x.Index.Len(), x.Records)
	w.Need(x.Rows.Len() == 0 || x.Rows.Len() == x.Records && x.Live.Len() == 1, "room for %d rows of %d records",
		x.Rows.Len(), x.Records)
	w.Need(x.Report.Len() == 1, "%d elements for the report", x.Report.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, x.Report, 0)
	}
	var points, parts gpu.Buffer[int32]
	if x.Points.Len() > 0 {
		points = kernels.Scratch[int32](w, x.Records)
	}
	if x.Parts.Len() > 0 {
		parts = kernels.Scratch[int32](w, x.Records)
	}
	args := shapeRecordsArgs{
		n: n, base: x.Base, first: x.First, records: int64(x.Records), longest: x.Longest, kind: int64(x.Type),
		starts: x.Starts.Pointer(), flags: x.Flags.Pointer(), points: points.Pointer(), parts: parts.Pointer(),
		valid: x.Valid.Pointer(), report: x.Report.Pointer(),
	}
	w.Launch("shape_records", kernels.Blocks(int64(x.Records), kernels.Block), kernels.Block, text.Arg(),
		x.Index.Arg(), x.Rows.Arg(), x.Live.Arg(), gpu.Struct(&args))
	if points.Len() > 0 && w.Err == nil {
		kernels.Scan(w, points, x.Points, gpu.Buffer[int64]{})
	}
	if parts.Len() > 0 && w.Err == nil {
		kernels.Scan(w, parts, x.Parts, gpu.Buffer[int64]{})
	}
	return w.Done()
}

// ShapeParts lists the parts of shapes that FindShapes found nothing odd about, and checks them.
//
//	rings  an element for each part and one more, overwritten: the positions before each part, and all
//
// One launch; reads 12 bytes a part, and writes 8.
func ShapeParts(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Shapes, rings gpu.Buffer[int64]) error {
	w := k.Begin(s, "shape parts")
	n := w.CheckText(text)
	x.check(w)
	w.Need(x.Type.HasParts() && rings.Len() > 0, "%d offsets of the parts of shapes of type %d", rings.Len(), x.Type)
	count := int64(rings.Len()) - 1
	w.Launch("shape_parts", kernels.Blocks(count+1, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		x.Starts.Arg(),
		x.Points.Arg(), x.Parts.Arg(), gpu.Int(x.Records), gpu.Int(count), rings.Arg(), x.Report.Arg())
	return w.Done()
}

// ShapePositions are the positions of shapes. Every NaN becomes one, and so does a measure below
// -10^38, or one that a record has no room for.
//
//	X, Y, Z, M  positions, overwritten: of points one a row, 0 where there is no shape. Z and M may be none
//	Measured    an element for each record, 0 before and 1 where a measure of the row is one; none without M
type ShapePositions struct {
	X, Y, Z, M gpu.Buffer[float64]
	Measured   gpu.Buffer[byte]
}

// ReadShapes reads the positions of shapes that FindShapes found nothing odd about.
//
// One launch; reads and writes each ordinate once.
func ReadShapes(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Shapes, to ShapePositions) error {
	w := k.Begin(s, "read shapes")
	n, count := w.CheckText(text), to.X.Len()
	x.check(w)
	w.Need(to.Y.Len() == count && (to.Z.Len() == 0 || to.Z.Len() == count && x.Type.HasZ()) &&
		(to.M.Len() == 0 || to.M.Len() == count), "%d, %d, %d and %d ordinates", count, to.Y.Len(),
		to.Z.Len(), to.M.Len())
	w.Need(to.M.Len() == 0 || to.Measured.Len() == x.Records, "%d elements for which of %d rows have measures",
		to.Measured.Len(), x.Records)
	if x.Type.family() == ShapePoint {
		w.Need(count <= x.Records, "%d points of %d records", count, x.Records)
		w.Launch("shape_points", kernels.Blocks(int64(count), kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
			gpu.Int(x.Type), x.Starts.Arg(), x.Flags.Arg(), gpu.Int(count), to.X.Arg(), to.Y.Arg(), to.Z.Arg(),
			to.M.Arg(), to.Measured.Arg())
	} else {
		args := shapePositionsArgs{
			n: n, kind: int64(x.Type), records: int64(x.Records), count: int64(count), x: to.X.Pointer(),
			y: to.Y.Pointer(), z: to.Z.Pointer(), m: to.M.Pointer(), measured: to.Measured.Pointer(),
		}
		w.Launch("shape_positions", kernels.Blocks(int64(count), kernels.Block), kernels.Block, text.Arg(),
			x.Starts.Arg(), x.Flags.Arg(), x.Points.Arg(), x.Parts.Arg(), gpu.Struct(&args))
	}
	return w.Done()
}

// ShapeKinds reports which geometries rows are. A PolyLine of more than one part is a MultiLineString;
// a Polygon is one whatever its parts are.
//
//	measured  as ReadShapes gives it, or none: no row has measures
//	kinds     an element a row, overwritten
//	all       one element, overwritten: bit 1<<kind for each of them but 0
//
// One launch; reads up to 18 bytes a row, and writes one.
func ShapeKinds(k *kernels.Set, s *gpu.Stream, x *Shapes, measured gpu.Buffer[byte],
	kinds gpu.Buffer[kgeom.GeometryKind],
	all gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "shape kinds")
	x.check(w)
	w.Need(kinds.Len() <= x.Records && (measured.Len() == 0 || measured.Len() == x.Records),
		"%d kinds of %d records, %d of which may have measures", kinds.Len(), x.Records, measured.Len())
	w.Need(all.Len() == 1, "%d elements for all kinds", all.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, all, 0)
	}
	w.Launch("shape_kinds", kernels.Blocks(int64(kinds.Len()), kernels.Block), kernels.Block, gpu.Int(x.Type),
		x.Flags.Arg(),
		x.Parts.Arg(), measured.Arg(), gpu.Int(kinds.Len()), kinds.Arg(), all.Arg())
	return w.Done()
}

// check checks that there is room for what each row has.
func (x *Shapes) check(w *kernels.Call) {
	f := x.Type.family()
	w.Need(x.Type < 30 && (f == ShapePoint || f == ShapePolyLine || f == ShapePolygon || f == ShapeMultiPoint),
		"shapes of type %d", x.Type)
	w.Need(x.Records >= 1 && x.Starts.Len() == x.Records && x.Flags.Len() == x.Records,
		"room for %d starts and %d flags of %d records", x.Starts.Len(), x.Flags.Len(), x.Records)
	w.CheckBits("valid", x.Valid, int64(x.Records))
	points, parts := 0, 0
	if f != ShapePoint {
		points = x.Records + 1
	}
	if x.Type.HasParts() {
		parts = x.Records + 1
	}
	w.Need(x.Points.Len() == points && x.Parts.Len() == parts, "offsets of %d points and %d parts of %d records",
		x.Points.Len(), x.Parts.Len(), x.Records)
}
