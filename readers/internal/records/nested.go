package records

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal256"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// tree is checked nested values.
type tree struct {
	leaf     *geoarrow.Column // nil: it has children
	valid    []byte
	ends     []int64  // of a list or a map: its elements are the rows ends[i] to ends[i+1] of its child
	names    []string // of a struct: of its children
	children []tree
}

// tree checks the rows, whatever their type.
func (r rows) tree() (t tree, err error) {
	if err := r.check(); err != nil {
		return t, err
	}
	of := r.data.DataType()
	if ext, ok := of.(arrow.ExtensionType); ok && !isInt96(of) {
		return rows{retyped(r.data, ext.StorageType()), r.from, r.to}.tree()
	}
	switch of := of.(type) {
	case *arrow.StructType:
		for i, f := range of.Fields() {
			child, err := rows{r.data.Children()[i], r.at(0), r.at(r.len())}.tree()
			if err != nil {
				return t, err
			}
			t.names, t.children = append(t.names, f.Name), append(t.children, child)
		}
		for _, child := range r.data.Children() {
			if child.Len() < r.at(r.len()) {
				return t, errShort
			}
		}
	case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType, *arrow.MapType:
		below, ends, err := r.elements()
		if err != nil {
			return t, err
		}
		child, err := below.tree()
		if err != nil {
			return t, inRow(err, ends)
		}
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i] -= ends[0]
		}
		t.ends, t.children = ends, []tree{child}
	default:
		leaf, err := r.read()
		t.leaf, t.valid = &leaf, leaf.Valid
		return t, err
	}
	t.valid, _, err = r.validity()
	return t, err
}

func isInt96(t arrow.DataType) bool {
	_, is := t.(*Int96)
	return is
}

// json returns the rows as JSON texts: structs as objects, in the order of their fields; maps as
// lists of objects with key and value.
func (r rows) json() (geoarrow.Column, error) {
	c := geoarrow.Column{Type: arrow.BinaryTypes.String}
	t, err := r.tree()
	if err != nil {
		return c, err
	}
	if c.Valid, c.Nulls, err = r.validity(); err != nil {
		return c, err
	}
	c.Offsets = make([]int32, r.len()+1)
	for i := range r.len() {
		if has(c.Valid, i) {
			if c.Values, err = t.append(c.Values, i); err != nil {
				return c, &rowError{i, err}
			}
		}
		if len(c.Values) > math.MaxInt32 {
			return c, geoarrow.ErrBatchTooLarge
		}
		c.Offsets[i+1] = int32(len(c.Values))
	}
	return c, nil
}

func (t *tree) append(dst []byte, i int) ([]byte, error) {
	if !has(t.valid, i) {
		return append(dst, "null"...), nil
	}
	var err error
	switch {
	case t.leaf != nil && t.leaf.Child != nil:
		dst = append(dst, '[')
		for k := t.leaf.Offsets[i]; k < t.leaf.Offsets[i+1]; k++ {
			if k > t.leaf.Offsets[i] {
				dst = append(dst, ',')
			}
			if dst, err = appendValue(dst, t.leaf.Child, int(k)); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case t.leaf != nil:
		return appendValue(dst, t.leaf, i)
	case t.ends != nil:
		dst = append(dst, '[')
		for k := t.ends[i]; k < t.ends[i+1]; k++ {
			if k > t.ends[i] {
				dst = append(dst, ',')
			}
			if dst, err = t.children[0].append(dst, int(k)); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}
	dst = append(dst, '{')
	for k := range t.children {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, t.names[k]), ':')
		if dst, err = t.children[k].append(dst, i); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

var errNoJSON = errors.New("no JSON number")

// appendValue appends a value that is not a list: numbers as numbers of all their digits, NaN and
// infinities as texts, bytes in base64, dates and times as in RFC 3339, spans of time as numbers of
// their unit.
func appendValue(dst []byte, c *geoarrow.Column, i int) ([]byte, error) {
	if !has(c.Valid, i) {
		return append(dst, "null"...), nil
	}
	switch t := c.Type.(type) {
	case *arrow.BooleanType:
		return strconv.AppendBool(dst, c.Values[i>>3]>>(i&7)&1 == 1), nil
	case *arrow.StringType:
		return appendQuoted(dst, string(c.Values[c.Offsets[i]:c.Offsets[i+1]])), nil
	case *arrow.BinaryType:
		return appendBase64(dst, c.Values[c.Offsets[i]:c.Offsets[i+1]]), nil
	case *arrow.FixedSizeBinaryType:
		return appendBase64(dst, c.Values[i*t.ByteWidth:(i+1)*t.ByteWidth]), nil
	case *arrow.Float64Type:
		return appendFloat(dst, math.Float64frombits(le64(c.Values[8*i:])), 64), nil
	case *arrow.Float32Type:
		return appendFloat(dst, float64(math.Float32frombits(le32(c.Values[4*i:]))), 32), nil
	case *arrow.Decimal128Type:
		return append(dst, geoarrow.DecimalView(c.Values)[i].ToString(t.Scale)...), nil
	case *arrow.Decimal256Type:
		p := c.Values[32*i:]
		return append(dst, decimal256.New(le64(p[24:]), le64(p[16:]), le64(p[8:]), le64(p)).ToString(t.Scale)...), nil
	case *arrow.MonthDayNanoIntervalType:
		p := c.Values[16*i:]
		return fmt.Appendf(dst, `{"months":%d,"days":%d,"nanoseconds":%d}`, int32(le32(p)), int32(le32(p[4:])),
			int64(le64(p[8:]))), nil
	case *arrow.MonthIntervalType:
		return fmt.Appendf(dst, `{"months":%d}`, int32(le32(c.Values[4*i:]))), nil
	case *arrow.DayTimeIntervalType:
		p := c.Values[8*i:]
		return fmt.Appendf(dst, `{"days":%d,"milliseconds":%d}`, int32(le32(p)), int32(le32(p[4:]))), nil
	case *arrow.Uint64Type:
		return strconv.AppendUint(dst, le64(c.Values[8*i:]), 10), nil
	case arrow.FixedWidthDataType:
		return appendInteger(dst, t, c.Values, i)
	}
	return dst, errNoJSON
}

// appendInteger appends a value that is stored as an integer of at most 64 bits.
func appendInteger(dst []byte, t arrow.FixedWidthDataType, b []byte, i int) ([]byte, error) {
	width := t.BitWidth() / 8
	var v uint64
	for k := width - 1; k >= 0; k-- {
		v = v<<8 | uint64(b[i*width+k])
	}
	n := int64(v)
	if shift := 64 - 8*width; !arrow.IsUnsignedInteger(t.ID()) {
		n = int64(v<<shift) >> shift
	}
	switch t := t.(type) {
	case *arrow.Date32Type, *arrow.Time32Type, *arrow.Time64Type, *arrow.TimestampType:
		return appendQuoted(dst, geoarrow.Value{Int: n}.Text(t)), nil
	case *arrow.Date64Type:
		return appendQuoted(dst, arrow.Date64(n).FormattedString()), nil
	}
	return strconv.AppendInt(dst, n, 10), nil
}

func appendFloat(dst []byte, v float64, size int) []byte {
	switch {
	case v != v:
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, size)
}

func appendBase64(dst, b []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), b), '"')
}

// appendQuoted appends a JSON string (RFC 8259 section 7), with no more escapes than it needs.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// isJSON reports whether each text of a column is JSON.
func isJSON(c *geoarrow.Column, n int) bool {
	for i := range n {
		if has(c.Valid, i) && !json.Valid(c.Values[c.Offsets[i]:c.Offsets[i+1]]) {
			return false
		}
	}
	return true
}
