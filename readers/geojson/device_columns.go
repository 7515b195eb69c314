package geojson

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// deviceColumn is a column in progress. All columns of a chunk go through each step together, so
// that the host waits for the device once per step and not once per column:
//
//	inspect   which rows have values, which kinds of numbers there are, how long texts are
//	convert   choose the type by that; convert values to it
//	deliver   texts, whose memory can be allocated only when their size is known
type deviceColumn struct {
	geoarrow.Column

	n      int // rows, or elements of lists
	slots  gpu.Buffer[int32]
	number int           // among the columns with values
	kinds  kjson.KindSet // without null
	forced bool          // must be text, whatever its values
	// not requested: checked on the device, and not copied back
	unread bool

	valid []uint64 // bit per row: it has a value that is not null

	numbers, trues kernels.Mask      // rows with a number, with true; not for elements of lists
	starts, ends   gpu.Buffer[int64] // of the text of strings, numbers, true and false
	numberKinds    []uint32          // one element; nil: no numbers
	inexact        []int64           // one element, if integers were rounded
	made           *deviceNumbers    // nil: no values yet
	floats         *knumber.Float64s
	undecided      []uint64
	looked         bool // undecided is there

	text *deviceText // nil: no text
	list *deviceList // nil: no arrays
}

const (
	kindNumber = kjson.KindSet(1 << kjson.ValueNumber)
	kindString = kjson.KindSet(1 << kjson.ValueString)
	kindTrue   = kjson.KindSet(1 << kjson.ValueTrue)
	kindBool   = kjson.KindSet(1<<kjson.ValueFalse) | kindTrue
	kindObject = kjson.KindSet(1 << kjson.ValueObject)
	kindArray  = kjson.KindSet(1 << kjson.ValueArray)
	kindNested = kindObject | kindArray
)

// attributes makes the columns of properties, whose single values readMembers has read.
func (d *deviceRows) attributes(list []*deviceColumn, scalars knumber.Scalars, columns *geoarrow.Columns) {
	var kinds kjson.KindSet
	for _, c := range list {
		kinds |= c.kinds
	}
	var nested *nestedTexts
	if kinds&kindNested != 0 {
		nested = d.nested(kinds)
	}
	for _, step := range []func(){
		func() { d.each(list, func(c *deviceColumn) { d.inspect(c, nested) }) },
		func() {
			d.each(list, d.lengthen)
			d.each(list, func(c *deviceColumn) { d.convert(c, nested) })
			d.parseNumbers(scalars, list)
		},
		func() { d.each(list, d.lengthen) }, // texts that convert measured
		func() { d.each(list, d.deliver) },
	} {
		step()
		d.awaitColumns(list)
		if d.Stopped() {
			return
		}
	}
	for _, c := range list {
		columns.Attributes = append(columns.Attributes, c.Column)
		if c.Facts.Kinds == geoarrow.FactString && c.Role == geoarrow.RoleAttribute {
			at, forced := len(columns.Attributes)-1, c.forced
			d.After(func() { rows.Times(&columns.Attributes[at], d.records.Count, forced) })
		}
	}
}

// each runs a step for every column.
func (d *deviceRows) each(list []*deviceColumn, step func(*deviceColumn)) {
	for _, c := range list {
		if !d.Stopped() {
			step(c)
		}
	}
}

// columns returns the chunk's columns: the features' ids, then the properties in order of first
// appearance.
func (d *deviceRows) columns(top *placedMembers) (list []*deviceColumn) {
	names, properties := d.properties()
	if d.Stopped() {
		return nil
	}
	add := func(id geoarrow.ColumnID, slots gpu.Buffer[int32], kinds uint32) {
		c := &deviceColumn{
			n: d.records.Count, slots: slots,
			kinds: kjson.KindSet(kinds &^ kindBit(kjson.ValueNull)), forced: slices.Contains(d.texts, id),
			unread: !d.asked.Has(id),
		}
		c.Name, c.Role = id.Name, id.Role
		list = append(list, c)
	}
	if ids := top.kinds(fieldID) &^ kindBit(kjson.ValueNull); ids != 0 {
		d.Accept(kjson.KindSet(ids)&^(kindNumber|kindString) == 0, "ids that are neither strings nor numbers")
		add(geoarrow.ColumnID{Role: geoarrow.RoleFeatureID, Name: "id"}, top.of(fieldID), ids)
	}
	order := make([]int, 0, len(names))
	for i, r := range properties.report {
		if r.First != math.MaxInt32 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return int(properties.report[a].First - properties.report[b].First) })
	for _, i := range order {
		add(geoarrow.ColumnID{Role: geoarrow.RoleAttribute, Name: names[i]}, properties.of(i), properties.kinds(i))
	}
	return list
}

// awaitColumns waits for the device if the next step has results to read.
func (d *deviceRows) awaitColumns(list []*deviceColumn) {
	if !slices.ContainsFunc(list, (*deviceColumn).asks) {
		return
	}
	d.Await()
	for _, c := range list {
		c.arrived()
	}
}

// asks reports whether the host has results to read that are in flight.
func (c *deviceColumn) asks() bool {
	return c.kinds != 0 && c.Type == nil || c.undecided != nil && !c.looked || c.text != nil &&
		!c.text.arrived || c.list != nil && c.list.items != nil && c.list.items.asks()
}

// arrived notes that all requested results have arrived.
func (c *deviceColumn) arrived() {
	c.looked = c.undecided != nil
	if c.text != nil {
		c.text.arrived = true
	}
	if c.list != nil && c.list.items != nil {
		c.list.items.arrived()
	}
}

// deviceScalars are the single values of columns.
type deviceScalars struct {
	kjson.ScalarColumns
	of       []*deviceColumn
	expected []*deviceColumn // those whose numbers are converted as in earlier rows
}

// scalars allocates memory for the columns' single values, including numbers of columns that had
// numbers in earlier rows, in the type that they had there.
func (d *deviceRows) scalars(list []*deviceColumn) *deviceScalars {
	x := &deviceScalars{}
	for _, c := range list {
		if c.kinds != 0 && (!c.unread || c.kinds&kindNumber != 0) {
			c.number = len(x.of)
			x.of, x.Slots = append(x.of, c), append(x.Slots, c.slots)
		}
		if !c.unread && c.kinds&(kindString|kindNested) == kindString { // whatever else it has, all of it is text
			x.Texts = append(x.Texts, c.number)
		}
	}
	n, count := d.records.Count, len(x.of)
	x.Offsets = device.Alloc[int64](d.Work, len(x.Texts)*(n+1))
	words := kernels.Words(n)
	x.expected, x.Undecided = d.expect(x.of)
	x.Expected = numbersOf(x.expected)
	x.To = knumber.Scalars{
		Starts: device.Alloc[int64](d.Work, count*n), Ends: device.Alloc[int64](d.Work, count*n),
		Kinds: device.Alloc[uint32](d.Work, count),
		Valid: device.Alloc[uint64](d.Work, count*words), Numbers: device.Alloc[uint64](d.Work, count*words),
		Trues: device.Alloc[uint64](d.Work, count*words),
	}
	return x
}

// askScalars requests which rows have values, which kinds of numbers occur, and how long texts are.
func (d *deviceRows) askScalars(x *deviceScalars, texts *ktext.Texts) {
	if len(x.of) == 0 {
		return
	}
	valid, kinds := device.Result(d.Work, x.To.Valid), device.Result(d.Work, x.To.Kinds)
	d.note(x.expected, x.Undecided)
	if d.Stopped() {
		return
	}
	n := d.records.Count
	words := kernels.Words(n)
	for i, c := range x.of {
		c.valid = valid[i*words : (i+1)*words]
		c.starts, c.ends = x.To.Starts.Slice(i*n, (i+1)*n), x.To.Ends.Slice(i*n, (i+1)*n)
		c.numbers, c.trues = x.To.Numbers.Slice(i*words, (i+1)*words), x.To.Trues.Slice(i*words, (i+1)*words)
		if c.kinds&kindNumber != 0 {
			c.numberKinds = kinds[i : i+1]
		}
	}
	for i, number := range x.Texts {
		c := x.of[number]
		c.text = &deviceText{offsets: x.Offsets.Slice(i*(n+1), (i+1)*(n+1))}
		c.text.add(d, texts.Of[i])
	}
}

// inspect requests which nested values the column has.
func (d *deviceRows) inspect(c *deviceColumn, nested *nestedTexts) {
	if !c.unread && c.kinds&kindObject != 0 { // whatever the others are
		d.measure(c, nested)
	}
	if c.kinds&kindArray != 0 {
		d.measureLists(c, nested)
	}
}

// pick returns the text of each row's value if it is of the given kinds.
func (d *deviceRows) pick(c *deviceColumn, want kjson.KindSet) (starts, ends gpu.Buffer[int64]) {
	n := d.records.Count
	starts, ends = device.Alloc[int64](d.Work, n), device.Alloc[int64](d.Work, n)
	if !d.Stopped() {
		d.Try(kjson.PickTokens(d.K, d.S, c.slots, d.records.ValueStart, d.records.ValueEnd, d.records.Kind, want,
			starts, ends, kernels.Mask{}))
	}
	return starts, ends
}

// factsOfNumbers are the facts for the bits of NumberKinds.
var factsOfNumbers = [...]geoarrow.FactKinds{
	geoarrow.FactInt32, geoarrow.FactInt64, geoarrow.FactUint64, geoarrow.FactHuge, geoarrow.FactFloat,
	geoarrow.FactNegative,
}

// numberFacts returns the facts for the result of NumberKinds.
func (d *deviceRows) numberFacts(found uint32) (facts geoarrow.FactKinds) {
	d.Accept(found&(knumber.NumberMalformed|knumber.NumberRange|knumber.NumberUndecided) == 0,
		"a malformed number, or one beyond float64")
	for i, fact := range factsOfNumbers {
		if found>>i&1 != 0 {
			facts |= fact
		}
	}
	return facts
}

// convert sets the column's type, and queues the conversion of its values.
func (d *deviceRows) convert(c *deviceColumn, nested *nestedTexts) {
	if c.unread {
		d.pass(c)
		return
	}
	n := d.records.Count
	c.Nulls = n - device.CountBits(c.valid)
	if c.Nulls > 0 {
		c.Valid = make([]byte, (n+7)/8)
		copy(c.Valid, geoarrow.AsBytes(c.valid)) // none if all are null
	}
	for _, has := range []struct {
		kinds kjson.KindSet
		fact  geoarrow.FactKinds
	}{{kindBool, geoarrow.FactBool}, {kindString, geoarrow.FactString}, {kindObject, geoarrow.FactJSON}} {
		if c.kinds&has.kinds != 0 {
			c.Facts.Kinds |= has.fact
		}
	}
	if c.numberKinds != nil {
		c.Facts.Kinds |= d.numberFacts(c.numberKinds[0])
	}
	if c.list != nil {
		c.Facts.Kinds |= d.listFacts(c.list.report[0])
	}
	found := c.Facts.Resolve(c.Role)
	c.Type = found.Type
	if c.forced {
		c.Type = arrow.BinaryTypes.String
	}
	if found.Mixed && !c.forced {
		d.mixed = append(d.mixed, geoarrow.ColumnID{Role: c.Role, Name: c.Name})
	}
	switch c.Type.ID() {
	case arrow.STRING:
		c.JSON, c.Mixed = found.JSON, found.Mixed
		if c.kinds == 0 {
			c.Offsets = make([]int32, n+1)
		} else if c.text == nil {
			d.measure(c, nested)
		}
	case arrow.BOOL:
		c.Values = geoarrow.AsBytes(device.Final(d.Work, c.trues))
		c.Values = c.Values[:min((n+7)/8, len(c.Values))]
	case arrow.LIST:
		d.items(c, nested)
	}
}

// pass checks the numbers of a column that is not requested.
func (d *deviceRows) pass(c *deviceColumn) {
	if c.numberKinds != nil {
		d.numberFacts(c.numberKinds[0])
	}
	if c.list != nil {
		d.listFacts(c.list.report[0])
	}
	c.Column = geoarrow.Unread(c.ID())
}

// deliver queues the rest of the column.
func (d *deviceRows) deliver(c *deviceColumn) {
	switch {
	case c.text != nil:
		d.gather(c)
	case c.floats != nil:
		d.finishFloats(c)
	case c.list != nil && c.list.items != nil:
		d.deliverItems(c)
	}
}

// maskBytes returns the first n bits in Arrow's layout.
func maskBytes(mask []uint64, n int) []byte {
	return slices.Clone(geoarrow.AsBytes(mask)[:min((n+7)/8, 8*len(mask))])
}
