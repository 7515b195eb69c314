package frame

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Schema is the first message of every stream.
func Schema(schema *arrow.Schema) (*Frame, error) {
	c := newPayloadWriter(schema)
	if err := c.w.Close(); err != nil {
		return nil, err
	}
	return c.last, nil
}

// FromMessage is a frame of the message that SchemaMessage gave.
func FromMessage(schema []byte) *Frame { return &Frame{head: schema} }

// SchemaMessage is the message of Schema, which has no body.
func SchemaMessage(schema *arrow.Schema) ([]byte, error) {
	f, err := Schema(schema)
	if err != nil {
		return nil, err
	}
	return f.head, nil
}

// EncapsulatedSchema is the message of Schema in the form that FlightInfo and SchemaResult
// want (Arrow columnar format, "Encapsulated message format"):
//
//	ff ff ff ff | length, int32 little-endian | message | zeros up to a multiple of 8
func EncapsulatedSchema(schema *arrow.Schema) ([]byte, error) {
	f, err := Schema(schema)
	if err != nil {
		return nil, err
	}
	length := (len(f.header) + 7) &^ 7
	b := make([]byte, 8+length)
	binary.LittleEndian.PutUint32(b, 0xffffffff)
	binary.LittleEndian.PutUint32(b[4:], uint32(length))
	copy(b[8:], f.header)
	return b, nil
}

// EmptyRecord is a record without rows, which the caller releases.
func EmptyRecord(schema *arrow.Schema) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	return b.NewRecord()
}
