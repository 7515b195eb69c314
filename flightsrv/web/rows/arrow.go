package rows

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/frame"
)

// arrowStream writes an Arrow IPC stream: the messages of DoGet, whose buffers are not copied.
type arrowStream struct {
	out     partWriter
	encoder *frame.Encoder
	head    []byte
	rows    int64
}

func newArrow(out io.Writer, schema *arrow.Schema, o options) (writer, error) {
	name := func(row int64) string { return fmt.Sprintf("row %d of %s", row, o.name) }
	s := &arrowStream{
		out: partWriter{to: out}, encoder: frame.NewEncoder(schema, o.compression, name, math.MaxInt32),
	}
	head, err := frame.EncapsulatedSchema(schema)
	if err != nil {
		return nil, err
	}
	return s, s.out.write(head)
}

func (s *arrowStream) Write(rec arrow.Record) error {
	if rec.NumRows() == 0 {
		return nil
	}
	first := s.rows
	s.rows += rec.NumRows()
	return s.encoder.Encode(rec, first, func(f *frame.Frame) error {
		var body [][]byte
		s.head, body = f.Encapsulated(s.head[:0])
		if err := s.out.write(s.head); err != nil {
			return err
		}
		for _, part := range body {
			if err := s.out.write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

// Flush writes what is complete.
func (s *arrowStream) Flush() error { return s.out.flush() }

// Close writes the end of the stream: a message without a length.
func (s *arrowStream) Close() error {
	if err := s.out.write(binary.LittleEndian.AppendUint64(nil, 0xffffffff)); err != nil {
		return err
	}
	return s.out.flush()
}

// partWriter writes short parts together, and long ones without a copy.
type partWriter struct {
	to    io.Writer
	short []byte
}

// Sizes of parts and of what is written together.
const (
	longPart = 16 << 10
	maxShort = 64 << 10
)

func (j *partWriter) write(p []byte) error {
	if len(p) < longPart && len(j.short)+len(p) <= maxShort {
		j.short = append(j.short, p...)
		return nil
	}
	if err := j.flush(); err != nil {
		return err
	}
	if len(p) < longPart {
		j.short = append(j.short, p...)
		return nil
	}
	_, err := j.to.Write(p)
	return err
}

func (j *partWriter) flush() error {
	if len(j.short) == 0 {
		return nil
	}
	_, err := j.to.Write(j.short)
	j.short = j.short[:0]
	return err
}
