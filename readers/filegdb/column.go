package filegdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// column collects the values of a field over a part.
type column struct {
	field  *field
	index  int // of the field
	of     arrow.DataType
	facts  geoarrow.Facts
	utf8   bool // texts are UTF-8, else UTF-16
	unread bool // it was not requested: values are checked only
	skip   bool // and need no check

	n, nulls int
	valid    []byte // empty until the first null
	ends     []int32
	values   []byte
}

// Types of columns.
var (
	timestampType    = &arrow.TimestampType{Unit: arrow.Millisecond}
	timestampUTCType = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}
)

// typeOf returns the type of a field's column; nil: it has none.
func (f *field) typeOf() arrow.DataType {
	if f.codes != nil {
		return arrow.BinaryTypes.String
	}
	switch f.kind {
	case kindInt16:
		return arrow.PrimitiveTypes.Int16
	case kindInt32:
		return arrow.PrimitiveTypes.Int32
	case kindFloat32:
		return arrow.PrimitiveTypes.Float32
	case kindFloat64:
		return arrow.PrimitiveTypes.Float64
	case kindInt64:
		return arrow.PrimitiveTypes.Int64
	case kindDateTime:
		if f.utc {
			return timestampUTCType
		}
		return timestampType
	case kindOffsetTime:
		return timestampUTCType
	case kindDate:
		return arrow.FixedWidthTypes.Date32
	case kindTime:
		return arrow.FixedWidthTypes.Time32ms
	case kindBinary:
		return arrow.BinaryTypes.Binary
	case kindRaster:
		return [...]arrow.DataType{
			rasterExternal: arrow.BinaryTypes.String, rasterManaged: arrow.PrimitiveTypes.Int32,
			rasterInline: arrow.BinaryTypes.Binary,
		}[f.raster]
	case kindObjectID, kindGeometry:
		return nil
	}
	return arrow.BinaryTypes.String
}

// newColumns returns the columns of a table.
func (t *table) newColumns(requested readers.Projection) []*column {
	var columns []*column
	for i := range t.fields {
		f := &t.fields[i]
		of := f.typeOf()
		if of == nil {
			continue
		}
		name, _ := geoarrow.TypeName(of)
		c := &column{
			field: f, index: i, of: of, utf8: t.utf8 || f.kind == kindXML,
			facts: geoarrow.Facts{Kinds: geoarrow.FactDeclared, Declared: name},
		}
		c.unread = !requested.Has(c.id())
		c.skip = c.unread && !f.isChecked()
		c.reset()
		columns = append(columns, c)
	}
	return columns
}

func (c *column) id() geoarrow.ColumnID {
	return geoarrow.ColumnID{Role: geoarrow.RoleAttribute, Name: c.field.name}
}

// isChecked reports whether some values of the field are malformed.
func (f *field) isChecked() bool {
	switch f.kind {
	case kindString, kindXML, kindDateTime, kindDate, kindTime, kindOffsetTime, kindRaster:
		return true
	}
	return false
}

func (c *column) reset() {
	c.n, c.nulls, c.valid, c.values = 0, 0, c.valid[:0], c.values[:0]
	c.ends = append(c.ends[:0], 0)
}

// width is the size of a value in the column; 0: it has an end.
func (c *column) width() int {
	if w, ok := c.of.(arrow.FixedWidthDataType); ok {
		return w.Bytes()
	}
	return 0
}

// zeros are the value under a null.
var zeros [8]byte

func (c *column) null() {
	if !c.unread {
		if c.nulls == 0 {
			c.allValid()
		}
		if c.n&7 == 0 {
			c.valid = append(c.valid, 0)
		}
		c.values = append(c.values, zeros[:c.width()]...)
		c.end()
	}
	c.nulls++
	c.n++
}

// end ends a value that has one.
func (c *column) end() {
	if c.width() == 0 {
		c.ends = append(c.ends, int32(len(c.values)))
	}
}

func (c *column) allValid() {
	for range c.n / 8 {
		c.valid = append(c.valid, 0xff)
	}
	if c.n&7 != 0 {
		c.valid = append(c.valid, 1<<(c.n&7)-1)
	}
}

// filled counts a value.
func (c *column) filled() {
	if c.nulls > 0 && !c.unread {
		if c.n&7 == 0 {
			c.valid = append(c.valid, 0)
		}
		c.valid[c.n>>3] |= 1 << (c.n & 7)
	}
	c.n++
}

// truncate drops the values from row n on.
func (c *column) truncate(n int) {
	if c.n <= n {
		return
	}
	if !c.unread {
		if c.nulls > 0 {
			for i := n; i < c.n; i++ {
				if c.valid[i>>3]>>(i&7)&1 == 0 {
					c.nulls--
				}
			}
			if c.valid = c.valid[:(n+7)/8]; n&7 != 0 {
				c.valid[len(c.valid)-1] &= 1<<(n&7) - 1
			}
			if c.nulls == 0 {
				c.valid = c.valid[:0]
			}
		}
		if w := c.width(); w > 0 {
			c.values = c.values[:n*w]
		} else {
			c.ends = c.ends[:n+1]
			c.values = c.values[:c.ends[n]]
		}
	}
	c.n = n
}

var (
	errUTF8 = errors.New("expected UTF-8")
	errText = errors.New("a text in UTF-16 of an odd number of bytes")
)

// add adds the value of a row. A malformed one adds nothing.
func (c *column) add(b []byte) error {
	if b == nil {
		c.null()
		return nil
	}
	if !c.skip {
		if err := c.append(b); err != nil {
			return err
		}
	}
	c.filled()
	return nil
}

func (c *column) append(b []byte) error {
	if c.field.codes != nil {
		return c.appendCode(b)
	}
	switch c.field.kind {
	case kindInt16, kindInt32, kindInt64:
		c.values = append(c.values, b...)
	case kindFloat32, kindFloat64:
		c.values = appendFloat(c.values, b)
	case kindDateTime:
		ms, err := milliseconds(b, c.field.precise)
		if err != nil {
			return err
		}
		c.appendInt64(ms)
	case kindOffsetTime:
		ms, err := offsetMilliseconds(b)
		if err != nil {
			return err
		}
		c.appendInt64(ms)
	case kindDate:
		day, err := days(b)
		if err != nil {
			return err
		}
		c.appendInt32(day)
	case kindTime:
		ms, err := timeOfDay(b)
		if err != nil {
			return err
		}
		c.appendInt32(ms)
	case kindGUID, kindGlobalID:
		if !c.unread {
			c.values = appendGUID(c.values, b)
			c.end()
		}
	case kindRaster:
		return c.appendRaster(b)
	case kindString, kindXML:
		return c.appendText(b)
	default:
		c.appendBytes(b)
	}
	return nil
}

func (c *column) appendInt64(v int64) {
	if !c.unread {
		c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
	}
}

func (c *column) appendInt32(v int32) {
	if !c.unread {
		c.values = binary.LittleEndian.AppendUint32(c.values, uint32(v))
	}
}

func (c *column) appendBytes(b []byte) {
	if !c.unread {
		c.values = append(c.values, b...)
		c.end()
	}
}

func (c *column) appendText(b []byte) error {
	switch {
	case c.utf8 && !utf8.Valid(b):
		return errUTF8
	case c.utf8:
		c.appendBytes(b)
		return nil
	}
	return c.appendWide(b)
}

// appendWide appends a text that is UTF-16 in the file.
func (c *column) appendWide(b []byte) error {
	switch {
	case len(b)%2 != 0:
		return errText
	case !c.unread:
		c.values = appendUTF16(c.values, b)
		c.end()
	}
	return nil
}

func (c *column) appendRaster(b []byte) error {
	switch {
	case c.field.raster == rasterManaged:
		if !c.unread {
			c.values = append(c.values, b...)
		}
	case c.field.raster == rasterInline:
		c.appendBytes(b)
	default:
		return c.appendWide(b)
	}
	return nil
}

// appendCode appends the text of a code, or the code itself if the domain does not have it.
func (c *column) appendCode(b []byte) error {
	var code []byte
	switch c.field.kind {
	case kindInt16:
		code = strconv.AppendInt(nil, int64(int16(binary.LittleEndian.Uint16(b))), 10)
	case kindInt32:
		code = strconv.AppendInt(nil, int64(int32(binary.LittleEndian.Uint32(b))), 10)
	case kindInt64:
		code = strconv.AppendInt(nil, int64(binary.LittleEndian.Uint64(b)), 10)
	case kindFloat32:
		code = strconv.AppendFloat(nil, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
	case kindFloat64:
		code = strconv.AppendFloat(nil, math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
	default:
		switch {
		case c.utf8 && !utf8.Valid(b):
			return errUTF8
		case c.utf8:
			code = b
		case len(b)%2 != 0:
			return errText
		default:
			code = appendUTF16(nil, b)
		}
	}
	if text, ok := c.field.codes.texts[string(code)]; ok {
		code = []byte(text)
	}
	if len(c.values)+len(code) > math.MaxInt32 {
		return fmt.Errorf("the texts of %q: %w", c.field.name, geoarrow.ErrBatchTooLarge)
	}
	c.appendBytes(code)
	return nil
}

// appendFloat appends a number; NaN becomes the canonical one.
func appendFloat(dst, b []byte) []byte {
	if len(b) == 4 {
		if v := math.Float32frombits(binary.LittleEndian.Uint32(b)); v != v {
			return binary.LittleEndian.AppendUint32(dst, 0x7fc00000)
		}
	} else if v := math.Float64frombits(binary.LittleEndian.Uint64(b)); v != v {
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(nan))
	}
	return append(dst, b...)
}

// finish returns the column of the part. Its slices are the column's own.
func (c *column) finish() geoarrow.Column {
	if c.unread {
		return geoarrow.Unread(c.id())
	}
	out := geoarrow.Column{
		Name: c.field.name, Type: c.of, Facts: c.facts, Nulls: c.nulls, Values: c.values,
	}
	if c.nulls > 0 {
		out.Valid = c.valid
	}
	if c.width() == 0 {
		out.Offsets = c.ends
	}
	return out
}
