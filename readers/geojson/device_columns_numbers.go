package geojson

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
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
			to[i].Int32 = device.Alloc[int32](d.Work, c.n)
		case arrow.FLOAT64:
			to[i].Float64 = device.Alloc[float64](d.Work, c.n)
			floats++
		default:
			to[i].Int64 = device.Alloc[int64](d.Work, c.n)
		}
	}
	undecided := device.Alloc[uint64](d.Work, floats*words)
	if d.Stopped() {
		return
	}
	d.Try(d.K.ParseNumbers(d.S, d.dev, x, to, undecided))
	looks := device.Result(d.Work, undecided)
	for i, c := range list {
		switch {
		case d.Stopped():
			return
		case to[i].Int32.Len() > 0:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, to[i].Int32))
		case to[i].Int64.Len() > 0:
			c.Values = geoarrow.AsBytes(device.Result(d.Work, to[i].Int64))
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
	count := device.Alloc[int64](d.Work, 1)
	if d.Stopped() {
		return
	}
	d.Try(d.K.CountNumberKinds(d.S, d.dev, c.starts, c.ends, c.numbers, kernels.NumberInexact, count))
	c.inexact = device.Result(d.Work, count)
}

// finishFloats fills the column.
func (d *deviceRows) finishFloats(c *deviceColumn) {
	if device.CountBits(c.undecided) > 0 {
		c.floats.Valid = device.Alloc[uint64](d.Work, kernels.Words(c.n)) // nobody asks: what is valid is known
		if d.Stopped() {
			return
		}
		_, err := d.K.SettleFloat64(d.S, d.dev, c.starts, c.ends, kernels.GrammarJSON, *c.floats)
		d.Try(err)
	}
	c.undecided = nil
	if c.inexact != nil {
		c.Rounded = c.inexact[0]
	}
	c.Values = geoarrow.AsBytes(device.Result(d.Work, c.floats.Out))
}
