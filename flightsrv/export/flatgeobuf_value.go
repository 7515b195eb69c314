package export

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// appendProperty appends a value that is not null in the column's FlatGeobuf type: numbers
// little-endian, others as bytes after their length.
func appendProperty(dst []byte, f arrow.Field, column arrow.Array, i int) ([]byte, error) {
	le := binary.LittleEndian
	switch a := column.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case *array.Int8:
		return append(dst, byte(a.Value(i))), nil
	case *array.Uint8:
		return append(dst, a.Value(i)), nil
	case *array.Int16:
		return le.AppendUint16(dst, uint16(a.Value(i))), nil
	case *array.Uint16:
		return le.AppendUint16(dst, a.Value(i)), nil
	case *array.Int32:
		return le.AppendUint32(dst, uint32(a.Value(i))), nil
	case *array.Uint32:
		return le.AppendUint32(dst, a.Value(i)), nil
	case *array.Int64:
		return le.AppendUint64(dst, uint64(a.Value(i))), nil
	case *array.Uint64:
		return le.AppendUint64(dst, a.Value(i)), nil
	case *array.Float32:
		return le.AppendUint32(dst, math.Float32bits(a.Value(i))), nil
	case *array.Float64:
		return le.AppendUint64(dst, math.Float64bits(a.Value(i))), nil
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	var err error
	if a, is := column.(*array.Binary); is && !isWKB(f) {
		dst = append(dst, a.Value(i)...)
	} else {
		dst, err = AppendText(dst, f, column, i)
	}
	le.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, err
}
