package geojson

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// parseNumbers fills a column of numbers, or begins to.
func (d *deviceRows) parseNumbers(c *deviceColumn) {
	if c.Type.ID() == arrow.FLOAT64 {
		d.parseFloats(c)
		return
	}
	d.integers(c)
}

// integers fills a column of integers, and of true and false among them.
func (d *deviceRows) integers(c *deviceColumn) {
	n := c.n
	out, ok, over := deviceAlloc[int64](d, n), deviceAlloc[uint64](d, kernels.Words(n)), deviceAlloc[uint64](d, kernels.Words(n))
	if d.stopped() {
		return
	}
	if c.Type.ID() == arrow.UINT64 {
		d.try(d.k.ParseBits64(d.s, d.dev, c.starts, c.ends, out))
	} else {
		d.try(d.k.ParseInt64(d.s, d.dev, c.starts, c.ends, kernels.GrammarJSON, out, ok, over))
	}
	if c.trues.Len() > 0 {
		d.try(kernels.FillNumbers(d.k, d.s, out, c.starts, c.ends, c.numbers, c.trues))
	}
	if c.Type.ID() != arrow.INT32 {
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

// parseFloats reads a column of numbers, and asks which of them are to be settled and how many integers were rounded.
func (d *deviceRows) parseFloats(c *deviceColumn) {
	n := c.n
	to := &kernels.Float64s{Out: deviceAlloc[float64](d, n), Valid: deviceAlloc[uint64](d, kernels.Words(n)), Undecided: deviceAlloc[uint64](d, kernels.Words(n))}
	if d.stopped() {
		return
	}
	d.try(d.k.ParseFloat64(d.s, d.dev, c.starts, c.ends, kernels.GrammarJSON, *to))
	c.floats, c.undecided = to, deviceResult(d, to.Undecided)
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
		_, err := d.k.SettleFloat64(d.s, d.dev, c.starts, c.ends, kernels.GrammarJSON, *c.floats)
		d.try(err)
	}
	c.undecided = nil
	if c.inexact != nil {
		c.Rounded = c.inexact[0]
	}
	d.try(kernels.FillNumbers(d.k, d.s, c.floats.Out, c.starts, c.ends, c.numbers, c.trues))
	c.Values = geoarrow.AsBytes(deviceResult(d, c.floats.Out))
}
