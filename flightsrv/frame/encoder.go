package frame

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers"
)

// MaxMessageBytes bounds messages of several rows: by default, clients refuse 16 MiB and more.
const MaxMessageBytes = 15 << 20

// Encoder makes frames of the records of one schema.
type Encoder struct {
	schema       *arrow.Schema
	plain        *plainBatch
	uncompressed *payloadWriter // for records that plain can't encode; nil before the first one
	compressed   *payloadWriter // nil without compression
	name         func(row int64) string
	maxBytes     int // of a message with a single row
}

// NewEncoder returns an encoder. name describes a row in errors; maxBytes bounds a message with a
// single row.
func NewEncoder(schema *arrow.Schema, c ticket.Compression, name func(row int64) string, maxBytes int) *Encoder {
	e := &Encoder{schema: schema, plain: newPlainBatch(schema), name: name, maxBytes: maxBytes}
	switch c {
	case ticket.LZ4:
		e.compressed = newPayloadWriter(schema, ipc.WithLZ4())
	case ticket.Zstd:
		e.compressed = newPayloadWriter(schema, ipc.WithZstd())
	}
	return e
}

// Encode sends rec as one message. It halves a record, and its halves, until each message is below
// MaxMessageBytes or has one row. The cuts depend on the rows alone, so that the same ticket gives
// the same messages. row is the number of the first row.
func (e *Encoder) Encode(rec arrow.Record, row int64, send func(*Frame) error) error {
	f, err := e.uncompressedFrame(rec)
	if err != nil {
		return err
	}
	several := rec.NumRows() > 1
	if several && f.Size() >= MaxMessageBytes {
		return e.halve(rec, row, send)
	}
	if e.compressed != nil {
		plain := f
		if f, err = e.compressed.frame(rec); err != nil {
			return err
		}
		if err := checkCompressed(plain, f); err != nil {
			return fmt.Errorf("%s and on: %w", e.name(row), err)
		}
		// Compression may grow what it can't compress.
		if several && f.Size() >= MaxMessageBytes {
			return e.halve(rec, row, send)
		}
	}
	if !several && f.Size() > e.maxBytes {
		return &readers.LimitError{
			What: fmt.Sprintf("%s, a message of %d bytes,", e.name(row), f.Size()),
			Flag: "--max-message-bytes", Limit: int64(e.maxBytes),
		}
	}
	return send(f)
}

// uncompressedFrame encodes rec without compression.
func (e *Encoder) uncompressedFrame(rec arrow.Record) (*Frame, error) {
	if f := e.plain.frame(rec); f != nil {
		return f, nil
	}
	if e.uncompressed == nil {
		e.uncompressed = newPayloadWriter(e.schema)
	}
	return e.uncompressed.frame(rec)
}

// checkCompressed returns an error unless every compressed buffer states the length of its source.
// Arrow's writer hides the errors of its compressors, and passes on the buffers that they left
// unchanged. A buffer begins with its uncompressed length, little-endian, or with -1 if the rest is
// not compressed (Arrow columnar format, "Compression").
func checkCompressed(plain, compressed *Frame) error {
	from, to := plain.buffers(), compressed.buffers()
	if len(from) != len(to) {
		return fmt.Errorf("the compression gave %d buffers for %d", len(to), len(from))
	}
	for i, b := range to {
		var length int64
		if len(b) >= 8 {
			length = int64(binary.LittleEndian.Uint64(b))
		}
		if n := int64(len(from[i])); length != n && (length != -1 || int64(len(b)) != 8+n) {
			return fmt.Errorf("the compression of buffer %d, of %d bytes, failed", i, n)
		}
	}
	return nil
}

// halve encodes the two halves of a record.
func (e *Encoder) halve(rec arrow.Record, row int64, send func(*Frame) error) error {
	half, n := rec.NumRows()/2, rec.NumRows()
	for _, r := range [2][2]int64{{0, half}, {half, n}} {
		part := rec.NewSlice(r[0], r[1])
		err := e.Encode(part, row+r[0], send)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
