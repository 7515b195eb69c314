package geojson

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceList is the arrays of a column in progress.
type deviceList struct {
	ranks   gpu.Buffer[int64] // index of each row's first element among those of all columns
	offsets gpu.Buffer[int64]
	report  []uint32      // one element: kernels.ListFlags
	count   []int64       // one element: how many elements there are
	items   *deviceColumn // nil unless the arrays are lists
}

// valuesDepth is how deep the bracket of a property's value is in a Feature: { "properties": {
// "name": [
const valuesDepth = 3

// lists finds the elements of all arrays among the properties; their number is known after the next
// await.
func (d *deviceRows) lists() (lists *klist.Lists, elements []int64) {
	within := d.within(kindArray)
	if d.Stopped() {
		return nil, nil
	}
	lists, err := klist.FindElements(d.K, d.S, d.dev, d.x, within, valuesDepth, d.records.ValueStart)
	if err != nil {
		d.Try(err)
		return nil, nil
	}
	d.Later(func() error { return lists.Free(d.S) })
	return lists, device.Result(d.Work, lists.Total())
}

// measureLists requests the kinds of a column's arrays.
func (d *deviceRows) measureLists(c *deviceColumn, nested *nestedTexts) {
	starts, ends := d.pick(c, kindArray)
	offsets, report := device.Alloc[int64](d.Work, c.n+1), device.Alloc[uint32](d.Work, 1)
	if d.Stopped() {
		return
	}
	d.Try(klist.MeasureLists(d.K, d.S, nested.lists, c.slots, d.records.Kind, starts, ends, offsets, report))
	c.list = &deviceList{
		ranks: starts, offsets: offsets, report: device.Result(d.Work, report),
		count: device.Result(d.Work, offsets.Slice(c.n, c.n+1)),
	}
}

// listFacts returns the facts for the result of MeasureLists.
func (d *deviceRows) listFacts(report uint32) (facts geoarrow.FactKinds) {
	for _, has := range []struct {
		flag klist.ListFlags
		fact geoarrow.FactKinds
	}{
		{klist.ListBool, geoarrow.FactListBool},
		{klist.ListString, geoarrow.FactListString},
		{klist.ListEmpty, geoarrow.FactEmptyList},
		{klist.ListOdd, geoarrow.FactJSON},
	} {
		if report&uint32(has.flag) != 0 {
			facts |= has.fact
		}
	}
	return facts | d.numberFacts(report&(uint32(klist.ListBool)-1)).InList()
}

// items begins a column of lists, in which single values of the same kind are lists of one element.
func (d *deviceRows) items(c *deviceColumn, nested *nestedTexts) {
	n := int(c.list.count[0])
	i := &deviceColumn{
		n: n, numberKinds: []uint32{c.list.report[0]}, starts: device.Alloc[int64](d.Work, n),
		ends: device.Alloc[int64](d.Work, n),
	}
	i.Type = c.Type.(*arrow.ListType).Elem()
	if c.numberKinds != nil {
		i.numberKinds[0] |= c.numberKinds[0]
	}
	trues := device.Alloc[uint64](d.Work, kernels.Words(n))
	if d.Stopped() {
		return
	}
	c.list.items = i
	d.Try(klist.GatherElements(d.K, d.S, nested.lists, c.slots, d.records.Kind, d.records.ValueEnd, c.list.ranks,
		c.list.offsets, i.starts, i.ends, trues))
	switch i.Type.ID() {
	case arrow.BOOL:
		i.Values = geoarrow.AsBytes(device.Final(d.Work, trues))
		i.Values = i.Values[:min((n+7)/8, len(i.Values))]
	case arrow.STRING:
		i.text = &deviceText{}
		d.measurePart(i.text, d.dev, i.starts, i.ends, ktext.StringsJSON)
		d.measured(i)
	default:
		d.parse(knumber.Scalars{Starts: i.starts, Ends: i.ends}, []*deviceColumn{i})
	}
}

// deliverItems fills a column of lists.
func (d *deviceRows) deliverItems(c *deviceColumn) {
	i, narrow := c.list.items, device.Alloc[int32](d.Work, c.n+1)
	d.deliver(i)
	if d.Stopped() {
		return
	}
	d.Try(klist.NarrowInt32(d.K, d.S, c.list.offsets, narrow))
	c.Offsets = device.Final(d.Work, narrow)
	c.Rounded, c.Replaced = i.Rounded, i.Replaced
	c.Child = &geoarrow.Column{Type: i.Type, Offsets: i.Offsets, Values: i.Values}
}
