package geojson

import (
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
	dev   gpu.Buffer[byte] // the text
	dict  *dictionary
	names *uploaded // dict, once match has run
	sep   kernels.RecordSeparator
	deep  int // how many brackets of the text may be open at a time

	texts []geoarrow.ColumnID // columns that are to be text
	mixed []geoarrow.ColumnID // columns of these rows that are text because they hold several kinds of values

	x         *kernels.Structure
	records   *kernels.Records
	badString gpu.Buffer[int64] // where one is, or -1
	member    gpu.Buffer[int32] // which of the dictionary's names each member has
	shapes    *placed           // members of geometries
	values    *placed           // members of properties
	foreign   map[string]int64  // how many members that nobody reads there are of each name

	end     int64    // behind the last feature, in the text
	longest int64    // that the text of a feature may be
	out     *result  // for the columns
	after   []func() // what is to be looked at once they are there

	free []func() error
	err  error
	why  string // of the refusal
}

// structuralNames are the members that say what a Feature and its geometry are. They begin each dictionary.
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

// read gives the rows, or says why the device refuses them. An error is one of the device.
func (d *deviceRows) read() (part readers.Part, why string, err error) {
	whole := false
	defer func() {
		if !whole { // copies may be under way to memory that others get now, after a panic too
			_ = d.s.Synchronize() // what went wrong is known
		}
		for _, free := range d.free {
			d.try(free())
		}
		if d.err != nil {
			part, why, err = readers.Part{}, d.err.Error(), d.err
		}
	}()
	d.structure()
	if d.stopped() {
		return readers.Part{}, d.why, d.err
	}
	top := d.features()
	columns := &geoarrow.Columns{Rows: d.records.Count}
	part.Columns = columns
	d.attributes(top, columns)
	columns.Geometry = d.geometry(top, &part.Summary)
	part.Summary.Foreign = d.foreign
	part.Starts = deviceResult(d, d.records.Open)
	last := deviceResult(d, d.records.Close.Slice(d.records.Count-1, d.records.Count))
	d.try(d.s.Synchronize())
	for _, look := range d.after {
		if !d.stopped() {
			look()
		}
	}
	if d.stopped() {
		return readers.Part{}, d.why, d.err
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
		return readers.Part{}, d.why, d.err
	}
	part.Rows = int64(d.records.Count)
	whole = true
	return part, "", nil
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

// structure finds features and members, and checks all text between values and inside strings. What that finds is seen when the members are.
func (d *deviceRows) structure() {
	var err error
	if d.x, err = kernels.AllocStructure(d.s, d.dev.Len()); err != nil {
		d.try(err)
		return
	}
	d.later(func() error { return d.x.Free(d.s) })
	d.try(d.k.ParseStructure(d.s, d.dev, d.x, gpu.Buffer[kernels.StructureCarry]{}))
	d.badString = deviceAlloc[int64](d, 1)
	if d.stopped() {
		return
	}
	d.try(d.k.CheckStrings(d.s, d.dev, d.x, d.badString))
	if d.records, err = d.k.QueueRecords(d.s, d.dev, d.x, d.sep); err != nil {
		d.try(err)
		return
	}
	d.later(func() error { return d.records.Free(d.s) })
	d.accept(d.records.Count > 0, "no feature")
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

// place puts members in columns: those of features where want is -1, else those of the objects that are values of the structural member want. It waits for the device,
// unless features has placed them.
func (d *deviceRows) place(want int32, field gpu.Buffer[int32], fields int) *placed {
	if want == fieldGeometry && d.shapes != nil && fields == len(structuralNames) {
		return d.shapes
	}
	p := &placed{rows: d.records.Count, slots: deviceAlloc[int32](d, fields*d.records.Count)}
	report, odd := deviceAlloc[kernels.FieldReport](d, fields), deviceAlloc[kernels.PlaceReport](d, 1)
	if d.stopped() {
		return nil
	}
	d.try(d.k.PlaceMembers(d.s, kernels.Placing{
		Row: d.records.Row, Owner: d.records.Owner, Field: field, OwnerField: d.member, Want: want, Kind: d.records.Kind,
		Rows: d.records.Count, Fields: fields, Slots: p.slots, Report: report, Odd: odd,
	}))
	odds := deviceResult(d, odd)
	p.report = deviceResult(d, report)
	d.await()
	if d.stopped() {
		return nil
	}
	p.odd = odds[0]
	d.accept(p.odd.Repeated < 0, repeatedName)
	return p
}

const repeatedName = "a name that comes twice"

// await waits for all that the device was given.
func (d *deviceRows) await() {
	if !d.stopped() {
		d.try(d.s.Synchronize())
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
