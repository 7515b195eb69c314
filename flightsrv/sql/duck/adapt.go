//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// An ENUM is text to clients. DuckDB returns it as a dictionary, which JDBC and others do not read
// everywhere, and which a stream would have to send with each batch.
//
// A HUGEINT is an int64 to clients, unless the query names HUGEINT. DuckDB uses it for sums of
// integers, and pandas can't compute with a decimal of 38 digits. A value that does not fit is an
// error.

// withTexts replaces the dictionary types of a field, and of its children, by the types of their
// values.
func withTexts(f arrow.Field) arrow.Field {
	switch t := f.Type.(type) {
	case *arrow.DictionaryType:
		f.Type = t.ValueType
	case *arrow.MapType:
		m := arrow.MapOfWithMetadata(withTexts(t.KeyField()).Type, t.KeyField().Metadata,
			withTexts(t.ItemField()).Type, t.ItemField().Metadata)
		m.SetItemNullable(t.ItemField().Nullable)
		f.Type = m
	case *arrow.FixedSizeListType:
		f.Type = arrow.FixedSizeListOfField(t.Len(), withTexts(t.ElemField()))
	case *arrow.ListType:
		f.Type = arrow.ListOfField(withTexts(t.ElemField()))
	case *arrow.StructType:
		fields := t.Fields()
		for i := range fields {
			fields[i] = withTexts(fields[i])
		}
		f.Type = arrow.StructOf(fields...)
	}
	return f
}

// recordAs converts a record to a schema that was derived from its own. It takes ownership of rec.
func recordAs(rec arrow.Record, schema *arrow.Schema) (arrow.Record, error) {
	defer rec.Release()
	columns := make([]arrow.Array, rec.NumCols())
	for i, c := range rec.Columns() {
		data, err := dataAs(c.Data(), schema.Field(i).Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", schema.Field(i).Name, err)
		}
		columns[i] = array.MakeFromData(data)
		data.Release()
		defer columns[i].Release()
	}
	return array.NewRecord(schema, columns, rec.NumRows()), nil
}

// dataAs converts the data of an array to a type that was derived from its own. The caller releases
// it.
func dataAs(data arrow.ArrayData, as arrow.DataType) (arrow.ArrayData, error) {
	if arrow.TypeEqual(data.DataType(), as) {
		data.Retain()
		return data, nil
	}
	switch {
	case data.DataType().ID() == arrow.DICTIONARY:
		return textsOf(data)
	case data.DataType().ID() == arrow.DECIMAL128 && as.ID() == arrow.INT64:
		return integersOf(data)
	}
	nested, ok := as.(arrow.NestedType)
	if !ok || len(nested.Fields()) != len(data.Children()) {
		return nil, fmt.Errorf("%s can't be read as %s", data.DataType(), as)
	}
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, child := range data.Children() {
		var err error
		if children[i], err = dataAs(child, nested.Fields()[i].Type); err != nil {
			return nil, err
		}
		defer children[i].Release()
	}
	return array.NewData(as, data.Len(), data.Buffers(), children, data.NullN(), data.Offset()), nil
}

// textsOf returns the values of a dictionary array as texts.
func textsOf(data arrow.ArrayData) (arrow.ArrayData, error) {
	indices := array.NewDictionaryData(data)
	defer indices.Release()
	values, ok := indices.Dictionary().(*array.String)
	if !ok {
		return nil, fmt.Errorf("a dictionary of %s", indices.Dictionary().DataType())
	}
	b := array.NewStringBuilder(arrowMemory)
	defer b.Release()
	b.Reserve(indices.Len())
	for i := range indices.Len() {
		if indices.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(values.Value(indices.GetValueIndex(i)))
	}
	texts := b.NewStringArray()
	defer texts.Release()
	texts.Data().Retain()
	return texts.Data(), nil
}

// integersOf converts decimals without a fraction to integers.
func integersOf(data arrow.ArrayData) (arrow.ArrayData, error) {
	decimals := array.NewDecimal128Data(data)
	defer decimals.Release()
	b := array.NewInt64Builder(arrowMemory)
	defer b.Release()
	b.Reserve(decimals.Len())
	for i := range decimals.Len() {
		if decimals.IsNull(i) {
			b.AppendNull()
			continue
		}
		v := decimals.Value(i)
		n := int64(v.LowBits())
		if v != decimal128.FromI64(n) {
			return nil, badValue("%s does not fit a BIGINT, which sums of integers come as: cast it to HUGEINT or "+
				"DOUBLE", v.BigInt())
		}
		b.Append(n)
	}
	integers := b.NewInt64Array()
	defer integers.Release()
	integers.Data().Retain()
	return integers.Data(), nil
}
