package geojson

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// parseNumbers fills the columns of numbers, or begins to.
func (d *deviceRows) parseNumbers(x kernels.Scalars, list []*deviceColumn) {
	var numbers []*deviceColumn
	for _, c := range list {
		if c.Type != nil && (arrow.IsInteger(c.Type.ID()) || c.Type.ID() == arrow.FLOAT64) {
			numbers = append(numbers, c)
		}
	}
	d.parse(x, numbers)
}

// parse fills columns of numbers, and of true and false among them. Of those of float64 it asks which of them are to be settled and how many integers were rounded.
func (d *deviceRows) parse(x kernels.Scalars, list []*deviceColumn) {
	if len(list) == 0 {
		return
	}
	to, words := make([]kernels.NumberColumn, len(list)), kernels.Words(list[0].n)
	floats := 0
	for i, c := range list {
		to[i].Column = c.number
		switch c.Type.ID() {
		case arrow.INT32:
			to[i].Int32 = deviceAlloc[int32](d, c.n)
		case arrow.FLOAT64:
			to[i].Float64 = deviceAlloc[float64](d, c.n)
			floats++
		default:
			to[i].Int64 = deviceAlloc[int64](d, c.n)
		}
	}
	undecided := deviceAlloc[uint64](d, floats*words)
	if d.stopped() {
		return
	}
	d.try(d.k.ParseNumbers(d.s, d.dev, x, to, undecided))
	looks := deviceResult(d, undecided)
	for i, c := range list {
		switch {
		case d.stopped():
			return
		case to[i].Int32.Len() > 0:
			c.Values = geoarrow.AsBytes(deviceResult(d, to[i].Int32))
		case to[i].Int64.Len() > 0:
			c.Values = geoarrow.AsBytes(deviceResult(d, to[i].Int64))
		case to[i].Float64.Len() > 0:
			c.floats = &kernels.Float64s{Out: to[i].Float64, Undecided: undecided.Slice(0, words)}
			c.undecided, looks, undecided = looks[:words], looks[words:], undecided.Slice(words, undecided.Len())
			d.countRounded(c)
		}
	}
}

// countRounded asks how many integers of a column of float64 were rounded.
func (d *deviceRows) countRounded(c *deviceColumn) {
	if c.numberKinds[0]&kernels.NumberInexact == 0 {
		return
	}
	count := deviceAlloc[int64](d, 1)
	if d.stopped() {
		return
	}
	d.try(d.k.CountNumberKinds(d.s, d.dev, c.starts, c.ends, c.numbers, kernels.NumberInexact, count))
	c.inexact = deviceResult(d, count)
}

// finishFloats fills the column.
func (d *deviceRows) finishFloats(c *deviceColumn) {
	if countBits(c.undecided) > 0 {
		c.floats.Valid = deviceAlloc[uint64](d, kernels.Words(c.n)) // nobody asks: what is valid is known
		if d.stopped() {
			return
		}
		_, err := d.k.SettleFloat64(d.s, d.dev, c.starts, c.ends, kernels.GrammarJSON, *c.floats)
		d.try(err)
	}
	c.undecided = nil
	if c.inexact != nil {
		c.Rounded = c.inexact[0]
	}
	c.Values = geoarrow.AsBytes(deviceResult(d, c.floats.Out))
}
