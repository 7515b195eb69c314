package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// maxNesting is the maximum nesting of types.
const maxNesting = 64

// target returns the type in the table for an Arrow type.
//
//	null                                     string, all null
//	large and view types                     string, binary
//	dictionary, run-end encoded              as their values
//	list, large list, fixed size list        list, of elements that are no lists, structs or maps
//	float16                                  float32
//	struct, map, other lists, intervals      JSON text
//	union, list view                         none: an error
//	all others                               the same type
//
// The type is nil for JSON text.
func target(t arrow.DataType, depth int) (arrow.DataType, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("types are nested deeper than %d", maxNesting)
	}
	switch t := t.(type) {
	case *Int96:
		return t.timestamp(), nil
	case arrow.ExtensionType:
		return target(t.StorageType(), depth+1)
	case *arrow.NullType, *arrow.LargeStringType, *arrow.StringViewType:
		return arrow.BinaryTypes.String, nil
	case *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary, nil
	case *arrow.Float16Type:
		return arrow.PrimitiveTypes.Float32, nil // DuckDB and others do not know the type
	case *arrow.MonthIntervalType, *arrow.DayTimeIntervalType, *arrow.MonthDayNanoIntervalType:
		return nil, nil // DuckDB would cut nanoseconds
	case *arrow.TimestampType:
		if !utf8.ValidString(t.TimeZone) {
			return nil, fmt.Errorf("the time zone %q is not UTF-8", t.TimeZone)
		}
	case arrow.DecimalType:
		if t.GetScale() < 0 || t.GetScale() > t.GetPrecision() {
			return nil, fmt.Errorf("%s is a type that is not read: its digits after the point are fewer than none, "+
				"or more than all", t)
		}
	case *arrow.DictionaryType:
		return flat(t, t.ValueType, depth)
	case *arrow.RunEndEncodedType:
		return flat(t, t.Encoded(), depth)
	case *arrow.MapType:
		return nil, nested(depth, t.KeyType(), t.ItemType())
	case *arrow.StructType:
		if t.NumFields() == 0 {
			return nil, errors.New("a struct without fields is not read")
		}
		var types []arrow.DataType
		for _, f := range t.Fields() {
			if !utf8.ValidString(f.Name) {
				return nil, fmt.Errorf("the name %q within it is not UTF-8", f.Name)
			}
			types = append(types, f.Type)
		}
		return nil, nested(depth, types...)
	case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType:
		if fixed, ok := t.(*arrow.FixedSizeListType); ok && fixed.Len() < 1 {
			return nil, errors.New("a list of no element is not read")
		}
		elem := t.(arrow.ListLikeType).ElemField()
		item, err := target(elem.Type, depth+1)
		if err != nil || item == nil || item.ID() == arrow.LIST || item.ID() == arrow.DURATION {
			return nil, err
		}
		return geoarrow.ListOf(item, elem.Nullable), nil
	}
	if name, ok := geoarrow.TypeName(t); !ok {
		return nil, fmt.Errorf("%s is a type that is not read", t)
	} else if _, ok := geoarrow.TypeNamed(name); !ok {
		return nil, fmt.Errorf("%s has parameters that no such type has", t)
	}
	return t, nil
}

// flat returns the target of values stored apart from their rows, which must not be lists, structs
// or maps.
func flat(of, values arrow.DataType, depth int) (arrow.DataType, error) {
	t, err := target(values, depth+1)
	if err == nil && (t == nil || t.ID() == arrow.LIST) {
		err = fmt.Errorf("%s is a type that is not read", of)
	}
	return t, err
}

// nested checks the types of which a type consists.
func nested(depth int, types ...arrow.DataType) error {
	for _, t := range types {
		if _, err := target(t, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// maxRows bounds the numbers of rows: with it nothing overflows.
const maxRows = 1 << 40

// check checks a run of rows: lengths of children and dictionaries come from the file.
func (r rows) check() error {
	if r.from < 0 || r.to < r.from || r.to > maxRows || r.data.Offset() < 0 || r.data.Offset() > maxRows {
		return fmt.Errorf("rows %d to %d of an array", r.from, r.to)
	}
	return nil
}

// read returns the rows as a column of their target.
func (r rows) read() (geoarrow.Column, error) {
	if err := r.check(); err != nil {
		return geoarrow.Column{}, err
	}
	switch t := r.data.DataType().(type) {
	case *Int96:
		return r.times96(t)
	case arrow.ExtensionType:
		return rows{retyped(r.data, t.StorageType()), r.from, r.to}.read()
	case *arrow.NullType:
		return r.nulls()
	case *arrow.StringType, *arrow.LargeStringType:
		return r.texts(arrow.BinaryTypes.String)
	case *arrow.BinaryType, *arrow.LargeBinaryType:
		return r.texts(arrow.BinaryTypes.Binary)
	case *arrow.StringViewType:
		return r.views(arrow.BinaryTypes.String)
	case *arrow.BinaryViewType:
		return r.views(arrow.BinaryTypes.Binary)
	case *arrow.DictionaryType:
		return r.dictionary(t)
	case *arrow.RunEndEncodedType:
		return r.runs()
	case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType:
		return r.list(t.(arrow.ListLikeType))
	case *arrow.Float16Type:
		return r.halves(t)
	case arrow.FixedWidthDataType:
		return r.fixed(t)
	}
	return geoarrow.Column{}, fmt.Errorf("%s is a type that is not read", r.data.DataType())
}

// halves returns float16 as float32, which holds all of its values.
func (r rows) halves(t *arrow.Float16Type) (geoarrow.Column, error) {
	c, err := r.fixed(t)
	if err != nil {
		return c, err
	}
	out := make([]byte, 0, 2*len(c.Values))
	for i := 0; i < len(c.Values); i += 2 {
		v := float16.FromBits(uint16(c.Values[i]) | uint16(c.Values[i+1])<<8).Float32()
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	c.Type, c.Values = arrow.PrimitiveTypes.Float32, canonicalNaN(out, arrow.PrimitiveTypes.Float32, true)
	return c, nil
}

// retyped returns the data under another type of the same layout.
func retyped(d arrow.ArrayData, t arrow.DataType) arrow.ArrayData { return typedData{d, t} }

type typedData struct {
	arrow.ArrayData
	as arrow.DataType
}

func (d typedData) DataType() arrow.DataType { return d.as }

// maxBatchRows bounds the rows of a batch that take no bytes in the file, since their number may be
// damaged.
const maxBatchRows = 4 << 20

// nulls returns values of the type null.
func (r rows) nulls() (geoarrow.Column, error) {
	n := r.len()
	if n > maxBatchRows {
		return geoarrow.Column{}, fmt.Errorf("%d nulls at once", n)
	}
	c := geoarrow.Column{Type: arrow.BinaryTypes.String, Nulls: n, Offsets: make([]int32, n+1)}
	if n > 0 {
		c.Valid = make([]byte, (n+7)/8)
	}
	return c, nil
}

// views returns strings or bytes that are anywhere in several buffers.
//
//	length, 4 bytes | up to 12 bytes of text
//	length, 4 bytes | first 4 bytes of text | number of the buffer, 4 bytes | offset in it, 4 bytes
func (r rows) views(t arrow.DataType) (geoarrow.Column, error) {
	const viewBytes, inline = 16, 12
	c := geoarrow.Column{Type: t}
	var err error
	if c.Valid, c.Nulls, err = r.validity(); err != nil {
		return c, err
	}
	n, b := r.len(), r.buffer(1)
	if len(b)/viewBytes < r.at(n) {
		return c, errShort
	}
	c.Offsets = make([]int32, n+1)
	for i := range n {
		if has(c.Valid, i) {
			view := b[viewBytes*r.at(i):][:viewBytes]
			length := int(int32(le32(view)))
			switch {
			case length < 0:
				return c, &rowError{i, fmt.Errorf("a text of %d bytes", length)}
			case length <= inline:
				c.Values = append(c.Values, view[4:4+length]...)
			default:
				from, at := r.buffer(2+int(min(le32(view[8:]), math.MaxInt16))), int64(le32(view[12:]))
				if at+int64(length) > int64(len(from)) {
					return c, &rowError{i, errors.New("a text beyond the end of its buffer")}
				}
				c.Values = append(c.Values, from[at:at+int64(length)]...)
			}
		}
		if len(c.Values) > math.MaxInt32 {
			return c, geoarrow.ErrBatchTooLarge
		}
		c.Offsets[i+1] = int32(len(c.Values))
	}
	return c, checkText(&c, n)
}

// dictionary returns the values at the rows' indices.
func (r rows) dictionary(t *arrow.DictionaryType) (geoarrow.Column, error) {
	values := r.data.Dictionary()
	if values == nil || values.DataType() == nil {
		return geoarrow.Column{}, errors.New("a dictionary is missing")
	}
	entries, err := rows{values, 0, values.Len()}.read()
	if err != nil {
		return geoarrow.Column{}, fmt.Errorf("the dictionary: %w", err)
	}
	numbers, err := rows{retyped(r.data, t.IndexType), r.from, r.to}.numbers()
	if err != nil {
		return geoarrow.Column{}, err
	}
	for i, k := range numbers {
		if k >= values.Len() || k < -1 {
			return geoarrow.Column{}, &rowError{i, fmt.Errorf("entry %d of a dictionary of %d", k, values.Len())}
		}
	}
	return pick(&entries, numbers)
}

// numbers reads integers of any width as indices; -1 is a null, and -2 an invalid index.
func (r rows) numbers() ([]int, error) {
	t, ok := r.data.DataType().(arrow.FixedWidthDataType)
	if !ok || !arrow.IsInteger(t.ID()) {
		return nil, fmt.Errorf("numbers of type %s", r.data.DataType())
	}
	c, err := r.fixed(t)
	if err != nil {
		return nil, err
	}
	width := t.BitWidth() / 8
	out := make([]int, r.len())
	for i := range out {
		if !has(c.Valid, i) {
			out[i] = -1
			continue
		}
		var v uint64
		for k := width - 1; k >= 0; k-- {
			v = v<<8 | uint64(c.Values[i*width+k])
		}
		if out[i] = int(v); v > math.MaxInt32 {
			out[i] = -2
		}
	}
	return out, nil
}

// runs returns the values of runs of equal ones.
func (r rows) runs() (geoarrow.Column, error) {
	children := r.data.Children()
	values := children[1]
	entries, err := rows{values, 0, values.Len()}.read()
	if err != nil {
		return geoarrow.Column{}, err
	}
	ends, err := rows{children[0], 0, children[0].Len()}.numbers()
	if err != nil {
		return geoarrow.Column{}, err
	}
	if r.len() > maxBatchRows {
		return geoarrow.Column{}, fmt.Errorf("runs of %d rows at once", r.len())
	}
	numbers := make([]int, r.len())
	k := 0
	for i := range numbers {
		for k < len(ends) && ends[k] <= r.at(i) {
			k++
		}
		if k >= len(ends) || k >= values.Len() {
			return geoarrow.Column{}, &rowError{i, errors.New("a row after the last run")}
		}
		numbers[i] = k
	}
	return pick(&entries, numbers)
}

// elements returns where the elements of lists are in their child: those of row i from ends[i] to
// ends[i+1].
func (r rows) elements() (child rows, ends []int64, err error) {
	data := r.data.Children()[0]
	if t, ok := r.data.DataType().(*arrow.FixedSizeListType); ok {
		size := int64(t.Len())
		if int64(r.at(r.len())) > int64(data.Len())/size {
			return rows{}, nil, errShort
		}
		ends = make([]int64, r.len()+1)
		for i := range ends {
			ends[i] = int64(r.at(i)) * size
		}
	} else if ends, err = r.spans(offsetWidth(r.data.DataType().ID()), int64(data.Len())); err != nil {
		return rows{}, nil, err
	}
	n := r.len()
	if ends[n] > int64(data.Len()) {
		return rows{}, nil, errShort
	}
	return rows{data, int(ends[0]), int(ends[n])}, ends, nil
}

// list returns lists of any layout as lists with offsets of 32 bits.
func (r rows) list(t arrow.ListLikeType) (geoarrow.Column, error) {
	child, ends, err := r.elements()
	if err != nil {
		return geoarrow.Column{}, err
	}
	items, err := child.read()
	if err != nil {
		return geoarrow.Column{}, inRow(err, ends)
	}
	if items.Nulls > 0 && !t.ElemField().Nullable {
		return geoarrow.Column{}, errors.New("a null in a list that has none by its type")
	}
	c := geoarrow.Column{Type: geoarrow.ListOf(items.Type, t.ElemField().Nullable), Child: &items}
	if c.Valid, c.Nulls, err = r.validity(); err != nil {
		return c, err
	}
	c.Offsets = make([]int32, r.len()+1)
	var kept []int32 // elements, without those under nulls
	size := int64(0)
	for i := range r.len() {
		n := ends[i+1] - ends[i]
		if !has(c.Valid, i) {
			if n > 0 && kept == nil {
				kept = upTo(int(size))
			}
			n = 0
		}
		if kept != nil {
			for k := range n {
				kept = append(kept, int32(ends[i]-ends[0]+k))
			}
		}
		if size += n; size > math.MaxInt32 {
			return c, geoarrow.ErrBatchTooLarge
		}
		c.Offsets[i+1] = int32(size)
	}
	if kept != nil {
		c.Child = items.Take(kept)
	}
	return c, nil
}

// inRow converts the row of an elements' error to that of their list.
func inRow(err error, ends []int64) error {
	var e *rowError
	if !errors.As(err, &e) {
		return err
	}
	i := 0
	for i+2 < len(ends) && ends[i+1]-ends[0] <= int64(e.row) {
		i++
	}
	return &rowError{i, e.err}
}

func upTo(n int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(i)
	}
	return v
}

// weigh estimates the bytes of the rows. It returns 0 if their buffers are invalid, which reading
// them will report.
func (r rows) weigh() int64 {
	n := int64(r.len())
	switch t := r.data.DataType().(type) {
	case arrow.ExtensionType:
		return rows{retyped(r.data, t.StorageType()), r.from, r.to}.weigh()
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		width, b := offsetWidth(t.ID()), r.buffer(1)
		if n == 0 || len(b)/width < r.at(int(n))+1 {
			return 0
		}
		return 4*n + max(0, offset(b, width, r.at(int(n)))-offset(b, width, r.at(0)))
	case *arrow.StringViewType, *arrow.BinaryViewType:
		size, b := 4*n, r.buffer(1)
		for i := range r.len() {
			if at := 16 * r.at(i); at+16 <= len(b) {
				size += int64(max(0, int32(le32(b[at:]))))
			}
		}
		return size
	case *arrow.DictionaryType:
		return r.weighEntries(t)
	case *arrow.RunEndEncodedType:
		if child := r.data.Children()[1]; child.Len() > 0 { // as if all rows had the longest
			return n * rows{child, 0, child.Len()}.weigh()
		}
		return 0
	case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType, *arrow.MapType:
		child, _, err := r.elements()
		if err != nil {
			return 0
		}
		return 4*n + child.weigh()
	case *arrow.StructType:
		var size int64
		for _, child := range r.data.Children() {
			size += rows{child, r.at(0), r.at(int(n))}.weigh()
		}
		return size
	case arrow.FixedWidthDataType:
		return n * int64(t.BitWidth()) / 8
	}
	return 4 * n
}

// weighEntries is weigh for a dictionary.
func (r rows) weighEntries(t *arrow.DictionaryType) int64 {
	values := r.data.Dictionary()
	numbers, err := rows{retyped(r.data, t.IndexType), r.from, r.to}.numbers()
	if err != nil || values == nil {
		return 0
	}
	if !arrow.IsBaseBinary(t.ValueType.ID()) {
		return int64(len(numbers)) * 16
	}
	size := int64(4 * len(numbers))
	for _, k := range numbers {
		if k >= 0 && k < values.Len() {
			size += rows{values, k, k + 1}.weigh()
		}
	}
	return size
}
