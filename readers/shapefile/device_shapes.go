package shapefile

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kshape "github.com/vibeflight/vibeflight/kernels/shape"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceShapes reads a chunk of records on a device, with their attributes. The host waits once for
// the numbers of rows, parts and positions.
//
//	.dbf -> rows -> columns
//	.shx -> records -> shapes -> parts, positions -> kinds
//
// The host nests rings: it receives the rings of polygons in the order of the file, and reorders
// those of the few polygons with several.
type deviceShapes struct {
	*device.Work
	*deviceChunks
	shapes kshape.Shapes
	rows   int // records that are rows

	rings gpu.Buffer[int64] // of types with parts
	to    kshape.ShapePositions
	has   uint32 // kernels.ShapeHas*
}

// read reads the records into a part.
func (d *deviceShapes) read(part *readers.Part) {
	var attributes *dbf.DeviceAttributes
	if d.table != nil {
		attributes = dbf.QueueAttributes(d.Work, d.attributes, d.Work.Pieces[1])
	}
	d.find(attributes)
	starts, valid, report := device.Result(d.Work, d.shapes.Starts), device.Result(d.Work, d.shapes.Valid),
		device.Result(d.Work, d.shapes.Report)
	positions, parts := d.total(d.shapes.Points), d.total(d.shapes.Parts)
	if d.Await(); d.Stopped() {
		return
	}
	d.accept(report[0].Odd)
	part.Columns = &geoarrow.Columns{Rows: d.shapes.Records}
	if attributes != nil {
		part.Columns = attributes.Finish()
	}
	if d.Stopped() {
		return
	}
	d.rows, d.has = part.Columns.Rows, report[0].Has
	part.Starts = starts[:d.rows]
	d.positions(positions, parts)
	part.Columns.Geometry = d.geometry(valid, &part.Summary)
}

// find finds the shapes.
func (d *deviceShapes) find(attributes *dbf.DeviceAttributes) {
	n := int(d.next - d.first)
	x := kshape.Shapes{
		Type: kshape.ShapeType(d.kind), Records: n, First: d.base + d.first, Base: d.At,
		Longest: d.limits.MaxFeatureBytes, Index: d.Work.Pieces[0],
		Starts: device.Alloc[int64](d.Work, n), Flags: device.Alloc[byte](d.Work, n),
		Valid:  device.Alloc[uint64](d.Work, kernels.Words(n)),
		Report: device.Alloc[kshape.ShapeReport](d.Work, 1),
	}
	if d.kind.family() != point {
		x.Points = device.Alloc[int64](d.Work, n+1)
	}
	if x.Type.HasParts() {
		x.Parts = device.Alloc[int64](d.Work, n+1)
	}
	if attributes != nil {
		rows := attributes.Rows()
		x.Rows, x.Live = rows.Rows, rows.Live
	}
	if d.shapes = x; !d.Stopped() {
		d.Try(kshape.FindShapes(d.K, d.S, d.Text, &d.shapes))
	}
}

// total returns the last offset, if there is one.
func (d *deviceShapes) total(offsets gpu.Buffer[int64]) []int64 {
	if n := offsets.Len(); n > 0 {
		return device.Result(d.Work, offsets.Slice(n-1, n))
	}
	return nil
}

// reasons are the reasons for leaving records to the CPU engine.
var reasons = []struct {
	odd kshape.ShapeOddity
	why string
}{
	{kshape.ShapeRecords, "a record of another number or length, or in another place, than the .shx has it"},
	{kshape.ShapeTooLong, "a record that is too long"},
	{kshape.ShapeUnlike, "a shape of another type than the file's, " +
		"or of another length than its parts and points have"},
	{kshape.ShapeBadParts, "a part that begins where none may"},
}

// accept refuses the chunk if a bit of odd is set.
func (d *deviceShapes) accept(odd kshape.ShapeOddity) {
	for _, r := range reasons {
		d.Accept(odd&r.odd == 0, r.why)
	}
}

// positions reads parts and positions, whose counts are known.
func (d *deviceShapes) positions(positions, parts []int64) {
	if d.Stopped() || d.rows == 0 {
		return
	}
	count := d.rows
	if positions != nil {
		count = int(positions[0])
	}
	d.to.X, d.to.Y = device.Alloc[float64](d.Work, count), device.Alloc[float64](d.Work, count)
	if d.kind.hasZ() {
		d.to.Z = device.Alloc[float64](d.Work, count)
	}
	if d.has&kshape.ShapeHasMeasures != 0 {
		d.to.M, d.to.Measured = device.Alloc[float64](d.Work, count), device.Alloc[byte](d.Work, d.shapes.Records)
	}
	if parts != nil {
		d.rings = device.Alloc[int64](d.Work, int(parts[0])+1)
	}
	if d.Stopped() {
		return
	}
	d.Try(gpu.Fill(d.S, d.to.Measured, 0))
	d.Try(kshape.ReadShapes(d.K, d.S, d.Text, &d.shapes, d.to))
	if parts == nil {
		return
	}
	d.Try(kshape.ShapeParts(d.K, d.S, d.Text, &d.shapes, d.rings))
	report := device.Result(d.Work, d.shapes.Report)
	d.After(func() { d.accept(report[0].Odd) })
}
