package csv

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/kernels"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceColumn is an attribute in progress.
type deviceColumn struct {
	*geoarrow.Column
	field  int // its number among the fields of a record
	forced bool
	guess  bool // it holds a guessed geometry
}

// attributes makes the columns that are attributes, in the order of the header, including those
// that are also geometries.
func (d *deviceRows) attributes(columns *geoarrow.Columns) {
	var list []deviceColumn
	for i, use := range d.dialect.fields {
		if use&(useAttribute|useGuess) != 0 {
			list = append(list, deviceColumn{field: i, guess: use&useGuess != 0})
		}
	}
	columns.Attributes = make([]geoarrow.Column, len(list))
	isForced := map[geoarrow.ColumnID]bool{}
	for _, id := range d.forced {
		isForced[id] = true
	}
	var numbers, dates, texts, unread []deviceColumn
	for i, c := range list {
		c.Column = &columns.Attributes[i]
		c.Name = string(d.dialect.names[c.field])
		c.forced = d.dialect.text && !c.guess || isForced[c.ID()]
		if c.guess && !c.forced {
			*c.Column = geoarrow.Guessed(c.ID())
			continue
		}
		if !d.asked.Has(c.ID()) {
			if *c.Column = geoarrow.Unread(c.ID()); d.kinds[c.field]&ktable.FieldText != 0 {
				unread = append(unread, c)
			}
			c.markGuess()
			continue
		}
		switch d.resolve(c); {
		case d.kinds[c.field] == 0:
			empty(c.Column, columns.Rows)
		case c.Type.ID() == arrow.STRING:
			texts = append(texts, c)
		case c.Type.ID() == arrow.DATE32:
			dates = append(dates, c)
		default:
			numbers = append(numbers, c)
		}
		c.markGuess()
	}
	d.inGroups(texts, d.Text.Len()/8, d.gather) // first, since they wait for the device
	d.inGroups(unread, d.Text.Len()/8, d.check)
	d.inGroups(dates, d.Text.Len()/4, d.dates)
	d.inGroups(numbers, d.Text.Len()/4, d.parse)
}

// markGuess adds the facts that rows.Column has of a guessed column that is text.
func (c deviceColumn) markGuess() {
	if c.guess {
		c.Facts.Kinds |= geoarrow.FactGuess | geoarrow.FactString | geoarrow.FactField
	}
}

// inGroups makes columns in groups of at most n fields, or of one column.
func (d *deviceRows) inGroups(list []deviceColumn, fields int, do func([]deviceColumn, *device.Scratch)) {
	for group := range slices.Chunk(list, max(1, fields/d.table.Rows)) {
		if d.Stopped() {
			return
		}
		device.InRoom(d.Work, func(r *device.Scratch) { do(group, r) })
	}
}

// factsOfFields are the facts for the bits of TableKinds.
var factsOfFields = [...]struct {
	kind uint32
	fact geoarrow.FactKinds
}{
	{knumber.NumberInt32, geoarrow.FactInt32},
	{knumber.NumberInt64, geoarrow.FactInt64},
	{knumber.NumberReal, geoarrow.FactFloat},
	{knumber.NumberNegative, geoarrow.FactNegative},
	{ktable.FieldBool, geoarrow.FactBool},
	{ktable.FieldText | ktable.FieldDate, geoarrow.FactString},
}

// resolve gives the column the type of its kinds.
func (d *deviceRows) resolve(c deviceColumn) {
	kinds := d.kinds[c.field]
	for _, k := range factsOfFields {
		if kinds&k.kind != 0 {
			c.Facts.Kinds |= k.fact | geoarrow.FactField
		}
	}
	if d.dialect.text && kinds&^ktable.FieldEmpty != 0 {
		c.Facts.Kinds = geoarrow.FactString | geoarrow.FactField
	} else {
		d.Accept(kinds&knumber.NumberUndecided == 0 || kinds&(ktable.FieldText|ktable.FieldDate) != 0, unsureNumber)
	}
	if kinds&^ktable.FieldEmpty == ktable.FieldDate && !c.forced {
		c.Facts.Kinds = geoarrow.FactDate | geoarrow.FactField
	}
	if c.Type = c.Facts.Resolve(c.Role).Type; c.forced {
		c.Type = arrow.BinaryTypes.String
	}
	if c.Type.ID() == arrow.STRING && c.Facts.Kinds&^(geoarrow.FactString|geoarrow.FactField) != 0 && !c.forced {
		d.mixed = append(d.mixed, c.ID())
	}
	d.Accept(c.Type.ID() != arrow.FLOAT64 || kinds&knumber.NumberInexact == 0,
		"an integer that no float64 is, among numbers with a point")
}

// empty returns a column without values.
func empty(c *geoarrow.Column, rows int) {
	c.Nulls, c.Valid, c.Offsets = rows, make([]byte, (rows+7)/8), make([]int32, rows+1)
}

// parse makes columns of numbers and booleans.
func (d *deviceRows) parse(list []deviceColumn, r *device.Scratch) {
	n, to := d.table.Rows, make([]ktable.TableColumn, len(list))
	words := kernels.Words(n)
	valid := device.RoomFor[uint64](r, words*len(list))
	for i, c := range list {
		t := &to[i]
		switch t.Column = c.field; c.Type.ID() {
		case arrow.INT32:
			t.Type, t.Int32 = ktable.TableInt32, device.RoomFor[int32](r, n)
		case arrow.INT64:
			t.Type, t.Int64 = ktable.TableInt64, device.RoomFor[int64](r, n)
		case arrow.FLOAT64:
			t.Type, t.Float64 = ktable.TableFloat64, device.RoomFor[float64](r, n)
		default:
			t.Type, t.Bool = ktable.TableBool, device.RoomFor[uint64](r, words)
		}
	}
	if d.Stopped() {
		return
	}
	d.Try(ktable.ParseTable(d.K, d.S, d.Text, d.table, to, valid, d.odd))
	masks := device.Result(d.Work, valid)
	for i, c := range list {
		if d.Stopped() {
			return
		}
		switch t := &to[i]; t.Type {
		case ktable.TableInt32:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, t.Int32))
		case ktable.TableInt64:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, t.Int64))
		case ktable.TableFloat64:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, t.Float64))
		default:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, t.Bool))[:(n+7)/8]
		}
		mask := masks[i*words : (i+1)*words]
		d.After(func() { c.Nulls, c.Valid = device.Validity(mask, n) })
	}
}

// dates makes columns of dates.
func (d *deviceRows) dates(list []deviceColumn, r *device.Scratch) {
	n, words := d.table.Rows, kernels.Words(d.table.Rows)
	days, valid := device.RoomFor[int32](r, n*len(list)), device.RoomFor[uint64](r, words*len(list))
	first, last := device.RoomFor[int32](r, len(list)), device.RoomFor[int32](r, len(list))
	if d.Stopped() {
		return
	}
	d.Try(ktable.TableDates(d.K, d.S, d.Text, d.table, fieldsOf(list), days, valid, first, last))
	values, masks, low, high := device.Result(d.Work, days), device.Result(d.Work, valid),
		device.Result(d.Work, first), device.Result(d.Work, last)
	if d.Stopped() {
		return
	}
	for i, c := range list {
		c.Values = geoarrow.AsBytes(values[i*n : (i+1)*n])
		d.After(func() {
			c.Nulls, c.Valid = device.Validity(masks[i*words:(i+1)*words], n)
			c.Facts.MinSec, c.Facts.MaxSec = int64(low[i])*secondsPerDay, int64(high[i])*secondsPerDay
		})
	}
}

const secondsPerDay = 24 * 60 * 60

// fieldsOf returns the numbers of columns among the fields of a record.
func fieldsOf(list []deviceColumn) []int {
	fields := make([]int, len(list))
	for i, c := range list {
		fields[i] = c.field
	}
	return fields
}
