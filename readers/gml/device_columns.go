package gml

import (
	"cmp"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// deviceColumn is a column of values in progress.
type deviceColumn struct {
	*geoarrow.Column
	number int // among those of the vocabulary
	forced bool
	kinds  uint32

	valid   []uint64
	strings *ktext.Strings
	offsets gpu.Buffer[int64]
	summary []ktext.StringSummary
	size    []int64
}

// attributes makes the columns of values: leading ones first, then those of elements in order of
// first appearance. first: the tags of these appearances.
func (d *deviceRows) attributes(columns *geoarrow.Columns, first []uint32) {
	words := d.chunks.words
	var order []int
	for i, at := range first {
		if at != math.MaxUint32 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(words.columns[b].Role, words.columns[a].Role), cmp.Compare(first[a], first[b]))
	})
	if len(order) == 0 || d.Stopped() {
		return
	}
	text, values := d.values()
	if d.Stopped() {
		return
	}
	valid, kinds := device.Result(d.Work, values.Valid), device.Result(d.Work, values.Kinds)
	if d.Await(); d.Stopped() {
		return
	}
	all := make([]geoarrow.Column, len(order))
	columns.Attributes = all
	n, maskWords := d.rows.Rows, kernels.Words(d.rows.Rows)
	var numbers, texts []*deviceColumn
	for i, number := range order {
		c := &deviceColumn{
			Column: &all[i], number: number, kinds: kinds[number],
			valid: valid[number*maskWords : (number+1)*maskWords],
		}
		c.Name, c.Role = words.columns[number].Name, words.columns[number].Role
		if !d.asked.Has(c.ID()) {
			*c.Column = geoarrow.Unread(c.ID())
			continue
		}
		c.forced = slices.Contains(d.forced, words.columns[number])
		d.resolve(c)
		c.Nulls, c.Valid = device.Validity(c.valid, n)
		switch {
		case c.kinds == 0:
			c.Valid, c.Offsets = make([]byte, (n+7)/8), make([]int32, n+1)
		case c.Type.ID() == arrow.STRING:
			texts = append(texts, c)
		case c.Type.ID() == arrow.BOOL:
			trues := device.Result(d.Work, values.Trues.Slice(number*maskWords, (number+1)*maskWords))
			d.After(func() { c.Values = geoarrow.AsBytes(trues)[:(n+7)/8] })
		default:
			numbers = append(numbers, c)
		}
	}
	d.parse(numbers, text, values)
	d.gather(texts, text, values)
}

// values finds the kinds of values. It returns the decoded text that they are in.
func (d *deviceRows) values() (text gpu.Buffer[byte], values knumber.Scalars) {
	n, columns := d.rows.Rows, d.rows.Columns
	text = d.Text
	if d.tags.Coded {
		p, err := kxml.AllocPlainXML(d.K, d.S, d.Text, d.tags)
		if d.Try(err); err != nil {
			return text, values
		}
		d.Later(func() error { return p.Free(d.S) })
		d.Try(p.Spans(d.K, d.S, d.rows.From, d.rows.To))
		text = p.Text
	}
	mask := func() kernels.Mask { return device.Alloc[uint64](d.Work, columns*kernels.Words(n)) }
	values = knumber.Scalars{
		Starts: d.rows.From, Ends: d.rows.To, Valid: mask(), Numbers: mask(),
		Trues: mask(), Kinds: device.Alloc[uint32](d.Work, columns),
	}
	if !d.Stopped() {
		d.Try(kxml.XMLValues(d.K, d.S, text, n, values))
	}
	return text, values
}

// factsOfValues are the facts for the bits of XMLValues.
var factsOfValues = [...]struct {
	kind uint32
	fact geoarrow.FactKinds
}{
	{knumber.NumberInt32, geoarrow.FactInt32},
	{knumber.NumberInt64, geoarrow.FactInt64},
	{knumber.NumberReal, geoarrow.FactFloat},
	{knumber.NumberNegative, geoarrow.FactNegative},
	{ktable.FieldBool, geoarrow.FactBool},
	{ktable.FieldText, geoarrow.FactString},
}

// resolve gives the column the type of its kinds. An identifier is text, whatever it looks like.
func (d *deviceRows) resolve(c *deviceColumn) {
	for _, k := range factsOfValues {
		if c.kinds&k.kind != 0 {
			c.Facts.Kinds |= k.fact | geoarrow.FactField
		}
	}
	if c.Role != geoarrow.RolePath {
		c.Facts.Kinds = geoarrow.FactString | geoarrow.FactField
	} else {
		d.Accept(c.kinds&kxml.FieldOdd == 0, unsureNumber)
	}
	if c.Type = c.Facts.Resolve(c.Role).Type; c.forced {
		c.Type = arrow.BinaryTypes.String
	}
	if c.Type.ID() == arrow.STRING && c.Facts.Kinds&^(geoarrow.FactString|geoarrow.FactField) != 0 && !c.forced {
		d.mixed = append(d.mixed, c.ID())
	}
	d.Accept(c.Type.ID() != arrow.FLOAT64 || c.kinds&knumber.NumberInexact == 0,
		"an integer that no float64 is, among numbers with a point")
}

// parse makes columns of numbers.
func (d *deviceRows) parse(list []*deviceColumn, text gpu.Buffer[byte], values knumber.Scalars) {
	n, floats := d.rows.Rows, 0
	to := make([]knumber.NumberColumn, len(list))
	for i, c := range list {
		switch to[i].Column = c.number; c.Type.ID() {
		case arrow.INT32:
			to[i].Int32 = device.Alloc[int32](d.Work, n)
		case arrow.INT64:
			to[i].Int64 = device.Alloc[int64](d.Work, n)
		default:
			to[i].Float64 = device.Alloc[float64](d.Work, n)
			floats++
		}
	}
	undecided := device.Alloc[uint64](d.Work, floats*kernels.Words(n))
	if d.Stopped() || len(list) == 0 {
		return
	}
	d.Try(knumber.ParseNumbers(d.K, d.S, text, values, to, undecided))
	unsure := device.Result(d.Work, undecided)
	d.After(func() { d.Accept(device.CountBits(unsure) == 0, unsureNumber) })
	for i, c := range list {
		switch c.Type.ID() {
		case arrow.INT32:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, to[i].Int32))
		case arrow.INT64:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, to[i].Int64))
		default:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, to[i].Float64))
		}
	}
}

// gather makes columns of texts, or of dates and times if all of their texts are such. It waits
// once for the lengths, and again if there are long texts.
func (d *deviceRows) gather(list []*deviceColumn, text gpu.Buffer[byte], values knumber.Scalars) {
	n := d.rows.Rows
	for _, c := range list {
		from, to := c.number*n, (c.number+1)*n
		c.offsets = device.Alloc[int64](d.Work, n+1)
		if d.Stopped() {
			return
		}
		x, err := ktext.MeasureShortStrings(d.K, d.S, text, values.Starts.Slice(from, to), values.Ends.Slice(from, to),
			ktext.StringsRaw, c.offsets)
		if d.Try(err); err != nil {
			return
		}
		d.Later(func() error { return x.Free(d.S) })
		c.strings = x
		d.measured(c)
	}
	if len(list) == 0 {
		return
	}
	d.Await()
	if again := d.lengthen(list); again {
		d.Await()
	}
	for _, c := range list {
		if d.Stopped() {
			return
		}
		d.Accept(c.size[0] <= math.MaxInt32, "texts of more than 2 GiB")
		bytes, narrow := device.Alloc[byte](d.Work, int(c.size[0])), device.Alloc[int32](d.Work, n+1)
		if d.Stopped() {
			return
		}
		d.Try(ktext.GatherStrings(d.K, d.S, c.strings, bytes, gpu.Buffer[int32]{}))
		d.Try(klist.NarrowInt32(d.K, d.S, c.offsets, narrow))
		c.Values, c.Offsets = device.Result(d.Work, bytes), device.Result(d.Work, narrow)
		if c.Role.Times() && c.Facts.Kinds == geoarrow.FactString|geoarrow.FactField && !c.forced {
			d.After(func() { rows.Times(c.Column, n, false) })
		}
	}
}

// measured requests the lengths of a column's texts.
func (d *deviceRows) measured(c *deviceColumn) {
	n := d.rows.Rows
	c.summary, c.size = device.Result(d.Work, c.strings.Summary), device.Result(d.Work, c.offsets.Slice(n, n+1))
}

// lengthen measures the long texts of columns that have some, and reports whether there are any.
func (d *deviceRows) lengthen(list []*deviceColumn) (again bool) {
	for _, c := range list {
		if !d.Stopped() && c.summary[0].HasLong != 0 {
			d.Try(ktext.MeasureLongStrings(d.K, d.S, c.strings, c.offsets))
			d.measured(c)
			again = true
		}
	}
	return again
}
