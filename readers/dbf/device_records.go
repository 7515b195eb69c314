package dbf

import (
	"github.com/vibeflight/vibeflight/gpu"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceRecords reads a chunk of records on a device. Memory for rows is that for all records until
// the host knows how many are deleted. It waits for that once, and then has everything except the
// bytes of texts.
//
//	text -> rows -> numbers, dates, logicals, binary values
//	             -> spans of texts -> offsets -> texts
type deviceRecords struct {
	*device.Work
	h       *Header
	text    gpu.Buffer[byte] // the records
	records kfixed.FixedRecords
	odd     gpu.Buffer[uint32] // one element: reasons for refusing
	groups  []textGroup

	// Results that queue copied.
	values  []*deviceColumn
	columns *geoarrow.Columns
	live    []int64  // number of records that are rows
	oddity  []uint32 // copy of odd
}

// read reads the records into a part.
func (d *deviceRecords) read(part *readers.Part) {
	if d.queue(); d.Stopped() {
		return
	}
	rows := device.Result(d.Work, d.records.Rows)
	if d.Await(); d.Stopped() {
		return
	}
	if d.finish(); d.Stopped() {
		return
	}
	part.Columns, part.Rows, part.Starts = d.columns, int64(d.records.Records), rows[:d.columns.Rows]
	for i := range part.Starts {
		part.Starts[i] *= int64(d.h.RecordLength)
	}
}

// queue queues everything except the bytes of texts.
func (d *deviceRecords) queue() {
	n := d.text.Len() / d.h.RecordLength
	d.records = kfixed.FixedRecords{
		Length: d.h.RecordLength, Records: n, Flags: d.h.nullFrom,
		Rows: device.Alloc[int64](d.Work, n), Live: device.Alloc[int64](d.Work, 1),
	}
	d.odd = device.Alloc[uint32](d.Work, 1)
	if d.Stopped() {
		return
	}
	d.Try(gpu.Fill(d.S, d.odd, 0))
	d.Try(kfixed.FixedRows(d.K, d.S, d.text, &d.records, d.h.options.deleted, d.odd))
	d.live = device.Result(d.Work, d.records.Live)
	d.columns = &geoarrow.Columns{Attributes: make([]geoarrow.Column, len(d.h.Fields))}
	values, texts, unread := d.fields()
	d.parse(values)
	d.check(unread)
	d.texts(texts)
	d.values, d.oddity = values, device.Result(d.Work, d.odd)
}

// finish makes the columns after an Await, except the bytes of texts, which are valid after the
// next one.
func (d *deviceRecords) finish() {
	if d.accept(d.oddity[0]); d.Stopped() {
		return
	}
	rows := int(d.live[0])
	d.columns.Rows = rows
	for _, c := range d.values {
		c.finish(rows)
	}
	if d.finishTexts(rows); d.Stopped() {
		return
	}
	for i := range d.columns.Attributes {
		if c, f := &d.columns.Attributes[i], &d.h.Fields[i]; f.kind.isMemo() && d.h.reads(f) {
			ignored(c, rows)
		}
	}
}

// reasons are the reasons for leaving records to the CPU engine.
var reasons = []struct {
	odd uint32
	why string
}{
	{kfixed.FixedFlag, "a deletion flag that is neither a blank nor an asterisk"},
	{kfixed.FixedMalformed, "a field that is no value of its type"},
	{kfixed.FixedFraction, "a number with a point or an exponent in a field of whole numbers"},
	{kfixed.FixedOverflow, "a whole number beyond int64"},
	{kfixed.FixedUndecided, "a number of many digits, very near to the middle of two"},
	{kfixed.FixedHigh, "text with a byte that is no character, or of a code page that GPUs do not know"},
}

// accept refuses the chunk if a bit of odd is set.
func (d *deviceRecords) accept(odd uint32) {
	for _, r := range reasons {
		d.Accept(odd&r.odd == 0, r.why)
	}
}

// fields assigns a column to each field that a device reads, and a hidden one to each that it only
// checks.
func (d *deviceRecords) fields() (values, texts, unread []*deviceColumn) {
	for i := range d.h.Fields {
		f, c := &d.h.Fields[i], &d.columns.Attributes[i]
		reads := d.h.reads(f)
		if !reads {
			*c, c = geoarrow.Unread(f.id()), &geoarrow.Column{}
		}
		c.Name, c.Facts = f.Name, f.facts()
		c.Type = c.Facts.Resolve(geoarrow.RoleAttribute).Type
		switch {
		case f.kind.isMemo(), !reads && f.takesAll():
		case f.kind == kindText:
			texts = append(texts, newDeviceColumn(f, c))
		case reads:
			values = append(values, newDeviceColumn(f, c))
		default:
			unread = append(unread, newDeviceColumn(f, c))
		}
	}
	return values, texts, unread
}

// ignored is a column of memos that is not requested.
func ignored(c *geoarrow.Column, rows int) {
	if c.Offsets = make([]int32, rows+1); rows > 0 {
		c.Nulls, c.Valid = rows, make([]byte, (rows+7)/8)
	}
}
