package parquet

import (
	"errors"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// int96Bytes is the size of an INT96.
const int96Bytes = 12

// showInt96 makes Arrow's own code read columns of INT96 as bytes of fixed length, which are stored
// in the same way: by itself it converts them to nanoseconds without an overflow check. It returns
// the indices of these columns.
func showInt96(meta *metadata.FileMetaData) (map[int]bool, error) {
	found := map[int]bool{}
	for i := range meta.Schema.NumColumns() {
		if meta.Schema.Column(i).PhysicalType() == parquet.Types.Int96 {
			found[i] = true
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	length := int32(int96Bytes)
	for _, e := range meta.FileMetaData.Schema {
		if e.Type == nil || parquet.Type(*e.Type) != parquet.Types.Int96 {
			continue
		}
		kind := *e.Type
		setType(&kind, parquet.Types.FixedLenByteArray)
		e.Type, e.TypeLength = &kind, &length
		e.LogicalType, e.ConvertedType = nil, nil
	}
	root, err := schema.FromParquet(meta.FileMetaData.Schema)
	if err != nil {
		return nil, err
	}
	group, ok := root.(*schema.GroupNode)
	if !ok {
		return nil, errors.New("the schema is a column, not a group")
	}
	meta.Schema = schema.NewSchema(group)
	return found, nil
}

// setType sets a type of parquet.thrift, whose Go type is internal to Arrow's own code.
func setType[T ~int64](to *T, t parquet.Type) { *to = T(t) }
