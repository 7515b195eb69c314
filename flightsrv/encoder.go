package flightsrv

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/readers"
)

// wireBytes is what a message stays under: clients refuse 16 MiB and more unless told otherwise.
const wireBytes = 15 << 20

// encoder makes frames of records that are all of one schema.
type encoder struct {
	schema *arrow.Schema
	asIs   *plainBatch
	plain  *collector // of what asIs leaves; nil before there is any
	packed *collector // nil without compression
	name   func(row int64) string
	most   int // bytes of a message that holds one row
}

func newEncoder(schema *arrow.Schema, c Compression, name func(row int64) string, most int) *encoder {
	e := &encoder{schema: schema, asIs: newPlainBatch(schema), name: name, most: most}
	switch c {
	case LZ4:
		e.packed = newCollector(schema, ipc.WithLZ4())
	case Zstd:
		e.packed = newCollector(schema, ipc.WithZstd())
	}
	return e
}

// encode sends rec as one message, or in halves, and these in halves, until each message is under
// wireBytes or has one row. Halves, since they depend on nothing but the rows: the same ticket
// gives the same messages. row is the number of the first row.
func (e *encoder) encode(rec arrow.Record, row int64, send func(*frame) error) error {
	f, err := e.unpacked(rec)
	if err != nil {
		return err
	}
	several := rec.NumRows() > 1
	if several && f.size() >= wireBytes {
		return e.halve(rec, row, send)
	}
	if e.packed != nil {
		plain := f
		if f, err = e.packed.frame(rec); err != nil {
			return err
		}
		if err := checkPacked(plain, f); err != nil {
			return fmt.Errorf("%s and on: %w", e.name(row), err)
		}
		// Compression may grow what it can't compress.
		if several && f.size() >= wireBytes {
			return e.halve(rec, row, send)
		}
	}
	if !several && f.size() > e.most {
		return &readers.LimitError{
			What: fmt.Sprintf("%s, a message of %d bytes,", e.name(row), f.size()),
			Flag: "--max-message-bytes", Limit: int64(e.most),
		}
	}
	return send(f)
}

// unpacked is the frame of rec without compression.
func (e *encoder) unpacked(rec arrow.Record) (*frame, error) {
	if f := e.asIs.frame(rec); f != nil {
		return f, nil
	}
	if e.plain == nil {
		e.plain = newCollector(e.schema)
	}
	return e.plain.frame(rec)
}

// checkPacked gives an error unless every buffer of a packed frame says what it was made of: the
// writer of Arrow keeps the errors of its compressors to itself, and gives on the buffers that they
// left as they were. A buffer begins with its length when it is unpacked, little-endian, or with -1
// if what follows is not packed (Arrow columnar format, "Compression").
func checkPacked(plain, packed *frame) error {
	from, to := plain.buffers(), packed.buffers()
	if len(from) != len(to) {
		return fmt.Errorf("the compression gave %d buffers for %d", len(to), len(from))
	}
	for i, b := range to {
		var says int64
		if len(b) >= 8 {
			says = int64(binary.LittleEndian.Uint64(b))
		}
		if n := int64(len(from[i])); says != n && (says != -1 || int64(len(b)) != 8+n) {
			return fmt.Errorf("the compression of buffer %d, of %d bytes, failed", i, n)
		}
	}
	return nil
}

func (e *encoder) halve(rec arrow.Record, row int64, send func(*frame) error) error {
	half, n := rec.NumRows()/2, rec.NumRows()
	for _, r := range [2][2]int64{{0, half}, {half, n}} {
		part := rec.NewSlice(r[0], r[1])
		err := e.encode(part, row+r[0], send)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// collector is an ipc.PayloadWriter that keeps the frame of the last payload.
type collector struct {
	w     *ipc.Writer
	last  *frame
	parts [][]byte // of the last body, to be used again
}

func newCollector(schema *arrow.Schema, opts ...ipc.Option) *collector {
	c := &collector{}
	c.w = ipc.NewWriterWithPayloadWriter(c, append(opts, ipc.WithSchema(schema))...)
	return c
}

// frame encodes a record; the next call takes the parts of its body away. The first call makes the
// writer emit the schema too, which the record's own frame then replaces.
func (c *collector) frame(rec arrow.Record) (*frame, error) {
	if err := c.w.Write(rec); err != nil {
		return nil, err
	}
	f := c.last
	c.last = nil
	return f, nil
}

func (c *collector) Start() error { return nil }

func (c *collector) Close() error { return nil }

func (c *collector) WritePayload(p ipc.Payload) error {
	f, err := newFrame(&p, c.parts[:0])
	if err != nil {
		return err
	}
	c.last, c.parts = f, f.body
	return nil
}

// schemaFrame is the first message of every stream.
func schemaFrame(schema *arrow.Schema) (*frame, error) {
	c := newCollector(schema)
	if err := c.w.Close(); err != nil {
		return nil, err
	}
	return c.last, nil
}

// schemaMessage is the message of schemaFrame, which has no body.
func schemaMessage(schema *arrow.Schema) ([]byte, error) {
	f, err := schemaFrame(schema)
	if err != nil {
		return nil, err
	}
	return f.head, nil
}

// encapsulatedSchema is the message of schemaFrame in the form that FlightInfo and SchemaResult
// want (Arrow columnar format, "Encapsulated message format"):
//
//	ff ff ff ff | length, int32 little-endian | message | zeros up to a multiple of 8
func encapsulatedSchema(schema *arrow.Schema) ([]byte, error) {
	f, err := schemaFrame(schema)
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

// emptyRecord is a record without rows, which the caller releases.
func emptyRecord(schema *arrow.Schema) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	return b.NewRecord()
}
