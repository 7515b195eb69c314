package geoarrow

import (
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
)

// FixedWidth is the Go type of a fixed-width Arrow value.
type FixedWidth interface {
	~int32 | ~int64 | ~uint64 | ~float64
}

// View returns the bytes of a fixed-width buffer as values, without a copy. The buffer must be
// aligned, as those of AsBytes are.
func View[T FixedWidth](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// AsBytes returns values as bytes, without a copy.
func AsBytes[T FixedWidth](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// Widen returns the column with the type that the facts of the whole table require. It never
// changes c. It returns false if the conversion needs the values' text: a number or a date in a
// column of text, a list in a column of JSON.
func (c *Column) Widen(to Resolution, rows int) (Column, bool) {
	out := *c
	out.Type, out.JSON, out.Mixed = to.Type, to.JSON, to.Mixed
	if c.Facts.Kinds&FactField != 0 && rows > 0 && c.Type.ID() != arrow.STRING && to.Type.ID() == arrow.STRING {
		return Column{}, false // a null may be an empty text
	}
	// its facts may come from rows that were cut off
	if c.Nulls == rows || c.emptyTexts() && to.Type.ID() != arrow.STRING {
		return nullColumn(out, rows), true
	}
	if l, isList := to.Type.(*arrow.ListType); isList {
		return c.widenToList(out, l.Elem(), rows)
	}
	if _, isList := c.Type.(*arrow.ListType); isList {
		return Column{}, false
	}
	values, rounded, ok := widenValues(c.Values, c.Type, to.Type, rows)
	if !ok {
		return Column{}, false
	}
	out.Values = values
	out.Rounded += rounded
	return out, true
}

// emptyTexts reports whether the column has only nulls and empty texts, which have no kind: a field
// of a record that is "".
func (c *Column) emptyTexts() bool {
	return c.Facts.Kinds == 0 && c.Type.ID() == arrow.STRING
}

// NullColumn returns a column like c of rows nulls. A column that was not requested has no slices.
func NullColumn(c Column, rows int) Column { return nullColumn(c, rows) }

// nullColumn fills in the slices of a column of nulls only.
func nullColumn(c Column, rows int) Column {
	if c.Type.ID() == arrow.NULL {
		return Column{Name: c.Name, Role: c.Role, Type: c.Type, Facts: c.Facts}
	}
	c.Nulls, c.Valid = rows, nil
	if rows > 0 {
		c.Valid = make([]byte, (rows+7)/8)
	}
	c.Offsets, c.Values, c.Child = nil, nil, nil
	switch t := c.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		c.Offsets = make([]int32, rows+1)
	case *arrow.ListType:
		c.Offsets = make([]int32, rows+1)
		child := Column{Type: t.Elem()}
		if arrow.IsBaseBinary(t.Elem().ID()) {
			child.Offsets = []int32{0}
		}
		c.Child = &child
	case *arrow.BooleanType:
		c.Values = make([]byte, (rows+7)/8)
	case arrow.FixedWidthDataType:
		c.Values = make([]byte, rows*t.BitWidth()/8)
	}
	return c
}

func (c *Column) widenToList(out Column, elem arrow.DataType, rows int) (Column, bool) {
	if from, isList := c.Type.(*arrow.ListType); isList {
		child := *c.Child
		child.Type = elem
		n := int(c.Offsets[rows])
		values, rounded, ok := widenValues(child.Values, from.Elem(), elem, n)
		if !ok {
			return Column{}, false
		}
		child.Values = values
		out.Child = &child
		out.Rounded += rounded
		return out, true
	}
	if c.Facts.Kinds == FactEmptyList { // texts "[]" until a list determines the kind
		empty := nullColumn(Column{Type: out.Type}, rows)
		out.Offsets, out.Values, out.Child = empty.Offsets, nil, empty.Child
		return out, true
	}
	return c.wrap(out, elem, rows)
}

// wrap makes each scalar a list of one element.
func (c *Column) wrap(out Column, elem arrow.DataType, rows int) (Column, bool) {
	child := Column{Type: elem}
	offsets := make([]int32, rows+1)
	for i := range rows {
		offsets[i+1] = offsets[i]
		if c.valid(i) {
			offsets[i+1]++
		}
	}
	out.Offsets, out.Values, out.Child = offsets, nil, &child
	n := rows - c.Nulls
	switch c.Type.(type) {
	case *arrow.StringType: // nulls have no bytes: only their offsets go
		child.Values = c.Values
		child.Offsets = make([]int32, 1, n+1)
		for i := range rows {
			if c.valid(i) {
				child.Offsets = append(child.Offsets, c.Offsets[i+1])
			}
		}
	case *arrow.BooleanType:
		child.Values = make([]byte, (n+7)/8)
		k := 0
		for i := range rows {
			if c.valid(i) {
				child.Values[k>>3] |= c.Values[i>>3] >> (i & 7) & 1 << (k & 7)
				k++
			}
		}
	default:
		width := c.Type.(arrow.FixedWidthDataType).BitWidth() / 8
		dense := make([]byte, 0, n*width)
		for i := range rows {
			if c.valid(i) {
				dense = append(dense, c.Values[i*width:(i+1)*width]...)
			}
		}
		values, rounded, ok := widenValues(dense, c.Type, elem, n)
		if !ok {
			return Column{}, false
		}
		child.Values = values
		out.Rounded += rounded
		return out, true
	}
	return out, arrow.TypeEqual(c.Type, elem)
}

func (c *Column) valid(i int) bool { return c.Valid == nil || c.Valid[i>>3]>>(i&7)&1 == 1 }

// widenValues converts n values between types of one width class, and counts the integers that a
// float64 can't represent.
func widenValues(b []byte, from, to arrow.DataType, n int) ([]byte, int64, bool) {
	if arrow.TypeEqual(from, to) {
		return b, 0, true
	}
	switch from.ID() {
	case arrow.BOOL:
		return widenBools(b, to, n)
	case arrow.INT32:
		return widenInts(View[int32](b), to)
	case arrow.INT64:
		return widenInts(View[int64](b), to)
	case arrow.UINT64:
		return widenInts(View[uint64](b), to)
	case arrow.DECIMAL128:
		return widenDecimals(DecimalView(b), to)
	case arrow.DATE32:
		if t, ok := to.(*arrow.TimestampType); ok {
			perDay := 86400 * perSecond(t.Unit)
			return mapValues(View[int32](b), func(d int32) int64 { return int64(d) * perDay }), 0, true
		}
	case arrow.TIMESTAMP:
		if t, ok := to.(*arrow.TimestampType); ok {
			by := perSecond(t.Unit) / perSecond(from.(*arrow.TimestampType).Unit)
			return mapValues(View[int64](b), func(v int64) int64 { return v * by }), 0, by > 0
		}
	case arrow.TIME32:
		if t, ok := to.(*arrow.Time64Type); ok {
			by := perSecond(t.Unit) / 1000
			return mapValues(View[int32](b), func(v int32) int64 { return int64(v) * by }), 0, true
		}
	case arrow.TIME64:
		if t, ok := to.(*arrow.Time64Type); ok {
			by := perSecond(t.Unit) / perSecond(from.(*arrow.Time64Type).Unit)
			return mapValues(View[int64](b), func(v int64) int64 { return v * by }), 0, by > 0
		}
	}
	return nil, 0, false
}

func perSecond(u arrow.TimeUnit) int64 {
	return [...]int64{arrow.Second: 1, arrow.Millisecond: 1e3, arrow.Microsecond: 1e6, arrow.Nanosecond: 1e9}[u]
}

func mapValues[S, T FixedWidth](in []S, f func(S) T) []byte {
	out := make([]T, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return AsBytes(out)
}

func widenInts[S int32 | int64 | uint64](in []S, to arrow.DataType) ([]byte, int64, bool) {
	switch to.ID() {
	case arrow.INT64:
		return mapValues(in, func(v S) int64 { return int64(v) }), 0, true
	case arrow.UINT64:
		return mapValues(in, func(v S) uint64 { return uint64(v) }), 0, true
	case arrow.DECIMAL128:
		return toDecimals(in), 0, true
	case arrow.FLOAT64:
		var rounded int64
		out := mapValues(in, func(v S) float64 {
			f := float64(v)
			if !exact(f, v) {
				rounded++
			}
			return f
		})
		return out, rounded, true
	}
	return nil, 0, false
}

// exact reports whether f, to which v was rounded, equals v.
func exact[S int32 | int64 | uint64](f float64, v S) bool {
	const most = 1 << 53
	if math.Abs(f) < most {
		return true
	}
	if f >= 1<<63 { // S is uint64, or v was rounded up to 2^63
		return f < 1<<64 && v > 0 && uint64(f) == uint64(v)
	}
	return int64(f) == int64(v)
}

func widenBools(b []byte, to arrow.DataType, n int) ([]byte, int64, bool) {
	bit := func(i int) byte { return b[i>>3] >> (i & 7) & 1 }
	switch to.ID() {
	case arrow.INT32:
		return fill(n, func(i int) int32 { return int32(bit(i)) }), 0, true
	case arrow.INT64, arrow.UINT64: // 0 and 1 have the same bytes in both
		return fill(n, func(i int) int64 { return int64(bit(i)) }), 0, true
	case arrow.FLOAT64:
		return fill(n, func(i int) float64 { return float64(bit(i)) }), 0, true
	}
	return nil, 0, false
}

func fill[T FixedWidth](n int, f func(i int) T) []byte {
	out := make([]T, n)
	for i := range out {
		out[i] = f(i)
	}
	return AsBytes(out)
}
