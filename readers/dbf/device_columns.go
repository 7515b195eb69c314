package dbf

import (
	"slices"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceColumn is a column in progress.
type deviceColumn struct {
	*geoarrow.Column
	field   kfixed.FixedColumn
	mask    []uint64 // which records have a value
	values  []uint64 // of types other than text
	offsets []int32  // of texts
}

func newDeviceColumn(f *Field, c *geoarrow.Column) *deviceColumn {
	flag := func(bit int) int {
		if bit == noBit {
			return kfixed.FixedNoFlag
		}
		return bit
	}
	return &deviceColumn{Column: c, field: kfixed.FixedColumn{
		Type: f.deviceType(), Offset: f.Offset,
		Width: f.Length, Null: flag(f.nullBit), Size: flag(f.sizeBit),
	}}
}

// deviceType returns the field's type for the kernels.
func (f *Field) deviceType() kfixed.FixedType {
	switch f.kind {
	case kindInteger:
		if f.Length < narrowDigits {
			return kfixed.FixedAsInt32
		}
		return kfixed.FixedAsInt64
	case kindNumber:
		return kfixed.FixedAsFloat64
	case kindDate:
		return kfixed.FixedAsDate
	case kindLogical:
		return kfixed.FixedAsLogical
	case kindInt:
		return kfixed.FixedBinaryInt32
	case kindDouble:
		return kfixed.FixedBinaryFloat64
	case kindMoney:
		return kfixed.FixedBinaryMoney
	case kindTimestamp:
		return kfixed.FixedBinaryTimestamp
	}
	if f.sizeBit != noBit {
		return kfixed.FixedVariable
	}
	return kfixed.FixedText
}

// columnsAtOnce is how many columns one launch makes.
const columnsAtOnce = 8

// parse makes columns of all types other than text.
func (d *deviceRecords) parse(list []*deviceColumn) {
	n := d.records.Records
	d.inGroups(list, func(group []*deviceColumn, some, masks gpu.Buffer[uint64]) {
		values, bits := device.Result(d.Work, some), device.Result(d.Work, masks)
		if d.Stopped() {
			return
		}
		for _, c := range group {
			size := c.field.Type.Words(n)
			c.values, values = values[:size], values[size:]
			c.mask, bits = bits[:kernels.Words(n)], bits[kernels.Words(n):]
		}
	})
}

// check looks for invalid values in columns that stay on the device.
func (d *deviceRecords) check(list []*deviceColumn) {
	d.inGroups(list, func([]*deviceColumn, gpu.Buffer[uint64], gpu.Buffer[uint64]) {})
}

// inGroups makes columns in groups that reuse memory, and calls do for each group.
func (d *deviceRecords) inGroups(list []*deviceColumn, do func(group []*deviceColumn, values,
	valid gpu.Buffer[uint64]),
) {
	n, groups := d.records.Records, slices.Collect(slices.Chunk(list, columnsAtOnce))
	if len(groups) == 0 {
		return
	}
	most := 0
	for _, group := range groups {
		most = max(most, wordsOf(group, n))
	}
	room, valid := device.Alloc[uint64](d.Work, most), device.Alloc[uint64](d.Work, len(groups[0])*kernels.Words(n))
	for _, group := range groups {
		if d.Stopped() {
			return
		}
		var fields []kfixed.FixedColumn
		for _, c := range group {
			fields = append(fields, c.field)
		}
		some, masks := room.Slice(0, wordsOf(group, n)), valid.Slice(0, len(group)*kernels.Words(n))
		d.Try(kfixed.FixedValues(d.K, d.S, d.text, &d.records, fields, some, masks, d.odd))
		do(group, some, masks)
		d.Bring()
	}
}

// wordsOf returns the number of words of the values of columns.
func wordsOf(list []*deviceColumn, rows int) int {
	sum := 0
	for _, c := range list {
		sum += c.field.Type.Words(rows)
	}
	return sum
}

// finish makes the column for the actual number of rows.
func (c *deviceColumn) finish(rows int) {
	c.nulls(rows)
	values := geoarrow.AsBytes(c.values)
	switch c.field.Type {
	case kfixed.FixedAsLogical:
		c.Values = values[:(rows+7)/8]
	case kfixed.FixedAsInt32, kfixed.FixedAsDate, kfixed.FixedBinaryInt32:
		c.Values = values[:4*rows]
	case kfixed.FixedBinaryMoney:
		c.Values = values[:16*rows]
	default:
		c.Values = values[:8*rows]
	}
}

// nulls returns which rows have no value.
func (c *deviceColumn) nulls(rows int) {
	c.Nulls, c.Valid = device.Validity(c.mask, rows)
}
