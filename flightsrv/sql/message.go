package sql

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/flight"
	flatbuffers "github.com/google/flatbuffers/go"
)

// The numbers below are those of Message.fbs and Schema.fbs of Arrow 17: fields by their place in the table's list, members of unions by their value.
const (
	messageType, messageHeader                                    = 1, 2
	headerSchema, headerBatch                                byte = 1, 3
	schemaFields, schemaMetadata, schemaFeatures                  = 1, 2, 3
	fieldType, fieldDictionary, fieldChildren, fieldMetadata      = 2, 4, 5, 6
	batchLength, batchNodes, batchBuffers, batchCompression       = 0, 1, 2, 3
)

// flat is the Arrow types without children, as the union Type counts them: Null, Int, FloatingPoint, Binary, Utf8, Bool, Decimal, Date, Time, Timestamp,
// Interval, FixedSizeBinary, Duration, LargeBinary, LargeUtf8.
const flat = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<15 | 1<<18 | 1<<19 | 1<<20

// checkMessage checks an IPC message of parameters before Arrow's reader gets it: that one allocates what a message says, and follows it wherever it points.
// What passes is a schema of flat types, or a batch whose buffers lie in its body and that has at most maxParameterRows rows. It gives the batch's rows.
func checkMessage(d *flight.FlightData) (n int64, err error) {
	defer func() {
		if p := recover(); p != nil { // an offset that leads out of the message
			err = malformed("parameters: the message is cut or damaged")
		}
	}()
	n, err = check(d.GetDataHeader(), int64(len(d.GetDataBody())))
	if err != nil {
		return 0, &RequestError{"parameters", err}
	}
	return n, nil
}

func check(header []byte, body int64) (int64, error) {
	m := table{flatbuffers.Table{Bytes: header, Pos: flatbuffers.GetUOffsetT(header)}}
	at := m.Offset(slot(messageType))
	to, ok := m.child(messageHeader)
	if at == 0 || !ok {
		return 0, errors.New("the message has no header")
	}
	switch m.GetByte(m.Pos + flatbuffers.UOffsetT(at)) {
	case headerSchema:
		return 0, checkSchema(to)
	case headerBatch:
		return checkBatch(to, body)
	}
	return 0, errors.New("want a schema, then record batches without dictionaries")
}

// A damaged schema may name one text many times: so these two bound the bytes that reading it takes.
const (
	maxSchemaBytes = 64 << 10
	maxParameters  = 1024 // also key-value pairs of metadata, of all columns together
)

func checkSchema(s table) error {
	fields, err := s.vector(schemaFields, 4)
	if err != nil {
		return err
	}
	if fields.n > maxParameters || len(s.Bytes) > maxSchemaBytes {
		return fmt.Errorf("%d columns in a schema of %d bytes: more than %d, or than %d bytes", fields.n, len(s.Bytes), maxParameters, maxSchemaBytes)
	}
	pairs := 0
	for _, k := range []int{schemaMetadata, schemaFeatures} {
		v, err := s.vector(k, 4)
		if err != nil {
			return err
		}
		pairs += v.n
	}
	for i := range fields.n {
		f := table{flatbuffers.Table{Bytes: s.Bytes, Pos: s.Indirect(fields.at + flatbuffers.UOffsetT(4*i))}}
		children, err := f.vector(fieldChildren, 4)
		if err != nil {
			return err
		}
		metadata, err := f.vector(fieldMetadata, 4)
		if err != nil {
			return err
		}
		if pairs += metadata.n; pairs > maxParameters {
			return fmt.Errorf("the schema has more than %d pairs of metadata", maxParameters)
		}
		var kind byte
		if at := f.Offset(slot(fieldType)); at != 0 {
			kind = f.GetByte(f.Pos + flatbuffers.UOffsetT(at))
		}
		if kind > 31 || flat>>kind&1 == 0 || children.n > 0 {
			return fmt.Errorf("column %d: a nested type can't be bound", i+1)
		}
		if f.Offset(slot(fieldDictionary)) != 0 {
			return fmt.Errorf("column %d: a dictionary can't be bound; send its values", i+1)
		}
	}
	return nil
}

func checkBatch(b table, body int64) (int64, error) {
	rows := b.int64(batchLength)
	if rows < 0 || rows > maxParameterRows {
		return 0, fmt.Errorf("%d rows in a batch, more than %d", rows, maxParameterRows)
	}
	if b.Offset(slot(batchCompression)) != 0 {
		return 0, errors.New("the batch is compressed: send it as it is")
	}
	nodes, err := b.vector(batchNodes, 16) // length, null count
	if err != nil {
		return 0, err
	}
	for i := range nodes.n {
		length, nulls := b.pair(nodes, i)
		if length != rows || nulls < 0 || nulls > length {
			return 0, fmt.Errorf("column %d: %d values and %d nulls in a batch of %d rows", i+1, length, nulls, rows)
		}
	}
	buffers, err := b.vector(batchBuffers, 16) // offset, length
	if err != nil {
		return 0, err
	}
	for i := range buffers.n {
		offset, length := b.pair(buffers, i)
		if offset < 0 || length < 0 || offset > math.MaxInt64-length || offset+length > body {
			return 0, fmt.Errorf("buffer %d: bytes %d to %d of a body of %d", i, offset, offset+length, body)
		}
	}
	return rows, nil
}

// table reads a FlatBuffers table. Its methods panic where the table leads out of its bytes.
type table struct{ flatbuffers.Table }

// vector is where the elements of a vector lie, and how many they are.
type vector struct {
	at flatbuffers.UOffsetT
	n  int
}

// slot is where the virtual table keeps field k.
func slot(k int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*k) }

func (t table) child(k int) (table, bool) {
	at := t.Offset(slot(k))
	if at == 0 {
		return table{}, false
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(at))}}, true
}

func (t table) int64(k int) int64 {
	at := t.Offset(slot(k))
	if at == 0 {
		return 0
	}
	return t.GetInt64(t.Pos + flatbuffers.UOffsetT(at))
}

// vector finds a vector of elements of so many bytes, and checks that they are there.
func (t table) vector(k, size int) (vector, error) {
	at := flatbuffers.UOffsetT(t.Offset(slot(k)))
	if at == 0 {
		return vector{}, nil
	}
	v := vector{t.Vector(at), t.VectorLen(at)}
	if left := len(t.Bytes) - int(v.at); v.n < 0 || left < 0 || v.n > left/size {
		return vector{}, errors.New("the message is cut or damaged")
	}
	return v, nil
}

// pair is element i of a vector of two numbers each.
func (t table) pair(v vector, i int) (first, second int64) {
	at := v.at + flatbuffers.UOffsetT(16*i)
	return t.GetInt64(at), t.GetInt64(at + 8)
}
