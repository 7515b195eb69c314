package geoarrow

import (
	"bytes"
	"cmp"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Value is one value of a column. The column's type determines which field holds it; the others are
// zero.
type Value struct {
	Int   int64   // int32, int64; bool as 0 and 1; date32, timestamp, time32, time64 in the type's unit
	Uint  uint64  // uint64
	Float float64 // float64
	Bytes []byte  // string: a part of the column's memory

	Decimal decimal128.Num // decimal128, in units of its last digit
}

// Compare returns a negative number, 0 or a positive number if v is less than, equal to or greater
// than w, a value of the same type. Strings compare by bytes.
func (v Value) Compare(w Value) int {
	return cmp.Or(cmp.Compare(v.Int, w.Int), cmp.Compare(v.Uint, w.Uint), cmp.Compare(v.Float, w.Float),
		bytes.Compare(v.Bytes, w.Bytes), v.Decimal.Cmp(w.Decimal))
}

// Text formats the value; t is its type. A float is the shortest text that reads back the same. A
// date and time is as in RFC 3339, in UTC, with a Z only if the type has a time zone.
func (v Value) Text(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return strconv.FormatBool(v.Int == 1)
	case *arrow.Uint64Type:
		return strconv.FormatUint(v.Uint, 10)
	case *arrow.Float64Type:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case *arrow.StringType:
		return string(v.Bytes)
	case *arrow.Decimal128Type:
		return v.Decimal.ToString(t.Scale)
	case *arrow.Date32Type:
		return arrow.Date32(v.Int).FormattedString()
	case *arrow.Time32Type:
		return arrow.Time32(v.Int).FormattedString(t.Unit)
	case *arrow.Time64Type:
		return arrow.Time64(v.Int).FormattedString(t.Unit)
	case *arrow.TimestampType:
		layout := "2006-01-02T15:04:05.999999999"
		if t.TimeZone != "" {
			layout = time.RFC3339Nano
		}
		return arrow.Timestamp(v.Int).ToTime(t.Unit).Format(layout)
	}
	return strconv.FormatInt(v.Int, 10)
}

// Range returns the minimum and maximum of a column of rows rows. Nulls and NaN don't count, and -0
// is 0. ok is false if no value counts, and for types without a meaningful order: lists, JSON
// texts, texts of mixed kinds.
func (c *Column) Range(rows int) (low, high Value, ok bool) {
	if c.Nulls == rows || c.JSON || c.Mixed {
		return low, high, false
	}
	switch c.Type.ID() {
	case arrow.BOOL:
		trues := countBits(c.Values)
		if trues == rows-c.Nulls {
			low.Int = 1
		}
		high.Int = int64(min(trues, 1))
		return low, high, true
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		least, greatest, ok := valueRange(c, View[int32](c.Values))
		return Value{Int: int64(least)}, Value{Int: int64(greatest)}, ok
	case arrow.INT64, arrow.TIMESTAMP, arrow.TIME64:
		least, greatest, ok := valueRange(c, View[int64](c.Values))
		return Value{Int: least}, Value{Int: greatest}, ok
	case arrow.UINT64:
		least, greatest, ok := valueRange(c, View[uint64](c.Values))
		return Value{Uint: least}, Value{Uint: greatest}, ok
	case arrow.FLOAT64:
		least, greatest, ok := valueRange(c, View[float64](c.Values))
		// -0 becomes 0, since which of the two comes first depends on the batches.
		return Value{Float: least + 0}, Value{Float: greatest + 0}, ok
	case arrow.DECIMAL128:
		least, greatest, ok := c.decimalRange()
		return Value{Decimal: least}, Value{Decimal: greatest}, ok
	case arrow.STRING:
		least, greatest := c.textRange(rows)
		return Value{Bytes: least}, Value{Bytes: greatest}, true
	}
	return low, high, false
}

// valueRange checks a row's validity only if its value would change the result, which is rare.
func valueRange[T FixedWidth](c *Column, v []T) (least, greatest T, ok bool) {
	i := 0
	for i < len(v) && (v[i] != v[i] || !c.valid(i)) {
		i++
	}
	if i == len(v) {
		return least, greatest, false
	}
	least, greatest = v[i], v[i]
	for ; i < len(v); i++ { // no comparison with NaN holds
		if v[i] < least && c.valid(i) {
			least = v[i]
		}
		if v[i] > greatest && c.valid(i) {
			greatest = v[i]
		}
	}
	return least, greatest, true
}

// textRange is valueRange for strings, at least one of which is not null.
func (c *Column) textRange(rows int) (least, greatest []byte) {
	i := 0
	for !c.valid(i) {
		i++
	}
	least = c.Values[c.Offsets[i]:c.Offsets[i+1]]
	greatest = least
	for i++; i < rows; i++ {
		text := c.Values[c.Offsets[i]:c.Offsets[i+1]]
		if bytes.Compare(text, least) < 0 && c.valid(i) {
			least = text
		}
		if bytes.Compare(text, greatest) > 0 { // a null has no bytes, so it is never greater
			greatest = text
		}
	}
	return least, greatest
}
