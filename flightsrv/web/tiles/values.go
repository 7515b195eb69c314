package tiles

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// valueEncoder encodes the values of one column of a batch as messages Value of section 4.4.
//
//	Arrow                     vector tile
//	bool                      bool_value
//	signed integers           uint_value, sint_value if negative
//	unsigned integers         uint_value
//	float16, float32          float_value; NaN and infinities are left out
//	float64                   double_value; NaN and infinities are left out
//	string                    string_value
//	all other types           string_value: the text of our GeoJSON
//
// Null is left out.
type valueEncoder struct {
	column *geoarrow.Column
	values []byte // column.Values
	other  arrow.Array
}

// newValueEncoder returns an encoder for a column of a batch with some rows.
func newValueEncoder(c *geoarrow.Column, rows int) (*valueEncoder, error) {
	e := &valueEncoder{column: c, values: c.Values}
	switch c.Type.ID() {
	case arrow.BOOL, arrow.INT32, arrow.INT64, arrow.UINT64, arrow.FLOAT64, arrow.NULL:
		return e, nil
	case arrow.STRING:
		if !c.JSON {
			return e, nil
		}
	}
	one := &geoarrow.Columns{Rows: rows, Attributes: []geoarrow.Column{*c}}
	rec, err := one.Record(geoarrow.Schema(one, geoarrow.CRS{}, geoarrow.Encoding{}), []int{0}, geoarrow.Encoding{})
	if err != nil {
		return nil, err
	}
	e.other = rec.Column(0) // its memory is the garbage collector's
	return e, nil
}

// append appends the message of row i. A null appends nothing.
func (e *valueEncoder) append(dst []byte, i int) []byte {
	c := e.column
	if c.Type.ID() == arrow.NULL || c.Valid != nil && c.Valid[i>>3]>>(i&7)&1 == 0 {
		return dst
	}
	if e.other != nil {
		return appendOther(dst, c, e.other, i)
	}
	switch c.Type.ID() {
	case arrow.BOOL:
		return append(dst, valueBool, e.values[i>>3]>>(i&7)&1)
	case arrow.INT32:
		return appendInt(dst, int64(int32(binary.LittleEndian.Uint32(e.values[4*i:]))))
	case arrow.INT64:
		return appendInt(dst, int64(binary.LittleEndian.Uint64(e.values[8*i:])))
	case arrow.UINT64:
		return binary.AppendUvarint(append(dst, valueUint), binary.LittleEndian.Uint64(e.values[8*i:]))
	case arrow.FLOAT64:
		return appendDouble(dst, math.Float64frombits(binary.LittleEndian.Uint64(e.values[8*i:])))
	}
	return appendBytes(dst, valueString, e.values[c.Offsets[i]:c.Offsets[i+1]])
}

func appendInt(dst []byte, v int64) []byte {
	if v < 0 {
		return binary.AppendUvarint(append(dst, valueSint), uint64(v<<1^v>>63))
	}
	return binary.AppendUvarint(append(dst, valueUint), uint64(v))
}

func appendDouble(dst []byte, v float64) []byte {
	if v-v != 0 {
		return dst
	}
	return binary.LittleEndian.AppendUint64(append(dst, valueDouble), math.Float64bits(v))
}

func appendFloat(dst []byte, v float32) []byte {
	if v-v != 0 {
		return dst
	}
	return binary.LittleEndian.AppendUint32(append(dst, valueFloat), math.Float32bits(v))
}

// appendOther appends a value of a type that text formats don't have.
func appendOther(dst []byte, c *geoarrow.Column, column arrow.Array, i int) []byte {
	switch a := column.(type) {
	case *array.Int8:
		return appendInt(dst, int64(a.Value(i)))
	case *array.Int16:
		return appendInt(dst, int64(a.Value(i)))
	case *array.Uint8:
		return appendInt(dst, int64(a.Value(i)))
	case *array.Uint16:
		return appendInt(dst, int64(a.Value(i)))
	case *array.Uint32:
		return appendInt(dst, int64(a.Value(i)))
	case *array.Float16:
		return appendFloat(dst, a.Value(i).Float32())
	case *array.Float32:
		return appendFloat(dst, a.Value(i))
	case *array.String:
		var b bytes.Buffer
		if c.JSON && json.Compact(&b, []byte(a.Value(i))) == nil {
			return appendBytes(dst, valueString, b.Bytes())
		}
		return appendBytes(dst, valueString, []byte(a.Value(i)))
	}
	text := appendJSON(nil, column, i)
	if len(text) > 1 && text[0] == '"' {
		var plain string
		if json.Unmarshal(text, &plain) == nil {
			text = []byte(plain)
		}
	}
	return appendBytes(dst, valueString, text)
}

// appendJSON appends a value as in our GeoJSON.
func appendJSON(dst []byte, column arrow.Array, i int) []byte {
	if column.IsNull(i) {
		return append(dst, "null"...)
	}
	switch a := column.(type) {
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		at, err := t.GetToTimeFunc()
		if err != nil { // a zone that this machine does not know
			return strconv.AppendQuote(dst, a.ValueStr(i))
		}
		layout := "2006-01-02T15:04:05.999999999"
		if t.TimeZone != "" {
			layout = time.RFC3339Nano
		}
		return strconv.AppendQuote(dst, at(a.Value(i)).Format(layout))
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		dst = append(dst, '[')
		for k := start; k < end; k++ {
			if k > start {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, a.ListValues(), int(k))
		}
		return append(dst, ']')
	case *array.Date32, *array.Date64, *array.Time32, *array.Time64, *array.Binary, *array.FixedSizeBinary:
		return strconv.AppendQuote(dst, column.ValueStr(i))
	case *array.Decimal128, *array.Decimal256:
		return append(dst, column.ValueStr(i)...)
	case *array.Float64:
		if v := a.Value(i); v-v != 0 {
			return strconv.AppendQuote(dst, strconv.FormatFloat(v, 'g', -1, 64))
		}
		return strconv.AppendFloat(dst, a.Value(i), 'g', -1, 64)
	}
	text, err := json.Marshal(column.GetOneForMarshal(i))
	if err != nil {
		return strconv.AppendQuote(dst, column.ValueStr(i))
	}
	return append(dst, text...)
}
