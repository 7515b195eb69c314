package geojson

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceRows reads a text of whole features on a device: that of a chunk, or the members of its
// collections.
//
//	text -> structure -> records -> members in their columns -> kinds, coordinates -> positions
//	                                                         -> single values      -> texts, lists
type deviceRows struct {
	*device.Work
	turns *taskSchedule
	dev   gpu.Buffer[byte] // the text
	dict  *dictionary
	names *deviceDictionary // dict on the device, after upload
	sep   kjson.RecordSeparator
	deep  int // how many brackets of the text may be open at a time

	asked readers.Projection // columns whose values are requested
	// of columns of numbers in earlier rows; as returned by heldAs
	expected map[geoarrow.ColumnID]arrow.Type
	texts    []geoarrow.ColumnID // columns that must be text
	// columns of these rows that are text because they hold several kinds of values
	mixed []geoarrow.ColumnID

	x         *kjson.Structure
	records   *kjson.Records
	badString gpu.Buffer[int64] // place of an invalid one, or -1; no element: all are valid
	shapes    *placedMembers    // members of geometries
	values    *placedMembers    // members of properties
	foreign   map[string]int64  // number of foreign members of each name
	third     bool              // some position here or in earlier rows has a third ordinate

	longest int64 // maximum length of a feature's text
}

// structuralNames are the members with a meaning in a Feature and its geometry. They begin each
// dictionary.
var structuralNames = []string{"type", "geometry", "properties", "id", "coordinates", "geometries", "bbox"}

const (
	fieldType = iota
	fieldGeometry
	fieldProperties
	fieldID
	fieldCoordinates
	fieldGeometries
	fieldBBox
)

// read reads the rows into a part.
func (d *deviceRows) read(part *readers.Part) {
	d.structure()
	if d.Stopped() {
		return
	}
	top := d.features()
	columns := &geoarrow.Columns{Rows: d.records.Count}
	part.Columns, part.Rows = columns, int64(d.records.Count)
	list, shapes := d.columns(top), d.featureShapes(top)
	scalars := d.readMembers(list, shapes)
	d.together(
		func() { d.attributes(list, scalars, columns) },
		func() { columns.Geometry = d.geometry(top, shapes, &part.Summary) },
	)
	part.Summary.Foreign = d.foreign
	if d.Stopped() {
		return
	}
	part.Starts = device.Result(d.Work, d.records.Open)
	last := device.Result(d.Work, d.records.Close.Slice(d.records.Count-1, d.records.Count))
	d.After(func() {
		part.To = last[0] + 1
		d.checkLengths(part)
	})
}

// checkLengths refuses features that the CPU engine would find too long. A feature ends before the
// next one begins.
func (d *deviceRows) checkLengths(part *readers.Part) {
	for i, open := range part.Starts {
		next := part.To
		if i+1 < len(part.Starts) {
			next = part.Starts[i+1]
		}
		d.Accept(next-open <= d.longest, "a feature that is too long, or nearly so")
	}
}

// structure finds features and members, and checks all text between values and inside strings. Its
// results are read together with the members.
func (d *deviceRows) structure() {
	var err error
	if d.x, err = kjson.AllocStructure(d.S, d.dev.Len()); err != nil {
		d.Try(err)
		return
	}
	d.Later(func() error { return d.x.Free(d.S) })
	d.Try(kjson.ParseStructure(d.K, d.S, d.dev, d.x, gpu.Buffer[kjson.StructureCarry]{}))
	if d.Stopped() {
		return
	}
	d.upload()
	if d.Stopped() {
		return
	}
	if d.records, err = kjson.QueueRecords(d.K, d.S, d.dev, d.x, d.sep, d.names.fields); err != nil {
		d.Try(err)
		return
	}
	d.Later(func() error { return d.records.Free(d.S) })
	d.Accept(d.records.Count > 0, "no feature")
	d.checkStrings()
}

// checkStrings checks strings, unless ParseStructure found all of them valid. badString receives
// the result.
func (d *deviceRows) checkStrings() {
	if d.Stopped() || !d.records.Unsound {
		return
	}
	if d.badString = device.Alloc[int64](d.Work, 1); !d.Stopped() {
		d.Try(kjson.CheckStrings(d.K, d.S, d.dev, d.x, d.badString))
	}
}

// stringsSound reports whether all strings are valid, according to badString.
func stringsSound(bad []int64) bool { return len(bad) == 0 || bad[0] < 0 }

// placedMembers are members in their columns.
type placedMembers struct {
	slots  gpu.Buffer[int32]
	report []kjson.FieldReport
	odd    kjson.PlaceReport
	rows   int
}

// of returns the slots of one field.
func (p *placedMembers) of(field int) gpu.Buffer[int32] {
	return p.slots.Slice(field*p.rows, (field+1)*p.rows)
}

// kinds returns the kinds of values that a field has.
func (p *placedMembers) kinds(field int) uint32 { return p.report[field].Kinds }

func kindBit(k kjson.ValueKind) uint32 { return 1 << k }

// place puts the records' structural members in columns. It waits for the device.
func (d *deviceRows) place() *placedMembers {
	fields := len(structuralNames)
	p := &placedMembers{rows: d.records.Count, slots: device.Alloc[int32](d.Work, fields*d.records.Count)}
	report, odd := device.Alloc[kjson.FieldReport](d.Work, fields), device.Alloc[kjson.PlaceReport](d.Work, 1)
	if d.Stopped() {
		return nil
	}
	d.Try(kjson.PlaceMembers(d.K, d.S, kjson.ColumnPlan{
		Row: d.records.Row, Owner: d.records.Owner, Field: d.records.Field, OwnerField: d.records.Field,
		Want: -1, Kind: d.records.Kind,
		Rows: d.records.Count, Fields: fields, Slots: p.slots, Report: report, Odd: odd,
	}))
	odds := device.Result(d.Work, odd)
	p.report = device.Result(d.Work, report)
	d.Await()
	if d.Stopped() {
		return nil
	}
	p.odd = odds[0]
	d.Accept(p.odd.Repeated < 0, repeatedName)
	return p
}

// readMembers reads the single values of columns, measures their texts, and reads the kinds of
// geometries, which may be nil. It requests the results.
func (d *deviceRows) readMembers(list []*deviceColumn, shapes *deviceShapes) knumber.Scalars {
	scalars := d.scalars(list)
	if d.Stopped() || len(scalars.of) == 0 && shapes == nil {
		return scalars.To
	}
	values := kjson.MemberValues{Start: d.records.ValueStart, End: d.records.ValueEnd, Kind: d.records.Kind}
	var geometry *kjson.GeometryRows
	if shapes != nil {
		geometry = &shapes.read
	}
	texts, err := kjson.ReadMembers(d.K, d.S, d.dev, values, scalars.ScalarColumns, geometry)
	if err != nil {
		d.Try(err)
		return scalars.To
	}
	d.Later(func() error { return texts.Free(d.S) })
	d.askScalars(scalars, texts)
	if shapes != nil {
		shapes.valid, shapes.reports = device.Result(d.Work, geometry.Valid), device.Result(d.Work, geometry.Report)
	}
	return scalars.To
}

const repeatedName = "a name that comes twice"

// tokens returns the text of each row's value in one column, and which rows have one that is not
// null.
func (d *deviceRows) tokens(slots gpu.Buffer[int32]) (starts, ends gpu.Buffer[int64], valid kernels.Mask) {
	n := d.records.Count
	starts, ends, valid = device.Alloc[int64](d.Work, n), device.Alloc[int64](d.Work, n),
		device.Alloc[uint64](d.Work, kernels.Words(n))
	if d.Stopped() {
		return starts, ends, valid
	}
	d.Try(kjson.ColumnTokens(d.K, d.S, slots, d.records.ValueStart, d.records.ValueEnd, d.records.Kind,
		gpu.Buffer[int64]{}, starts, ends, valid, kernels.Mask{}))
	return starts, ends, valid
}
