package kml

import (
	"cmp"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kkml "github.com/vibeflight/vibeflight/kernels/kml"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// leadingOf are the leading columns that devices read.
var leadingOf = [kkml.KMLColumns]int{
	kkml.KMLColumnID: columnID, kkml.KMLColumnName: columnName, kkml.KMLColumnDescription: columnDescription,
	kkml.KMLColumnTimestamp:    columnTimestamp,
	kkml.KMLColumnAltitudeMode: columnAltitudeMode, kkml.KMLColumnSnippet: columnSnippet,
	kkml.KMLColumnTessellate: columnTessellate,
	kkml.KMLColumnExtrude:    columnExtrude, kkml.KMLColumnVisibility: columnVisibility,
}

// deviceColumn is a column of attributes in progress.
type deviceColumn struct {
	*geoarrow.Column
	forced bool // to be text
}

// list adds the columns to a sink, like the CPU engine's rows, and determines which of them need
// cells.
func (d *deviceRows) list() (k *sink, made [kkml.MaxKMLColumns]*rows.Column) {
	k = newSink(d.asked)
	k.Bare, k.Text = true, d.forced
	k.Reset()
	k.Rows = d.rows
	taken := map[geoarrow.ColumnID]bool{}
	for _, c := range d.order() {
		if c < kkml.KMLColumns {
			made[c] = k.lead(leadingOf[c])
		} else if x := &d.known.columns[c-kkml.KMLColumns]; x.schema == 0 {
			made[c] = k.Column(geoarrow.RolePlain, []byte(x.name))
		} else if x.schema > 1 {
			d.listFields(k, x.schema-2)
		}
		if made[c] == nil {
			continue
		}
		d.Accept(!taken[made[c].ID], "extended data of one name, some of it typed")
		taken[made[c].ID] = true
		if !made[c].Unread || d.source.Numbers>>c&1 != 0 { // numbers are checked even if they are not requested
			d.cells.Used |= 1 << c
		}
	}
	return k, made
}

// columns makes the columns of attributes without values, like the sink, and returns those with
// cells, in their order.
func (d *deviceRows) columns(k *sink, made [kkml.MaxKMLColumns]*rows.Column) (columns *geoarrow.Columns,
	texts, numbers []deviceColumn,
) {
	columns, err := k.Columns(0)
	d.Try(err)
	for c := range made {
		if d.Stopped() || d.cells.Used>>c&1 == 0 {
			continue
		}
		id := made[c].ID
		x := deviceColumn{forced: slices.Contains(d.forced, id)}
		x.Column = &columns.Attributes[slices.IndexFunc(columns.Attributes, func(a geoarrow.Column) bool {
			return a.ID() == id
		})]
		if d.source.Numbers>>c&1 == 0 {
			texts = append(texts, x)
		} else {
			d.Accept(!x.forced, "typed values that are to be text")
			numbers = append(numbers, x)
		}
	}
	return columns, texts, numbers
}

// order returns the columns that occur, and schemas, in the order of the text.
func (d *deviceRows) order() (list []int) {
	for c, tag := range d.first {
		if tag != math.MaxUint32 {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(d.first[a], d.first[b]) })
	return list
}

// listFields is like the scanner's.
func (d *deviceRows) listFields(k *sink, schema int) {
	for _, f := range d.texts.schemas.all[schema].fields {
		if c := k.Column(geoarrow.RolePlain, []byte(f.name)); f.kinds != 0 {
			c.Accept(f.kinds)
		}
	}
}

// some returns columns of cells, from one to another.
func (d *deviceRows) some(from, to int) (starts, ends gpu.Buffer[int64], valid kernels.Mask) {
	words := kernels.Words(d.rows)
	return d.cells.From.Slice(from*d.rows, to*d.rows), d.cells.To.Slice(from*d.rows, to*d.rows),
		d.cells.Valid.Slice(from*words, to*words)
}

// textShare is how many bytes of Placemarks a device needs for each text that it makes at a time: a
// text in progress takes some 45 bytes of memory.
const textShare = 16

// gather makes columns of texts and of times, which are the first columns of cells.
func (d *deviceRows) gather(list []deviceColumn) {
	if d.Stopped() {
		return
	}
	text := d.Text
	if d.xml.Coded && len(list) > 0 {
		plain, err := kxml.AllocPlainXML(d.K, d.S, d.Text, d.xml)
		if d.Try(err); err != nil {
			return
		}
		defer func() { d.Try(plain.Free(d.S)) }() // after all work that was queued
		from, to, _ := d.some(0, len(list))
		d.Try(plain.Spans(d.K, d.S, from, to))
		text = plain.Text
	}
	most := max(1, d.Text.Len()/textShare/d.rows)
	for at := 0; at < len(list) && !d.Stopped(); at += most {
		device.InRoom(d.Work, func(r *device.Scratch) { d.gatherSome(r, text, list[at:min(at+most, len(list))], at) })
	}
}

// gatherSome makes columns of texts, the first of which is that of cells at.
func (d *deviceRows) gatherSome(r *device.Scratch, text gpu.Buffer[byte], list []deviceColumn, at int) {
	n, words := d.rows, kernels.Words(d.rows)
	from, to, valid := d.some(at, at+len(list))
	offsets, narrow := device.RoomFor[int64](r, n*len(list)+1), device.RoomFor[int32](r, (n+1)*len(list))
	if d.Stopped() {
		return
	}
	strings, err := ktext.MeasureShortStrings(d.K, d.S, text, from, to, ktext.StringsRaw, offsets)
	if d.Try(err); err != nil {
		return
	}
	r.Until(func() error { return strings.Free(d.S) })
	long, size := d.measured(strings, offsets)
	if long && !d.Stopped() {
		d.Try(ktext.MeasureLongStrings(d.K, d.S, strings, offsets))
		_, size = d.measured(strings, offsets)
	}
	d.Accept(size <= math.MaxInt32, "texts of more than 2 GiB")
	bytes := device.RoomFor[byte](r, int(size))
	if d.Stopped() {
		return
	}
	d.Try(ktext.GatherStrings(d.K, d.S, strings, bytes, gpu.Buffer[int32]{}))
	d.Try(ktable.TableOffsets(d.K, d.S, offsets, n, narrow))
	values, each, masks := device.Result(d.Work, bytes), device.Result(d.Work, narrow), device.Result(d.Work, valid)
	d.After(func() {
		for i, c := range list {
			mask := masks[i*words : (i+1)*words]
			if device.CountBits(mask) == 0 {
				continue // as it is
			}
			*c.Column = geoarrow.Column{
				Name: c.Name, Role: c.Role, Type: arrow.BinaryTypes.String,
				Facts: geoarrow.Facts{Kinds: geoarrow.FactString},
			}
			c.Offsets = each[i*(n+1) : (i+1)*(n+1)]
			c.Values, values = values[:c.Offsets[n]], values[c.Offsets[n]:]
			c.Nulls, c.Valid = device.Validity(mask, n)
			if c.Role.Times() {
				rows.Times(c.Column, n, c.forced)
			}
		}
	})
}

// measured waits for the number of bytes of all texts, and whether there are long ones.
func (d *deviceRows) measured(x *ktext.Strings, offsets gpu.Buffer[int64]) (long bool, bytes int64) {
	summary, total := device.Result(d.Work, x.Summary), device.Result(d.Work, offsets.Slice(offsets.Len()-1,
		offsets.Len()))
	if d.Await(); d.Stopped() {
		return false, 0
	}
	return summary[0].HasLong != 0, total[0]
}

// factsOfNumbers are the facts for the bits of NumberKinds. Numbers of other kinds are left to the
// CPU engine.
var factsOfNumbers = [...]struct {
	kind uint32
	fact geoarrow.FactKinds
}{
	{knumber.NumberInt32, geoarrow.FactInt32},
	{knumber.NumberInt64, geoarrow.FactInt64},
	{knumber.NumberReal, geoarrow.FactFloat},
	{knumber.NumberNegative, geoarrow.FactNegative},
}

const (
	oddTyped     = "a typed value that is no number, or not as most are written"
	unsureNumber = "a number that is very long, or very near to the middle of two"
)

// parse makes columns of numbers, the first of which is that of cells at. It waits for the device
// to report the kinds of numbers.
func (d *deviceRows) parse(r *device.Scratch, list []deviceColumn, at int) {
	if len(list) == 0 || d.Stopped() {
		return
	}
	n, words := d.rows, kernels.Words(d.rows)
	from, to, valid := d.some(at, at+len(list))
	each := device.RoomFor[uint32](r, len(list))
	if d.Stopped() {
		return
	}
	for i := range list {
		d.Try(knumber.NumberKinds(d.K, d.S, d.Text, from.Slice(i*n, (i+1)*n), to.Slice(i*n, (i+1)*n),
			valid.Slice(i*words, (i+1)*words), each.Slice(i, i+1)))
	}
	kinds, masks := device.Read(d.Work, each), device.Result(d.Work, valid)
	if d.Stopped() {
		return
	}
	var numbers []knumber.NumberColumn
	floats := 0
	for i, c := range list {
		x := knumber.NumberColumn{Column: i}
		switch d.resolve(c, kinds[i]); c.Type.ID() {
		case arrow.NULL:
			continue
		case arrow.INT32:
			x.Int32 = device.RoomFor[int32](r, n)
		case arrow.INT64:
			x.Int64 = device.RoomFor[int64](r, n)
		case arrow.FLOAT64:
			x.Float64 = device.RoomFor[float64](r, n)
			floats++
		default:
			d.Accept(false, oddTyped)
		}
		numbers = append(numbers, x)
	}
	undecided := device.RoomFor[uint64](r, floats*words)
	if d.Stopped() {
		return
	}
	d.Try(knumber.ParseNumbers(d.K, d.S, d.Text, knumber.Scalars{Starts: from, Ends: to, Numbers: valid},
		numbers, undecided))
	unsure := device.Result(d.Work, undecided)
	for _, x := range numbers {
		c, mask := list[x.Column], masks[x.Column*words:(x.Column+1)*words]
		switch c.Type.ID() {
		case arrow.INT32:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, x.Int32))
		case arrow.INT64:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, x.Int64))
		default:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, x.Float64))
		}
		d.After(func() { c.Nulls, c.Valid = device.Validity(mask, n) })
	}
	d.After(func() { d.Accept(device.CountBits(unsure) == 0, unsureNumber) })
}

// resolve gives the column the type of its kinds, unless it was not requested.
func (d *deviceRows) resolve(c deviceColumn, kinds uint32) {
	facts, left := c.Facts, kinds
	for _, k := range factsOfNumbers {
		if kinds&k.kind != 0 {
			facts.Kinds |= k.fact
		}
		left &^= k.kind
	}
	d.Accept(left&^knumber.NumberInexact == 0, oddTyped)
	if c.Type.ID() == arrow.NULL {
		return
	}
	*c.Column = geoarrow.Column{Name: c.Name, Role: c.Role, Type: facts.Resolve(c.Role).Type, Facts: facts}
	d.Accept(left == 0 || c.Type.ID() != arrow.FLOAT64,
		"an integer that no float64 is, in a column of numbers with a point")
}
