package geojson

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/kernels"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// parseNumbers fills the columns of numbers, or begins to.
func (d *deviceRows) parseNumbers(x knumber.Scalars, list []*deviceColumn) {
	var numbers []*deviceColumn
	for _, c := range list {
		if c.Type != nil && heldAs(c.Type.ID()) != arrow.NULL {
			numbers = append(numbers, c)
		}
	}
	d.parse(x, numbers)
}

// deviceNumbers are the values of a column of numbers, in the type that it has or is expected to
// have.
type deviceNumbers struct {
	knumber.NumberColumn
	kind      arrow.Type   // as returned by heldAs
	undecided kernels.Mask // of float64: values to be resolved on the host
	looks     []uint64     // the same on the host, after an await
}

// heldAs returns the type to which the numbers of a column are converted, arrow.NULL if it has
// none.
func heldAs(t arrow.Type) arrow.Type {
	switch {
	case t == arrow.INT32 || t == arrow.FLOAT64:
		return t
	case arrow.IsInteger(t):
		return arrow.INT64
	}
	return arrow.NULL
}

// numbers allocates memory for the values of a column.
func (d *deviceRows) numbers(c *deviceColumn, kind arrow.Type) *deviceNumbers {
	x := &deviceNumbers{kind: kind}
	x.Column = c.number
	switch kind {
	case arrow.INT32:
		x.Int32 = device.Alloc[int32](d.Work, c.n)
	case arrow.FLOAT64:
		x.Float64 = device.Alloc[float64](d.Work, c.n)
	default:
		x.Int64 = device.Alloc[int64](d.Work, c.n)
	}
	return x
}

// expect allocates memory for columns that should have the same type as in earlier rows, and for
// masks of their undecided values.
func (d *deviceRows) expect(list []*deviceColumn) (expected []*deviceColumn, undecided kernels.Mask) {
	for _, c := range list {
		kind := d.expected[c.ID()]
		if kind != arrow.NULL && !c.unread && !c.forced && c.kinds&kindNumber != 0 &&
			c.kinds&^(kindNumber|kindBool) == 0 {
			c.made = d.numbers(c, kind)
			expected = append(expected, c)
		}
	}
	return expected, d.undecided(expected)
}

// undecided allocates masks of the undecided values of float64 columns, which all have the same
// number of rows.
func (d *deviceRows) undecided(list []*deviceColumn) kernels.Mask {
	words := 0
	for _, c := range list {
		if c.made.kind == arrow.FLOAT64 {
			words += kernels.Words(c.n)
		}
	}
	return device.Alloc[uint64](d.Work, words)
}

// numbersOf returns where kernels write the columns.
func numbersOf(list []*deviceColumn) []knumber.NumberColumn {
	to := make([]knumber.NumberColumn, len(list))
	for i, c := range list {
		to[i] = c.made.NumberColumn
	}
	return to
}

// note gives each float64 column its part of the masks, and requests it.
func (d *deviceRows) note(list []*deviceColumn, undecided kernels.Mask) {
	looks := device.Result(d.Work, undecided)
	if d.Stopped() {
		return
	}
	for _, c := range list {
		if words := kernels.Words(c.n); c.made.kind == arrow.FLOAT64 {
			c.made.undecided, undecided = undecided.Slice(0, words), undecided.Slice(words, undecided.Len())
			c.made.looks, looks = looks[:words], looks[words:]
		}
	}
}

// parse fills columns of numbers, including true and false. For float64 columns it requests which
// values are to be resolved and how many integers were rounded, unless that is known.
func (d *deviceRows) parse(x knumber.Scalars, list []*deviceColumn) {
	var others []*deviceColumn // than those with the expected type
	for _, c := range list {
		if kind := heldAs(c.Type.ID()); c.made != nil && c.made.kind == kind {
			c.looked = true
		} else {
			c.made = d.numbers(c, kind)
			others = append(others, c)
		}
	}
	if len(others) > 0 {
		undecided := d.undecided(others)
		if d.Stopped() {
			return
		}
		d.Try(knumber.ParseNumbers(d.K, d.S, d.dev, x, numbersOf(others), undecided))
		d.note(others, undecided)
	}
	for _, c := range list {
		switch m := c.made; {
		case d.Stopped():
			return
		case m.Int32.Len() > 0:
			c.Values = geoarrow.AsBytes(device.Final(d.Work, m.Int32))
		case m.Int64.Len() > 0:
			c.Values = geoarrow.AsBytes(device.Final(d.Work, m.Int64))
		case m.Float64.Len() > 0:
			c.floats = &knumber.Float64s{Out: m.Float64, Undecided: m.undecided}
			c.undecided = m.looks
			d.countRounded(c)
		}
	}
}

// countRounded requests how many integers of a float64 column were rounded.
func (d *deviceRows) countRounded(c *deviceColumn) {
	if c.numberKinds[0]&knumber.NumberInexact == 0 {
		return
	}
	count := device.Alloc[int64](d.Work, 1)
	if d.Stopped() {
		return
	}
	c.looked = false
	d.Try(knumber.CountNumberKinds(d.K, d.S, d.dev, c.starts, c.ends, c.numbers, knumber.NumberInexact, count))
	c.inexact = device.Result(d.Work, count)
}

// finishFloats fills the column.
func (d *deviceRows) finishFloats(c *deviceColumn) {
	if device.CountBits(c.undecided) > 0 {
		c.floats.Valid = device.Alloc[uint64](d.Work, kernels.Words(c.n)) // not requested, since validity is known
		if d.Stopped() {
			return
		}
		_, err := knumber.ResolveFloat64(d.K, d.S, d.dev, c.starts, c.ends, knumber.GrammarJSON, *c.floats)
		d.Try(err)
	}
	c.undecided = nil
	if c.inexact != nil {
		c.Rounded = c.inexact[0]
	}
	c.Values = geoarrow.AsBytes(device.Final(d.Work, c.floats.Out))
}
