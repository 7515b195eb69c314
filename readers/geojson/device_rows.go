package geojson

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// deviceRows reads a chunk of whole features on a device.
//
//	text -> structure -> records -> members in their columns -> coordinates -> positions
//	                                                         -> properties  -> values
//
// Every step says what it does not accept; then the chunk is refused, and nothing of it counts.
type deviceRows struct {
	k     *kernels.Set
	s     *gpu.Stream
	text  []byte
	names []string
	sep   kernels.RecordSeparator

	dev     gpu.Buffer[byte]
	x       *kernels.Structure
	records *kernels.Records
	member  gpu.Buffer[int32] // which of structuralNames a member is

	end     int64    // behind the last feature, in the text
	longest int64    // that the text of a feature may be
	out     *result  // for the columns
	after   []func() // what is to be looked at once they are there

	free []func() error
	err  error
	why  string // of the refusal
}

// structuralNames are the members that say what a Feature is.
var structuralNames = []string{"type", "geometry", "properties", "id", "coordinates"}

const (
	fieldType = iota
	fieldGeometry
	fieldProperties
	fieldID
	fieldCoordinates
)

// read gives the rows, or says why the device refuses them.
func (d *deviceRows) read() (part readers.Part, why string) {
	whole := false
	defer func() {
		if !whole { // copies may be under way to memory that others get now, after a panic too
			_ = d.s.Synchronize() // what went wrong is known
		}
		for _, free := range d.free {
			d.try(free())
		}
		if d.err != nil {
			part, why = readers.Part{}, d.err.Error()
		}
	}()
	d.dev = deviceUpload(d, d.text)
	d.structure()
	if d.stopped() {
		return readers.Part{}, d.why
	}
	top := d.place(-1, d.member, len(structuralNames))
	d.features(top)
	columns := &geoarrow.Columns{Rows: d.records.Count}
	part.Columns = columns
	d.attributes(top, columns)
	columns.Geometry = d.geometry(top, &part.Summary)
	part.Starts = deviceResult(d, d.records.Open)
	last := deviceResult(d, d.records.Close.Slice(d.records.Count-1, d.records.Count))
	d.try(d.s.Synchronize())
	for _, look := range d.after {
		if !d.stopped() {
			look()
		}
	}
	if d.stopped() {
		return readers.Part{}, d.why
	}
	d.end = last[0] + 1
	for i, open := range part.Starts {
		next := d.end
		if i+1 < len(part.Starts) {
			next = part.Starts[i+1]
		}
		d.accept(next-open <= d.longest, "a feature that is too long, or nearly so")
	}
	if d.stopped() {
		return readers.Part{}, d.why
	}
	part.Rows = int64(d.records.Count)
	whole = true
	return part, ""
}

// stopped reports whether there is nothing more to do.
func (d *deviceRows) stopped() bool { return d.err != nil || d.why != "" }

// try keeps the first error.
func (d *deviceRows) try(err error) {
	if err != nil && d.err == nil && d.why == "" {
		d.err = err
	}
}

// accept refuses the chunk unless ok.
func (d *deviceRows) accept(ok bool, why string) {
	if !ok && !d.stopped() {
		d.why = why
	}
}

// structure finds features and members, and checks all text between values and inside strings.
func (d *deviceRows) structure() {
	var err error
	if d.x, err = kernels.AllocStructure(d.s, len(d.text)); err != nil {
		d.try(err)
		return
	}
	d.later(func() error { return d.x.Free(d.s) })
	d.try(d.k.ParseStructure(d.s, d.dev, d.x, gpu.Buffer[kernels.StructureCarry]{}))
	fault := deviceAlloc[int64](d, 1)
	if d.stopped() {
		return
	}
	d.try(d.k.CheckStrings(d.s, d.dev, d.x, fault))
	if d.records, err = d.k.ListRecords(d.s, d.dev, d.x, d.sep); err != nil {
		d.try(err)
		return
	}
	d.later(func() error { return d.records.Free(d.s) })
	d.accept(d.records.Fault < 0, "features that are not as JSON has them, or not known")
	d.accept(d.records.EscapedKeys == 0, "a name with an escape")
	d.accept(d.records.Count > 0, "no feature")
	if found := deviceRead(d, fault); !d.stopped() {
		d.accept(found[0] < 0, "a string that is not as JSON has it")
	}
	d.member = d.match(structuralNames)
}

// match finds which of the names each member has.
func (d *deviceRows) match(names []string) gpu.Buffer[int32] {
	if d.stopped() {
		return gpu.Buffer[int32]{}
	}
	fields, err := kernels.AllocFields(d.s, names)
	if errors.Is(err, kernels.ErrFieldNames) {
		d.accept(false, err.Error())
	}
	if err != nil {
		d.try(err)
		return gpu.Buffer[int32]{}
	}
	d.later(func() error { return fields.Free(d.s) })
	field := deviceAlloc[int32](d, d.records.Members)
	if !d.stopped() {
		d.try(d.k.MatchKeys(d.s, d.dev, d.records.KeyStart, d.records.KeyEnd, fields, field))
	}
	return field
}

// placed are members in their columns.
type placed struct {
	slots  gpu.Buffer[int32]
	report []kernels.FieldReport
	odd    kernels.PlaceReport
	rows   int
}

// of is the slots of one field.
func (p *placed) of(field int) gpu.Buffer[int32] {
	return p.slots.Slice(field*p.rows, (field+1)*p.rows)
}

// kinds are the kinds of values that a field has.
func (p *placed) kinds(field int) uint32 { return p.report[field].Kinds }

func kindBit(k kernels.ValueKind) uint32 { return 1 << k }

// place puts members in columns: those of features where want is -1, else those of the objects that are values of the structural member want.
func (d *deviceRows) place(want int32, field gpu.Buffer[int32], fields int) *placed {
	p := &placed{rows: d.records.Count, slots: deviceAlloc[int32](d, fields*d.records.Count)}
	report, odd := deviceAlloc[kernels.FieldReport](d, fields), deviceAlloc[kernels.PlaceReport](d, 1)
	if d.stopped() {
		return nil
	}
	d.try(d.k.PlaceMembers(d.s, kernels.Placing{
		Row: d.records.Row, Owner: d.records.Owner, Field: field, OwnerField: d.member, Want: want, Kind: d.records.Kind,
		Rows: d.records.Count, Fields: fields, Slots: p.slots, Report: report, Odd: odd,
	}))
	p.report = deviceRead(d, report)
	if found := deviceRead(d, odd); !d.stopped() {
		p.odd = found[0]
		d.accept(p.odd.Repeated < 0, "a name that comes twice")
	}
	if d.stopped() {
		return nil
	}
	return p
}

// features checks that every record is a Feature with geometry and properties, and nothing else but an id.
func (d *deviceRows) features(top *placed) {
	if d.stopped() {
		return
	}
	object, null := kindBit(kernels.ValueObject), kindBit(kernels.ValueNull)
	d.accept(top.odd.Unknown < 0 && top.kinds(fieldCoordinates) == 0, "a member that no column holds")
	d.accept(top.kinds(fieldType) == kindBit(kernels.ValueString), "a Feature without a type")
	d.accept(top.kinds(fieldGeometry)&^(object|null) == 0, "a geometry that is no object")
	d.accept(top.kinds(fieldProperties)&^(object|null) == 0, "properties that are no object")
	names, _, valid := d.tokens(top.of(fieldType), false)
	kinds := deviceAlloc[kernels.TypeKind](d, d.records.Count)
	if d.stopped() {
		return
	}
	d.try(d.k.GeoJSONTypes(d.s, d.dev, names, `"`, kinds))
	d.accept(allSet(deviceRead(d, valid), d.records.Count), "a Feature without a type")
	for _, k := range deviceRead(d, kinds) {
		d.accept(k == kernels.KindFeature, "a type that is not Feature")
	}
}

// tokens gives the text of each row's value in one column, and for which rows there is one that is not null. Where based, an empty span of a row without a
// value lies where its feature begins.
func (d *deviceRows) tokens(slots gpu.Buffer[int32], based bool) (starts, ends gpu.Buffer[int64], valid kernels.Mask) {
	n := d.records.Count
	starts, ends, valid = deviceAlloc[int64](d, n), deviceAlloc[int64](d, n), deviceAlloc[uint64](d, kernels.Words(n))
	if d.stopped() {
		return starts, ends, valid
	}
	var base gpu.Buffer[int64]
	if based {
		base = d.records.Open
	}
	d.try(d.k.ColumnTokens(d.s, slots, d.records.ValueStart, d.records.ValueEnd, d.records.Kind, base, starts, ends, valid, kernels.Mask{}))
	return starts, ends, valid
}

// allSet reports whether the first n bits are set.
func allSet(mask []uint64, n int) bool { return countBits(mask) == n }

// later has something freed at the end.
func (d *deviceRows) later(free func() error) { d.free = append(d.free, free) }

// deviceAlloc takes memory until the end.
func deviceAlloc[T any](d *deviceRows, n int) gpu.Buffer[T] {
	if d.stopped() {
		return gpu.Buffer[T]{}
	}
	b, err := gpu.Alloc[T](d.s, n)
	d.try(err)
	if err == nil {
		d.later(func() error { return b.Free(d.s) })
	}
	return b
}

// deviceUpload takes memory until the end, and fills it.
func deviceUpload[T any](d *deviceRows, src []T) gpu.Buffer[T] {
	b := deviceAlloc[T](d, len(src))
	if !d.stopped() {
		d.try(gpu.Upload(d.s, b, src))
	}
	return b
}

// deviceRead waits for the elements of b.
func deviceRead[T any](d *deviceRows, b gpu.Buffer[T]) []T {
	if d.stopped() {
		return nil
	}
	out, err := gpu.Read(d.s, b)
	d.try(err)
	return out
}
