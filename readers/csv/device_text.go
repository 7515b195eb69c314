package csv

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// deviceTexts is columns of text in progress, one after the other.
type deviceTexts struct {
	starts, ends, offsets gpu.Buffer[int64]
	valid                 gpu.Buffer[uint64]
	strings               *ktext.Strings
}

// gather makes columns of texts, or of times if all of their texts are times, or times and dates.
func (d *deviceRows) gather(list []deviceColumn, r *device.Scratch) {
	n := d.table.Rows
	d.Accept(n <= d.Text.Len()/8, shortRecords)
	t, bytes := d.measure(list, r)
	if d.Stopped() {
		return
	}
	text, narrow := device.RoomFor[byte](r, int(bytes)), device.RoomFor[int32](r, (n+1)*len(list))
	if d.Stopped() {
		return
	}
	d.Try(ktext.GatherStrings(d.K, d.S, t.strings, text, gpu.Buffer[int32]{}))
	d.Try(ktable.TableOffsets(d.K, d.S, t.offsets, n, narrow))
	values, offsets, masks := device.Result(d.Work, text), device.Result(d.Work, narrow), device.Result(d.Work, t.valid)
	if d.Stopped() {
		return
	}
	words := kernels.Words(n)
	d.After(func() {
		for i, c := range list {
			c.Offsets = offsets[i*(n+1) : (i+1)*(n+1)]
			c.Values, values = values[:c.Offsets[n]], values[c.Offsets[n]:]
			c.Nulls, c.Valid = device.Validity(masks[i*words:(i+1)*words], n)
			if c.Facts.Kinds == geoarrow.FactString|geoarrow.FactField && !c.forced {
				rows.Times(c.Column, n, false)
			}
		}
	})
}

// check checks the texts of columns that are not requested, which stay on the device.
func (d *deviceRows) check(list []deviceColumn, r *device.Scratch) {
	d.Accept(d.table.Rows <= d.Text.Len()/8, shortRecords)
	d.measure(list, r)
}

// shortRecords is the reason for refusing texts that take too much memory.
const shortRecords = "records of hardly any text"

// measure finds the texts and their lengths, and waits for the device. Enclosing quotes don't
// count, and a doubled quote counts once.
func (d *deviceRows) measure(list []deviceColumn, r *device.Scratch) (t deviceTexts, bytes int64) {
	n, all := d.table.Rows, d.table.Rows*len(list)
	t.starts, t.ends, t.offsets = device.RoomFor[int64](r, all), device.RoomFor[int64](r, all),
		device.RoomFor[int64](r, all+1)
	t.valid = device.RoomFor[uint64](r, kernels.Words(n)*len(list))
	if d.Stopped() {
		return t, 0
	}
	mode := ktext.StringsRaw
	if d.dialect.quote != 0 {
		mode = ktext.StringsDoubled
	}
	d.Try(ktable.TableTexts(d.K, d.S, d.Text, d.table, fieldsOf(list), t.starts, t.ends, t.valid))
	bytes = d.measureText(&t, mode, false, r)
	return t, bytes
}

// measureText finds the lengths of the texts of spans, and waits for the device, again if some are
// unexpectedly long.
func (d *deviceRows) measureText(t *deviceTexts, mode ktext.StringMode, long bool, r *device.Scratch) (bytes int64) {
	var err error
	if t.strings, err = ktext.MeasureShortStrings(d.K, d.S, d.Text, t.starts, t.ends, mode, t.offsets); err != nil {
		d.Try(err)
		return 0
	}
	strings := t.strings
	r.Until(func() error { return strings.Free(d.S) })
	if long {
		d.Try(ktext.MeasureLongStrings(d.K, d.S, t.strings, t.offsets))
	}
	found, bytes := d.measured(t)
	if !d.Stopped() && !long && found.HasLong != 0 {
		d.Try(ktext.MeasureLongStrings(d.K, d.S, t.strings, t.offsets))
		found, bytes = d.measured(t)
	}
	d.Accept(found.Flags&ktext.StringNotUTF8 == 0, "text that is not UTF-8")
	d.Accept(found.Flags&ktext.StringMalformed == 0, "quotes that are not doubled")
	d.Accept(bytes <= math.MaxInt32, "texts of more than 2 GiB")
	return bytes
}

// measured waits for the results of the texts.
func (d *deviceRows) measured(t *deviceTexts) (found ktext.StringSummary, bytes int64) {
	last := t.offsets.Len() - 1
	summary, total := device.Result(d.Work, t.strings.Summary), device.Result(d.Work, t.offsets.Slice(last, last+1))
	if d.Await(); d.Stopped() {
		return found, 0
	}
	return summary[0], total[0]
}
