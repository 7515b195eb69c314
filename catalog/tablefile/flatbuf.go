package tablefile

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Numbers from format/Message.fbs, format/Schema.fbs and format/File.fbs of Arrow's columnar format
// 1.5. Arrow's own code for them cannot be imported. A slot is the place of a field in its table.
const (
	metadataV5        = 4
	headerRecordBatch = 3

	typeInt           = 2
	typeFloatingPoint = 3
	typeBinary        = 4
	typeUtf8          = 5
	typeBool          = 6
	typeDecimal       = 7
	typeDate          = 8
	typeTime          = 9
	typeTimestamp     = 10
	typeInterval      = 11
	typeList          = 12
	typeStruct        = 13
	typeFixedBytes    = 15
	typeDuration      = 18

	precisionHalf   = 0
	precisionSingle = 1
	precisionDouble = 2
	decimalBitWidth = 128 // default of Decimal.bitWidth
	dateMillisecond = 1   // default of Date.unit; days are 0
	timeBitWidth    = 32

	intervalYearMonth    = 0
	intervalDayTime      = 1
	intervalMonthDayNano = 2

	// size of a Block: offset, int64; metaDataLength, int32, and 4 bytes of padding; bodyLength,
	// int64
	blockBytes = 24
	pairBytes  = 16 // size of a FieldNode and of a Buffer: two int64
)

// extent is the range of bytes [offset, offset+length).
type extent struct{ offset, length int64 }

// recordBatch returns the metadata of a message, framed as in an IPC stream:
//
//	ff ff ff ff | length, int32 | Message { RecordBatch } | zeros up to a multiple of 64
func recordBatch(rows int64, nodes []node, buffers []extent, body int64) []byte {
	b := flatbuffers.NewBuilder(256 + pairBytes*(len(nodes)+len(buffers)))
	b.StartVector(pairBytes, len(buffers), 8)
	for i := len(buffers) - 1; i >= 0; i-- {
		pair(b, buffers[i].offset, buffers[i].length)
	}
	bufferVector := b.EndVector(len(buffers))
	b.StartVector(pairBytes, len(nodes), 8)
	for i := len(nodes) - 1; i >= 0; i-- {
		pair(b, nodes[i].length, nodes[i].nulls)
	}
	nodeVector := b.EndVector(len(nodes))

	b.StartObject(5)
	b.PrependInt64Slot(0, rows, 0)
	b.PrependUOffsetTSlot(1, nodeVector, 0)
	b.PrependUOffsetTSlot(2, bufferVector, 0)
	batch := b.EndObject()

	b.StartObject(5)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependByteSlot(1, headerRecordBatch, 0)
	b.PrependUOffsetTSlot(2, batch, 0)
	b.PrependInt64Slot(3, body, 0)
	b.Finish(b.EndObject())

	text := b.FinishedBytes()
	framed := make([]byte, aligned(8+int64(len(text))))
	binary.LittleEndian.PutUint32(framed, 0xffffffff)
	binary.LittleEndian.PutUint32(framed[4:], uint32(len(framed)-8))
	copy(framed[8:], text)
	return framed
}

func pair(b *flatbuffers.Builder, first, second int64) {
	b.Prep(8, pairBytes)
	b.PrependInt64(second)
	b.PrependInt64(first)
}

// footer returns the Footer of a file with the messages, and the place of the description in it.
func footer(schema *arrow.Schema, messages []message, description []byte) (text []byte, at extent, err error) {
	b := flatbuffers.NewBuilder(4096 + len(description) + blockBytes*len(messages))
	value := b.CreateByteString(description)
	metadata := pairs(b, []string{descriptionKey}, []flatbuffers.UOffsetT{value})
	schemaTable, err := schemaOf(b, schema)
	if err != nil {
		return nil, extent{}, err
	}
	b.StartVector(blockBytes, len(messages), 8)
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		b.Prep(8, blockBytes)
		b.PrependInt64(m.body)
		b.Pad(4)
		b.PrependInt32(int32(m.metadata))
		b.PrependInt64(m.offset)
	}
	blocks := b.EndVector(len(messages))
	b.StartVector(blockBytes, 0, 8)
	dictionaries := b.EndVector(0)

	b.StartObject(5)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependUOffsetTSlot(1, schemaTable, 0)
	b.PrependUOffsetTSlot(2, dictionaries, 0)
	b.PrependUOffsetTSlot(3, blocks, 0)
	b.PrependUOffsetTSlot(4, metadata, 0)
	b.Finish(b.EndObject())
	text = b.FinishedBytes()
	// A builder counts from the end. A string starts with its length.
	return text, extent{int64(len(text)) - int64(value) + 4, int64(len(description))}, nil
}

// pairs writes a custom_metadata.
func pairs(b *flatbuffers.Builder, keys []string, values []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	tables := make([]flatbuffers.UOffsetT, len(keys))
	for i, k := range keys {
		key := b.CreateString(k)
		b.StartObject(2)
		b.PrependUOffsetTSlot(0, key, 0)
		b.PrependUOffsetTSlot(1, values[i], 0)
		tables[i] = b.EndObject()
	}
	return b.CreateVectorOfTables(tables)
}

func schemaOf(b *flatbuffers.Builder, s *arrow.Schema) (flatbuffers.UOffsetT, error) {
	fields, err := fieldsOf(b, s.Fields())
	if err != nil {
		return 0, err
	}
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	return b.EndObject(), nil
}

func fieldsOf(b *flatbuffers.Builder, fields []arrow.Field) (flatbuffers.UOffsetT, error) {
	tables := make([]flatbuffers.UOffsetT, len(fields))
	for i, f := range fields {
		t, err := fieldOf(b, f)
		if err != nil {
			return 0, fmt.Errorf("column %q: %w", f.Name, err)
		}
		tables[i] = t
	}
	return b.CreateVectorOfTables(tables), nil
}

func fieldOf(b *flatbuffers.Builder, f arrow.Field) (flatbuffers.UOffsetT, error) {
	var below []arrow.Field
	switch t := f.Type.(type) {
	case *arrow.ListType:
		below = []arrow.Field{t.ElemField()}
	case *arrow.StructType:
		below = t.Fields()
	}
	children, err := fieldsOf(b, below)
	if err != nil {
		return 0, err
	}
	kind, table, err := typeTable(b, f.Type)
	if err != nil {
		return 0, err
	}
	values := make([]flatbuffers.UOffsetT, f.Metadata.Len())
	for i, v := range f.Metadata.Values() {
		values[i] = b.CreateString(v)
	}
	metadata := pairs(b, f.Metadata.Keys(), values)
	name := b.CreateString(f.Name)
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependBoolSlot(1, f.Nullable, false)
	b.PrependByteSlot(2, kind, 0)
	b.PrependUOffsetTSlot(3, table, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	b.PrependUOffsetTSlot(6, metadata, 0)
	return b.EndObject(), nil
}

// typeTable writes the union Type of a field, and returns the number of its member and the member.
func typeTable(b *flatbuffers.Builder, t arrow.DataType) (byte, flatbuffers.UOffsetT, error) {
	kind, zone := byte(0), flatbuffers.UOffsetT(0)
	if ts, ok := t.(*arrow.TimestampType); ok && ts.TimeZone != "" {
		zone = b.CreateString(ts.TimeZone)
	}
	b.StartObject(3) // the maximum number of fields of a type
	switch t := t.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		kind = typeInt
		b.PrependInt32Slot(0, int32(t.(arrow.FixedWidthDataType).BitWidth()), 0)
		b.PrependBoolSlot(1, true, false)
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		kind = typeInt
		b.PrependInt32Slot(0, int32(t.(arrow.FixedWidthDataType).BitWidth()), 0)
	case *arrow.Float16Type:
		kind = typeFloatingPoint
		b.PrependInt16Slot(0, precisionHalf, 0)
	case *arrow.Float32Type:
		kind = typeFloatingPoint
		b.PrependInt16Slot(0, precisionSingle, 0)
	case *arrow.Float64Type:
		kind = typeFloatingPoint
		b.PrependInt16Slot(0, precisionDouble, 0)
	case arrow.DecimalType:
		kind = typeDecimal
		b.PrependInt32Slot(0, t.GetPrecision(), 0)
		b.PrependInt32Slot(1, t.GetScale(), 0)
		b.PrependInt32Slot(2, int32(t.(arrow.FixedWidthDataType).BitWidth()), decimalBitWidth)
	case *arrow.BinaryType:
		kind = typeBinary
	case *arrow.FixedSizeBinaryType:
		kind = typeFixedBytes
		b.PrependInt32Slot(0, int32(t.ByteWidth), 0)
	case *arrow.StringType:
		kind = typeUtf8
	case *arrow.BooleanType:
		kind = typeBool
	case *arrow.ListType:
		kind = typeList
	case *arrow.StructType:
		kind = typeStruct
	default:
		kind = temporalTable(b, t, zone)
	}
	table := b.EndObject()
	if kind == 0 {
		return 0, 0, fmt.Errorf("no place for %v", t)
	}
	return kind, table, nil
}

// temporalTable writes the fields of a date, a time or a duration, and returns the number of its
// type. It returns 0 for any other type.
func temporalTable(b *flatbuffers.Builder, t arrow.DataType, zone flatbuffers.UOffsetT) byte {
	switch t := t.(type) {
	case *arrow.Date32Type:
		b.PrependInt16Slot(0, 0, dateMillisecond)
		return typeDate
	case *arrow.Date64Type:
		b.PrependInt16Slot(0, dateMillisecond, dateMillisecond)
		return typeDate
	case *arrow.Time32Type:
		b.PrependInt16Slot(0, int16(t.Unit), int16(arrow.Millisecond))
		b.PrependInt32Slot(1, int32(t.BitWidth()), timeBitWidth)
		return typeTime
	case *arrow.Time64Type:
		b.PrependInt16Slot(0, int16(t.Unit), int16(arrow.Millisecond))
		b.PrependInt32Slot(1, int32(t.BitWidth()), timeBitWidth)
		return typeTime
	case *arrow.TimestampType:
		b.PrependInt16Slot(0, int16(t.Unit), 0)
		b.PrependUOffsetTSlot(1, zone, 0)
		return typeTimestamp
	case *arrow.DurationType:
		b.PrependInt16Slot(0, int16(t.Unit), int16(arrow.Millisecond))
		return typeDuration
	case *arrow.MonthIntervalType:
		b.PrependInt16Slot(0, intervalYearMonth, 0)
		return typeInterval
	case *arrow.DayTimeIntervalType:
		b.PrependInt16Slot(0, intervalDayTime, 0)
		return typeInterval
	case *arrow.MonthDayNanoIntervalType:
		b.PrependInt16Slot(0, intervalMonthDayNano, 0)
		return typeInterval
	}
	return 0
}
