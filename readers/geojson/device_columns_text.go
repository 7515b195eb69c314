package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// nestedTexts is the compact JSON text of all objects and arrays among the properties of a chunk.
type nestedTexts struct {
	text  gpu.Buffer[byte]
	ranks *klist.Ranks // of the bytes that stay in the text
	lists *klist.Lists // of the arrays; nil if there is none
}

// elementBytes is how much text a chunk must have for each element of a list: one takes 40 bytes of
// the device's memory.
const elementBytes = 6

// nested checks and compacts the objects and arrays of all columns together.
//
//	text    {"properties":{"tags": {"a": [1, 2]},"n":1}}
//	within                         111111111111.
//	solid                          11111.111.11.
func (d *deviceRows) nested(kinds kjson.KindSet) *nestedTexts {
	within, solid := d.within(kindNested), device.Alloc[uint64](d.Work, kernels.Words(d.dev.Len()))
	fault := device.Alloc[int64](d.Work, 1)
	if d.Stopped() {
		return nil
	}
	d.Try(kjson.CheckValues(d.K, d.S, d.dev, d.x, within, d.deep, solid, fault))
	ranks, err := klist.Rank(d.K, d.S, solid)
	if err != nil {
		d.Try(err)
		return nil
	}
	d.Later(func() error { return ranks.Free(d.S) })
	at, bytes := device.Result(d.Work, fault), device.Result(d.Work, ranks.Total())
	var lists *klist.Lists
	var elements []int64
	if kinds&kindArray != 0 {
		lists, elements = d.lists()
	}
	d.Await()
	if d.Stopped() {
		return nil
	}
	d.Accept(at[0] < 0, "a nested value that is not as JSON has it, or too deep")
	d.Accept(lists == nil || d.Stopped() || elements[0] <= int64(d.dev.Len()/elementBytes),
		"lists of very short elements")
	x := &nestedTexts{text: device.Alloc[byte](d.Work, int(bytes[0])), ranks: ranks, lists: lists}
	if d.Stopped() {
		return nil
	}
	d.Try(kernels.Compact(d.K, d.S, d.dev, solid, x.text, gpu.Buffer[int64]{}))
	if lists != nil {
		d.Try(klist.ReadElements(d.K, d.S, lists, elements[0]))
	}
	return x
}

// within marks the bytes of properties of some kinds.
func (d *deviceRows) within(kinds kjson.KindSet) kernels.Mask {
	n := d.dev.Len()
	members, within := device.Alloc[uint64](d.Work, kernels.Words(d.records.Members)),
		device.Alloc[uint64](d.Work, kernels.Words(n))
	if !d.Stopped() {
		d.Try(kjson.MembersOfKinds(d.K, d.S, d.records.Owner, d.records.Field, fieldProperties, d.records.Kind,
			kinds, members))
		d.Try(ktext.MarkSomeSpans(d.K, d.S, d.records.ValueStart, d.records.ValueEnd, members, n, within))
	}
	return within
}

// deviceText is a column of texts in progress.
type deviceText struct {
	offsets gpu.Buffer[int64]
	parts   []*ktext.Strings // scalars, and nested values; each row is empty in one of the two
	summary [][]ktext.StringSummary
	bytes   []int64 // one element; or none if summary has it
	arrived bool    // summary, bytes are on the host
	long    bool    // long strings were measured as well
}

// size returns the number of bytes of all texts.
func (t *deviceText) size() int64 {
	if t.bytes == nil {
		return t.summary[0][0].Bytes
	}
	return t.bytes[0]
}

// measure finds how long the texts of a column are: strings without their quotes and escapes, other
// scalars unchanged, nested values as compact JSON.
func (d *deviceRows) measure(c *deviceColumn, nested *nestedTexts) {
	c.text = &deviceText{}
	if c.kinds&^kindNested != 0 {
		d.measurePart(c.text, d.dev, c.starts, c.ends, ktext.StringsJSON) // only strings have backslashes
	}
	if c.kinds&kindNested != 0 {
		starts, ends := d.pick(c, kindNested)
		if d.Stopped() {
			return
		}
		d.Try(klist.RankSpans(d.K, d.S, nested.ranks, starts, ends))
		d.measurePart(c.text, nested.text, starts, ends, ktext.StringsRaw)
	}
	d.measured(c)
}

// measured requests the number of bytes of all texts.
func (d *deviceRows) measured(c *deviceColumn) {
	if !d.Stopped() {
		c.text.bytes = device.Result(d.Work, c.text.offsets.Slice(c.n, c.n+1))
	}
}

// measurePart adds strings of one text.
func (d *deviceRows) measurePart(t *deviceText, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	mode ktext.StringMode,
) {
	offsets := device.Alloc[int64](d.Work, starts.Len()+1)
	if d.Stopped() {
		return
	}
	x, err := ktext.MeasureShortStrings(d.K, d.S, text, starts, ends, mode, offsets)
	if err != nil {
		d.Try(err)
		return
	}
	d.Later(func() error { return x.Free(d.S) })
	t.add(d, x)
	if len(t.parts) == 1 {
		t.offsets = offsets
		return
	}
	d.Try(ktext.AddOffsets(d.K, d.S, t.offsets, offsets))
}

// add adds measured strings, and requests their summary.
func (t *deviceText) add(d *deviceRows, x *ktext.Strings) {
	t.parts, t.summary = append(t.parts, x), append(t.summary, device.Result(d.Work, x.Summary))
}

// lengthen measures the long strings of a column if the host has seen that there are any.
func (d *deviceRows) lengthen(c *deviceColumn) {
	if c.list != nil && c.list.items != nil {
		d.lengthen(c.list.items)
	}
	t := c.text
	if t == nil || !t.arrived || t.long {
		return
	}
	for i, x := range t.parts {
		if t.summary[i][0].HasLong != 0 {
			t.arrived, t.long = false, true
			d.Try(ktext.MeasureLongStrings(d.K, d.S, x, t.offsets))
			t.summary[i] = device.Result(d.Work, x.Summary)
		}
	}
	if t.long {
		d.measured(c)
	}
}

// gather fills a column of texts.
func (d *deviceRows) gather(c *deviceColumn) {
	t := c.text
	for _, s := range t.summary {
		d.Accept(s[0].Flags&(ktext.StringMalformed|ktext.StringControl|ktext.StringNotUTF8) == 0,
			"a string that is not as JSON has it")
		c.Replaced += s[0].Replaced
	}
	size := t.size()
	d.Accept(size <= math.MaxInt32, "texts of more than 2 GiB in a column")
	text, narrow := device.Alloc[byte](d.Work, int(size)), device.Alloc[int32](d.Work, c.n+1)
	if d.Stopped() {
		return
	}
	for _, x := range t.parts {
		if len(t.parts) > 1 {
			x = x.At(t.offsets)
		}
		d.Try(ktext.GatherStrings(d.K, d.S, x, text, narrow))
	}
	c.Values, c.Offsets = device.Final(d.Work, text), device.Final(d.Work, narrow)
}
