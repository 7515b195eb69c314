package frame

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Schema makes the first message of a stream.
func Schema(schema *arrow.Schema) (*Frame, error) {
	w := newPayloadWriter(schema)
	if err := w.writer.Close(); err != nil {
		return nil, err
	}
	return w.last, nil
}

// FromMessage makes a frame of a message that [SchemaMessage] returned.
func FromMessage(schema []byte) *Frame { return &Frame{head: schema} }

// SchemaMessage encodes the message of [Schema], which has no body.
func SchemaMessage(schema *arrow.Schema) ([]byte, error) {
	f, err := Schema(schema)
	if err != nil {
		return nil, err
	}
	return f.head, nil
}

// EncapsulatedSchema encodes the message of [Schema] in the form that FlightInfo and SchemaResult
// need (Arrow columnar format, "Encapsulated message format"):
//
//	ff ff ff ff | length, int32 little-endian | message | zeros up to a multiple of 8
func EncapsulatedSchema(schema *arrow.Schema) ([]byte, error) {
	f, err := Schema(schema)
	if err != nil {
		return nil, err
	}
	b, _ := f.Encapsulated(nil)
	return b, nil
}

// EmptyRecord makes a record without rows. The caller releases it.
func EmptyRecord(schema *arrow.Schema) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	return b.NewRecord()
}
