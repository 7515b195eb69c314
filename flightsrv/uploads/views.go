package uploads

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Columns of string_view and binary_view, which Polars sends, become string and binary, also in
// lists and structs: Arrow's writer for Go writes views incorrectly.

// maxViewedBytes bounds the total length of the views of an array: many views may refer to the same
// bytes.
const maxViewedBytes = 512 << 20

// withoutViews returns the type that replaces a type with views.
func withoutViews(t arrow.DataType) arrow.DataType {
	field := func(f arrow.Field) arrow.Field {
		f.Type = withoutViews(f.Type)
		return f
	}
	switch t := t.(type) {
	case *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	case *arrow.ListType:
		return arrow.ListOfField(field(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(field(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), field(t.ElemField()))
	case *arrow.StructType:
		fields := slices.Clone(t.Fields())
		for i := range fields {
			fields[i] = field(fields[i])
		}
		return arrow.StructOf(fields...)
	}
	return t
}

// plainSchema returns the schema of records without views.
func plainSchema(s *arrow.Schema) *arrow.Schema {
	fields := slices.Clone(s.Fields())
	for i := range fields {
		fields[i].Type = withoutViews(fields[i].Type)
	}
	metadata := s.Metadata()
	return arrow.NewSchema(fields, &metadata)
}

// withoutViewsOf converts an array to the type without views. The caller releases it.
func withoutViewsOf(d arrow.ArrayData) (arrow.ArrayData, error) {
	t := withoutViews(d.DataType())
	if arrow.TypeEqual(t, d.DataType()) {
		d.Retain()
		return d, nil
	}
	if _, ok := d.DataType().(arrow.BinaryViewDataType); ok {
		return copyViews(d, t)
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	defer func() {
		for _, c := range children {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, c := range d.Children() {
		var err error
		if children[i], err = withoutViewsOf(c); err != nil {
			return nil, err
		}
	}
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), nil
}

// copyViews copies the values of views to one buffer.
func copyViews(d arrow.ArrayData, t arrow.DataType) (arrow.ArrayData, error) {
	views := array.MakeFromData(d)
	defer views.Release()
	value := func(i int) []byte { return views.(*array.BinaryView).Value(i) }
	if s, ok := views.(*array.StringView); ok {
		value = func(i int) []byte { return []byte(s.Value(i)) }
	}
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	defer b.Release()
	total := 0
	for i := range d.Len() {
		if views.IsNull(i) {
			b.AppendNull()
			continue
		}
		v := value(i)
		if total += len(v); total > maxViewedBytes {
			return nil, fmt.Errorf("its views amount to more than %d bytes: send fewer rows in a batch", maxViewedBytes)
		}
		b.Append(v)
	}
	values := b.NewBinaryArray()
	defer values.Release()
	out := values.Data()
	return array.NewData(t, out.Len(), out.Buffers(), nil, out.NullN(), 0), nil
}
