package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/vibeflight/vibeflight/readers/internal/records"
)

// field returns the Arrow field of a field of the schema, as Parquet's own types say it.
func (f *footer) field(s *pqarrow.SchemaField) (arrow.Field, error) {
	t, err := f.typeOf(s)
	out := arrow.Field{Name: s.Field.Name, Type: t, Nullable: s.Field.Nullable}
	if isLeaf(s) && (schema.JSONLogicalType{}).Equals(f.meta.Schema.Column(s.ColIndex).LogicalType()) {
		out.Metadata = arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"arrow.json"})
	}
	return out, err
}

// typeOf returns the type of what is put together of the columns of a field.
func (f *footer) typeOf(s *pqarrow.SchemaField) (arrow.DataType, error) {
	if isLeaf(s) {
		return f.leafType(s)
	}
	fields := make([]arrow.Field, len(s.Children))
	for i := range s.Children {
		child := &s.Children[i]
		t, err := f.typeOf(child)
		if err != nil {
			return nil, err
		}
		fields[i] = arrow.Field{Name: child.Field.Name, Type: t, Nullable: child.Field.Nullable}
	}
	switch s.Field.Type.ID() {
	case arrow.STRUCT:
		return arrow.StructOf(fields...), nil
	case arrow.LIST:
		return arrow.ListOfField(fields[0]), nil
	case arrow.MAP:
		entry, ok := fields[0].Type.(*arrow.StructType)
		if !ok || entry.NumFields() != 2 {
			return nil, fmt.Errorf("a map of %s", fields[0].Type)
		}
		return arrow.MapOf(entry.Field(0).Type, entry.Field(1).Type), nil
	}
	return nil, fmt.Errorf("%s is a type that is not read", s.Field.Type)
}

// leafType returns the type of a column.
func (f *footer) leafType(s *pqarrow.SchemaField) (arrow.DataType, error) {
	column := f.meta.Schema.Column(s.ColIndex)
	if f.int96[s.ColIndex] {
		return records.NewInt96(""), nil
	}
	switch column.LogicalType().(type) {
	case schema.JSONLogicalType, schema.EnumLogicalType:
		return arrow.BinaryTypes.String, nil // Arrow's own code gives bytes
	}
	return s.Field.Type, nil
}

// isLeaf reports whether a field is one column. The IsLeaf that fields have takes every group for
// one.
func isLeaf(s *pqarrow.SchemaField) bool { return len(s.Children) == 0 }
