package uploads

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/flight"
)

// byteRules bound messages of raw bytes: one column with any metadata.
var byteRules = Rules{Flat: true, Rows: 1 << 31, SchemaBytes: 64 << 10, Fields: 1024}

// Bytes reads the rows of one column of type binary or large_binary as a stream of bytes.
type Bytes struct {
	check Checker
	width int // of an offset
}

// Next returns the bytes of the next message, which refer to it. A descriptor or metadata alone,
// the schema, and a batch without rows have none.
func (b *Bytes) Next(d *flight.FlightData) ([]byte, error) {
	b.check.Rules = byteRules
	kind, rows, err := b.check.Check(d)
	if err != nil || kind == Nothing {
		return nil, err
	}
	if kind == Schema {
		b.width, err = byteWidth(d.GetDataHeader())
		return nil, err
	}
	return b.values(d, int(rows))
}

// byteWidth returns the width of the offsets of the only column of a schema, which Check has
// passed.
func byteWidth(header []byte) (int, error) {
	s, _ := root(header).child(messageHeader)
	fields, err := s.vector(schemaFields, 4)
	if err != nil {
		return 0, err
	}
	if fields.n == 1 {
		switch fieldType(s.element(fields, 0).byte(fieldKind)) {
		case typeBinary:
			return 4, nil
		case typeLargeBinary:
			return 8, nil
		}
	}
	return 0, fmt.Errorf("want one column of the type binary or large_binary, which holds the bytes of the file; "+
		"have %d columns, or another type", fields.n)
}

// values returns the bytes of a batch that Check has passed:
//
//	buffers   validity, offsets, values
func (b *Bytes) values(d *flight.FlightData, rows int) ([]byte, error) {
	batch, _ := root(d.GetDataHeader()).child(messageHeader)
	nodes, err := batch.vector(batchNodes, 16)
	if err != nil {
		return nil, err
	}
	buffers, err := batch.vector(batchBuffers, 16)
	if err != nil {
		return nil, err
	}
	if _, nulls := batch.pair(nodes, 0); nulls > 0 {
		return nil, fmt.Errorf("%d rows of a batch are null: each row holds bytes of the file", nulls)
	}
	if rows == 0 {
		return nil, nil
	}
	at, length := batch.pair(buffers, 1)
	offsets := d.GetDataBody()[at : at+length]
	at, length = batch.pair(buffers, 2)
	values := d.GetDataBody()[at : at+length]
	if len(offsets)/b.width <= rows {
		return nil, fmt.Errorf("%d bytes of offsets for %d rows", len(offsets), rows)
	}
	first := b.offset(offsets, 0)
	last := first
	for i := 1; i <= rows; i++ {
		next := b.offset(offsets, i)
		if next < last {
			return nil, fmt.Errorf("offset %d of a batch is %d, after %d", i, next, last)
		}
		last = next
	}
	if first < 0 || last > int64(len(values)) {
		return nil, fmt.Errorf("the rows of a batch are bytes %d to %d of %d", first, last, len(values))
	}
	return values[first:last], nil
}

func (b *Bytes) offset(offsets []byte, i int) int64 {
	if b.width == 4 {
		return int64(int32(binary.LittleEndian.Uint32(offsets[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(offsets[8*i:]))
}
