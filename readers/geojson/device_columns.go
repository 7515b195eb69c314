package geojson

import (
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// attributes makes the columns of properties, in the order in which they first appear, behind that of the features' ids.
func (d *deviceRows) attributes(top *placed, columns *geoarrow.Columns) {
	if d.stopped() {
		return
	}
	if top.kinds(fieldID)&^kindBit(kernels.ValueNull) != 0 {
		d.column(geoarrow.ColumnID{Role: geoarrow.RoleFeatureID, Name: "id"}, top.of(fieldID), top.kinds(fieldID), columns)
	}
	if len(d.names) == 0 {
		names := []string{""} // a dictionary of nothing that is looked for
		d.accept(d.place(fieldProperties, d.match(names), 1).none(), "a property that the rows before do not have")
		return
	}
	properties := d.place(fieldProperties, d.match(d.names), len(d.names))
	if d.stopped() {
		return
	}
	d.accept(properties.odd.Unknown < 0, "a property that the rows before do not have")
	order := make([]int, 0, len(d.names))
	for i, r := range properties.report {
		if r.First != math.MaxInt32 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return int(properties.report[a].First - properties.report[b].First) })
	for _, i := range order {
		d.column(geoarrow.ColumnID{Role: geoarrow.RoleAttribute, Name: d.names[i]}, properties.of(i), properties.kinds(i), columns)
	}
}

// none reports that nothing was placed.
func (p *placed) none() bool {
	return p != nil && p.odd.Unknown < 0 && p.report[0].First == math.MaxInt32
}

// column makes one column and appends it.
func (d *deviceRows) column(id geoarrow.ColumnID, slots gpu.Buffer[int32], kinds uint32, columns *geoarrow.Columns) {
	starts, ends, valid := d.tokens(slots, false)
	mask := deviceRead(d, valid)
	if d.stopped() {
		return
	}
	n := d.records.Count
	c := geoarrow.Column{Name: id.Name, Role: id.Role, Nulls: n - countBits(mask)}
	if c.Nulls > 0 {
		c.Valid = maskBytes(mask, n)
	}
	switch kinds &^ kindBit(kernels.ValueNull) {
	case 0:
		c.Type, c.Offsets = arrow.BinaryTypes.String, make([]int32, n+1)
	case kindBit(kernels.ValueNumber):
		d.numbers(&c, starts, ends, valid)
	case kindBit(kernels.ValueString):
		d.strings(&c, starts, ends)
	case kindBit(kernels.ValueTrue), kindBit(kernels.ValueFalse), kindBit(kernels.ValueTrue) | kindBit(kernels.ValueFalse):
		d.bools(&c, slots)
	default:
		d.accept(false, "a column of values of several kinds, or of lists or objects")
	}
	columns.Attributes = append(columns.Attributes, c)
	if kinds&kindBit(kernels.ValueString) != 0 && c.Role == geoarrow.RoleAttribute {
		at := len(columns.Attributes) - 1
		d.after = append(d.after, func() { times(&columns.Attributes[at], n) })
	}
}

// factsOfNumbers are the facts for the bits of NumberKinds.
var factsOfNumbers = [...]geoarrow.FactKinds{
	geoarrow.FactInt32, geoarrow.FactInt64, geoarrow.FactUint64, geoarrow.FactHuge, geoarrow.FactFloat, geoarrow.FactNegative,
}

// numbers fills a column of numbers.
func (d *deviceRows) numbers(c *geoarrow.Column, starts, ends gpu.Buffer[int64], valid kernels.Mask) {
	found := deviceAlloc[uint32](d, 1)
	if d.stopped() {
		return
	}
	d.try(d.k.NumberKinds(d.s, d.dev, starts, ends, valid, found))
	kinds := deviceRead(d, found)
	if d.stopped() {
		return
	}
	for i, fact := range factsOfNumbers {
		if kinds[0]>>i&1 != 0 {
			c.Facts.Kinds |= fact
		}
	}
	d.accept(kinds[0]&(kernels.NumberMalformed|kernels.NumberRange|kernels.NumberUndecided) == 0, "a number that is none, or beyond float64")
	c.Type = c.Facts.Resolve(c.Role).Type
	d.accept(c.Type.ID() != arrow.FLOAT64 || kinds[0]&kernels.NumberInexact == 0, "integers that float64 does not hold")
	switch c.Type.ID() {
	case arrow.INT32, arrow.INT64:
		d.integers(c, starts, ends)
	case arrow.FLOAT64:
		d.floats(c, starts, ends)
	default:
		d.accept(false, "a column of integers beyond int64")
	}
}

func (d *deviceRows) integers(c *geoarrow.Column, starts, ends gpu.Buffer[int64]) {
	n := starts.Len()
	out, ok, over := deviceAlloc[int64](d, n), deviceAlloc[uint64](d, kernels.Words(n)), deviceAlloc[uint64](d, kernels.Words(n))
	if d.stopped() {
		return
	}
	d.try(d.k.ParseInt64(d.s, d.dev, starts, ends, kernels.GrammarJSON, out, ok, over))
	if c.Type.ID() == arrow.INT64 {
		c.Values = geoarrow.AsBytes(deviceResult(d, out))
		return
	}
	narrow := deviceAlloc[int32](d, n)
	if d.stopped() {
		return
	}
	d.try(d.k.NarrowInt32(d.s, out, narrow))
	c.Values = geoarrow.AsBytes(deviceResult(d, narrow))
}

func (d *deviceRows) floats(c *geoarrow.Column, starts, ends gpu.Buffer[int64]) {
	n := starts.Len()
	to := kernels.Float64s{Out: deviceAlloc[float64](d, n), Valid: deviceAlloc[uint64](d, kernels.Words(n)), Undecided: deviceAlloc[uint64](d, kernels.Words(n))}
	if d.stopped() {
		return
	}
	d.try(d.k.ParseFloat64(d.s, d.dev, starts, ends, kernels.GrammarJSON, to))
	if !d.stopped() {
		_, err := d.k.SettleFloat64(d.s, d.dev, starts, ends, kernels.GrammarJSON, to)
		d.try(err)
	}
	if d.stopped() {
		return
	}
	d.try(kernels.ZeroInvalid(d.k, d.s, to.Out, to.Valid))
	c.Values = geoarrow.AsBytes(deviceResult(d, to.Out))
}

// strings fills a column of texts.
func (d *deviceRows) strings(c *geoarrow.Column, starts, ends gpu.Buffer[int64]) {
	n := starts.Len()
	offsets := deviceAlloc[int64](d, n+1)
	if d.stopped() {
		return
	}
	x, err := d.k.MeasureStrings(d.s, d.dev, starts, ends, kernels.StringsJSON, offsets)
	if err != nil {
		d.try(err)
		return
	}
	d.later(func() error { return x.Free(d.s) })
	summary, bytes := deviceRead(d, x.Summary), deviceRead(d, offsets.Slice(n, n+1))
	if d.stopped() {
		return
	}
	d.accept(summary[0].Flags&(kernels.StringMalformed|kernels.StringControl|kernels.StringNotUTF8) == 0, "a string that is not as JSON has it")
	text, narrow := deviceAlloc[byte](d, int(bytes[0])), deviceAlloc[int32](d, n+1)
	if d.stopped() {
		return
	}
	d.try(d.k.GatherStrings(d.s, x, text))
	d.try(d.k.NarrowInt32(d.s, offsets, narrow))
	c.Values, c.Offsets = deviceResult(d, text), deviceResult(d, narrow)
	c.Replaced = summary[0].Replaced
	c.Facts.Kinds = geoarrow.FactString
	c.Type = c.Facts.Resolve(c.Role).Type
}

// times makes a column of texts one of dates or times, if all of them are, as the CPU engine does.
func times(c *geoarrow.Column, n int) {
	texts := column{n: n, nulls: c.Nulls, valid: c.Valid, ends: c.Offsets, text: c.Values}
	facts, values := texts.temporalFacts()
	if res := facts.Resolve(c.Role); res.Type.ID() != arrow.STRING {
		c.Offsets, c.Values = nil, temporalValues(values, res.Type)
	}
	c.Facts = facts
	c.Type = c.Facts.Resolve(c.Role).Type
}

// bools fills a column of true and false.
func (d *deviceRows) bools(c *geoarrow.Column, slots gpu.Buffer[int32]) {
	n := d.records.Count
	starts, ends := deviceAlloc[int64](d, n), deviceAlloc[int64](d, n)
	valid, trues := deviceAlloc[uint64](d, kernels.Words(n)), deviceAlloc[uint64](d, kernels.Words(n))
	if d.stopped() {
		return
	}
	d.try(d.k.ColumnTokens(d.s, slots, d.records.ValueStart, d.records.ValueEnd, d.records.Kind, gpu.Buffer[int64]{}, starts, ends, valid, trues))
	c.Facts.Kinds = geoarrow.FactBool
	c.Type = c.Facts.Resolve(c.Role).Type
	d.accept(c.Type.ID() == arrow.BOOL, "ids that are true or false")
	c.Values = maskBytes(deviceRead(d, trues), n)
}

// countBits is the number of set bits.
func countBits(mask []uint64) (n int) {
	for _, w := range mask {
		n += bits.OnesCount64(w)
	}
	return n
}

// maskBytes are the first n bits as Arrow has them.
func maskBytes(mask []uint64, n int) []byte {
	return slices.Clone(geoarrow.AsBytes(mask)[:min((n+7)/8, 8*len(mask))])
}
