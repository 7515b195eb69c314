package uploads

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/flight"
)

// Rules bound messages. A malicious schema may refer to one text or field many times, so
// SchemaBytes and Fields bound the cost of reading it.
type Rules struct {
	Flat        bool  // no nested types, no dictionaries
	Unions      bool  // except unions of flat types
	Rows        int64 // of a batch, and values of a nested array
	SchemaBytes int
	Fields      int   // including nested ones; also key-value pairs of the metadata of all fields
	Unpacked    int64 // size of a batch with a compressed body, decompressed; 0: no compression
}

// Kind is the kind of a message.
type Kind uint8

// The kinds of messages.
const (
	Nothing    Kind = iota // only a descriptor or metadata
	Schema                 // the first one
	Dictionary             // values that later batches refer to by index
	Batch                  //
)

// Checker checks the messages of one stream in order, before Arrow's reader gets them.
type Checker struct {
	Rules
	hasSchema    bool // the schema was received
	unions       bool // it has some
	version      byte // of its metadata
	rows         layout
	dictionaries map[int64]layout
}

// Check checks the next message. It passes a schema, then batches and dictionaries that have the
// right number of arrays and buffers, which do not overlap in the body. Arrow's reader does not
// check that they exist. Check returns the number of rows of a batch.
func (c *Checker) Check(d *flight.FlightData) (kind Kind, rows int64, err error) {
	if len(d.GetDataHeader()) == 0 {
		return Nothing, 0, nil
	}
	defer func() {
		if p := recover(); p != nil { // an offset outside of the message
			kind, rows, err = Nothing, 0, errDamaged
		}
	}()
	m := root(d.GetDataHeader())
	to, ok := m.child(messageHeader)
	if !m.has(messageType) || !ok {
		return Nothing, 0, errors.New("the message has no header")
	}
	of, version := m.byte(messageType), m.byte(messageVersion)
	body := d.GetDataBody()
	switch {
	case of == headerSchema && c.hasSchema:
		return Nothing, 0, errors.New("a second schema came")
	case of == headerSchema:
		c.hasSchema, c.version, c.dictionaries = true, version, map[int64]layout{}
		return Schema, 0, c.schema(to)
	case of != headerBatch && (of != headerDictionary || c.Flat):
		return Nothing, 0, errors.New("want a schema, then record batches")
	case !c.hasSchema:
		return Nothing, 0, errors.New("record batches came before their schema")
	case version != c.version:
		return Nothing, 0, errors.New("a batch is of another version of Arrow's format than its schema")
	case of == headerBatch:
		rows, err := c.batch(to, body, c.rows)
		return Batch, rows, err
	}
	data, ok := to.child(dictionaryData)
	l, known := c.dictionaries[to.int64(dictionaryID)]
	if !ok || !known {
		return Nothing, 0, errors.New("a dictionary of no column came")
	}
	_, err = c.batch(data, body, l)
	return Dictionary, 0, err
}

func (c *Checker) batch(b table, bytes []byte, want layout) (int64, error) {
	body := int64(len(bytes))
	rows := b.int64(batchLength)
	if rows < 0 || rows > c.Rows {
		return 0, fmt.Errorf("%d rows in a batch, more than %d", rows, c.Rows)
	}
	compression, compressed := b.child(batchCompression)
	if compressed && c.Unpacked == 0 {
		return 0, errors.New("the batch is compressed: send it as it is")
	}
	nodes, err := b.vector(batchNodes, 16) // length, null count
	if err != nil {
		return 0, err
	}
	buffers, err := b.vector(batchBuffers, 16) // offset, length
	if err != nil {
		return 0, err
	}
	views, err := b.variadic(want.views)
	if err != nil {
		return 0, err
	}
	if nodes.n != want.arrays || int64(buffers.n) != int64(want.buffers)+views {
		return 0, fmt.Errorf("a batch has %d arrays and %d buffers, where its schema wants %d and %d",
			nodes.n, buffers.n, want.arrays, int64(want.buffers)+views)
	}
	for i := range nodes.n {
		length, nulls := b.pair(nodes, i)
		if length < 0 || length > c.Rows || c.Flat && !c.unions && length != rows || nulls < 0 || nulls > length {
			return 0, fmt.Errorf("array %d: %d values and %d nulls in a batch of %d rows", i+1, length, nulls, rows)
		}
	}
	var total int64
	for i := range buffers.n {
		offset, length := b.pair(buffers, i)
		if offset < 0 || length < 0 || offset > math.MaxInt64-length || offset+length > body {
			return 0, fmt.Errorf("buffer %d: bytes %d to %d of a body of %d", i, offset, offset+length, body)
		}
		if total += length; total > body { // Arrow's reader copies each of them
			return 0, fmt.Errorf("buffer %d: the buffers share bytes of the body", i)
		}
	}
	if compressed {
		return rows, c.unpack(b, buffers, compression, bytes)
	}
	return rows, nil
}

// unpack checks compressed buffers in the body.
func (c *Checker) unpack(b table, buffers vector, compression table, body []byte) error {
	u, err := newDecompressor(compression, body, c.Unpacked)
	if err != nil {
		return err
	}
	defer u.close()
	for i := range buffers.n {
		if err := u.check(b.pair(buffers, i)); err != nil {
			return fmt.Errorf("buffer %d: %w", i, err)
		}
	}
	return nil
}

// variadic adds up the additional buffers of the given number of views.
func (t table) variadic(views int) (total int64, err error) {
	counts, err := t.vector(batchVariadic, 8)
	if err != nil {
		return 0, err
	}
	if counts.n != views {
		return 0, fmt.Errorf("a batch has %d columns of views, where its schema wants %d", counts.n, views)
	}
	for i := range counts.n {
		n := t.number(counts, i)
		if total += n; n < 0 || n > math.MaxInt32 {
			return 0, errDamaged
		}
	}
	return total, nil
}
