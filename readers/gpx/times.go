package gpx

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// times describes the column of times of a chunk. Its integers count from 1970 in UTC, in
// milliseconds, or in microseconds or nanoseconds if a value needs them. Only a column whose values
// have no common unit is text: docs/explanation/types.md.
type times struct {
	unit        int // decimals of a second: 0 before the first value, then 3, 6 or 9
	digits      uint8
	any         bool
	first, last int64 // range of the seconds
}

// tens are the powers of ten.
var tens = [...]int64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// unitOf returns the decimals of the unit for a number of digits.
func unitOf(digits uint8) int {
	switch {
	case digits > 6:
		return 9
	case digits > 3:
		return 6
	}
	return 3
}

// add ends the row of the column with a time, given its text.
func (t *times) add(c *rows.Column, v *temporal.Value, text []byte) {
	at := v.Seconds - int64(v.Offset)
	if !t.any {
		t.any, t.first, t.last = true, at, at
	}
	t.first, t.last, t.digits = min(t.first, at), max(t.last, at), max(t.digits, v.Digits)
	if c.Unread {
		c.Pass()
		return
	}
	if c.Store == rows.StoreText {
		c.Text = append(c.Text, text...)
		c.EndText()
		return
	}
	if !c.NeedText {
		c.NeedText = !t.fits()
	}
	if unit := unitOf(t.digits); unit > t.unit {
		for i := range c.Ints {
			c.Ints[i] *= tens[unit-max(3, t.unit)]
		}
		t.unit = unit
	}
	c.Ints = append(c.Ints, at*tens[t.unit]+int64(v.Fraction)/tens[9-t.unit])
	c.Filled()
}

// fits reports whether a timestamp holds all values.
func (t *times) fits() bool {
	const second = 1_000_000_000
	return t.digits <= 9 && (t.digits <= 6 || t.first >= math.MinInt64/second && t.last < math.MaxInt64/second)
}

// finish makes the finished column of integers, or of texts, one of times.
func (t *times) finish(c *geoarrow.Column) {
	if c.Type.ID() == arrow.NULL {
		return
	}
	c.Facts = geoarrow.Facts{
		Kinds: geoarrow.FactZoned, Digits: t.digits, Zones: geoarrow.OneZone, MinSec: t.first, MaxSec: t.last,
	}
	if c.Type.ID() == arrow.INT64 {
		c.Type = c.Facts.Resolve(c.Role).Type
	}
}
