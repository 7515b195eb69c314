package frame

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers"
)

// MaxMessageBytes is what a message stays under: clients refuse 16 MiB and more unless told otherwise.
const MaxMessageBytes = 15 << 20

// Encoder makes frames of records that are all of one schema.
type Encoder struct {
	schema       *arrow.Schema
	plain        *plainBatch
	uncompressed *payloadWriter // of what plain leaves; nil before there is any
	compressed   *payloadWriter // nil without compression
	name         func(row int64) string
	maxBytes     int // bytes of a message that holds one row
}

func NewEncoder(schema *arrow.Schema, c ticket.Compression, name func(row int64) string, most int) *Encoder {
	e := &Encoder{schema: schema, plain: newPlainBatch(schema), name: name, maxBytes: most}
	switch c {
	case ticket.LZ4:
		e.compressed = newPayloadWriter(schema, ipc.WithLZ4())
	case ticket.Zstd:
		e.compressed = newPayloadWriter(schema, ipc.WithZstd())
	}
	return e
}

// Encode sends rec as one message, or in halves, and these in halves, until each message is under
// MaxMessageBytes or has one row. Halves, since they depend on nothing but the rows: the same ticket
// gives the same messages. row is the number of the first row.
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

// uncompressedFrame is the frame of rec without compression.
func (e *Encoder) uncompressedFrame(rec arrow.Record) (*Frame, error) {
	if f := e.plain.frame(rec); f != nil {
		return f, nil
	}
	if e.uncompressed == nil {
		e.uncompressed = newPayloadWriter(e.schema)
	}
	return e.uncompressed.frame(rec)
}

// checkCompressed gives an error unless every buffer of a packed frame says what it was made of: the
// writer of Arrow keeps the errors of its compressors to itself, and gives on the buffers that they
// left as they were. A buffer begins with its length when it is unpacked, little-endian, or with -1
// if what follows is not packed (Arrow columnar format, "Compression").
func checkCompressed(plain, packed *Frame) error {
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
