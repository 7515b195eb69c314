package uploads

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/flight"
)

// Rules are what messages may be. A damaged schema may name one text many times, and one field: so SchemaBytes and Fields bound what reading it takes.
type Rules struct {
	Flat        bool  // no nested types, no dictionaries
	Rows        int64 // of a batch, and values of an array inside of it
	SchemaBytes int
	Fields      int // nested ones too; also key-value pairs of metadata, of all fields together
}

// Kind is what a message is.
type Kind uint8

// The kinds of messages.
const (
	Nothing    Kind = iota // a descriptor alone, or metadata
	Schema                 //
	Dictionary             // values that later batches name by number
	Batch                  //
)

// Types of fields, as the union Type of Schema.fbs counts them: Null, Int, FloatingPoint, Binary, Utf8, Bool, Decimal, Date, Time, Timestamp, Interval,
// FixedSizeBinary, Duration, LargeBinary, LargeUtf8 have no children; List, Struct, Union, FixedSizeList, Map, LargeList do. The others are refused.
const (
	flat   = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<15 | 1<<18 | 1<<19 | 1<<20
	nested = 1<<12 | 1<<13 | 1<<14 | 1<<16 | 1<<17 | 1<<21

	typeBinary, typeLargeBinary = 4, 19
)

var typeNames = map[byte]string{22: "run-end encoded", 23: "binary_view", 24: "string_view", 25: "list_view", 26: "large_list_view"}

// mostNested is how deep fields may nest; Arrow's reader ends there too.
const mostNested = 64

// Check checks a message before Arrow's reader gets it: what passes is a schema, or a batch or a dictionary whose buffers lie in its body side by side. It
// gives the rows of a batch.
func Check(d *flight.FlightData, r Rules) (kind Kind, rows int64, err error) {
	if len(d.GetDataHeader()) == 0 {
		return Nothing, 0, nil
	}
	defer func() {
		if p := recover(); p != nil { // an offset that leads out of the message
			kind, rows, err = Nothing, 0, errDamaged
		}
	}()
	m := root(d.GetDataHeader())
	to, ok := m.child(messageHeader)
	if !m.has(messageType) || !ok {
		return Nothing, 0, errors.New("the message has no header")
	}
	body := int64(len(d.GetDataBody()))
	switch kind := m.byte(messageType); {
	case kind == headerSchema:
		return Schema, 0, r.schema(to)
	case kind == headerBatch:
		rows, err := r.batch(to, body)
		return Batch, rows, err
	case kind == headerDictionary && !r.Flat:
		data, ok := to.child(dictionaryData)
		if !ok {
			return Nothing, 0, errDamaged
		}
		_, err := r.batch(data, body)
		return Dictionary, 0, err
	}
	if r.Flat {
		return Nothing, 0, errors.New("want a schema, then record batches without dictionaries")
	}
	return Nothing, 0, errors.New("want a schema, then record batches")
}

// schemaCheck counts what the fields of a schema have.
type schemaCheck struct {
	Rules
	fields, pairs, text int
}

func (r Rules) schema(s table) error {
	fields, err := s.vector(schemaFields, 4)
	if err != nil {
		return err
	}
	if fields.n > r.Fields || len(s.Bytes) > r.SchemaBytes {
		return fmt.Errorf("%d columns in a schema of %d bytes: more than %d, or than %d bytes", fields.n, len(s.Bytes), r.Fields, r.SchemaBytes)
	}
	c := schemaCheck{Rules: r}
	for _, k := range []int{schemaMetadata, schemaFeatures} {
		v, err := s.vector(k, 4)
		if err != nil {
			return err
		}
		c.pairs += v.n
		if k == schemaMetadata {
			c.metadata(s, v)
		}
	}
	for i := range fields.n {
		if err := c.field(s.element(fields, i), i+1, 0); err != nil {
			return err
		}
	}
	if c.text > len(s.Bytes) {
		return errDamaged // texts that share bytes
	}
	return nil
}

// field checks a field of a column and those inside of it.
func (c *schemaCheck) field(f table, column, depth int) error {
	children, err := f.vector(fieldChildren, 4)
	if err != nil {
		return err
	}
	metadata, err := f.vector(fieldMetadata, 4)
	if err != nil {
		return err
	}
	c.text += f.textBytes(fieldName)
	c.fields++
	if c.fields > c.Fields || depth > mostNested {
		return fmt.Errorf("the schema has more than %d fields, or some %d inside of each other", c.Fields, mostNested)
	}
	if c.pairs += metadata.n; c.pairs > c.Fields {
		return fmt.Errorf("the schema has more than %d pairs of metadata", c.Fields)
	}
	c.metadata(f, metadata)
	kind := f.byte(fieldType)
	switch known := kind < 32; {
	case !c.Flat && typeNames[kind] != "":
		return fmt.Errorf("column %d: %s is a type that is not read: cast it to the one without", column, typeNames[kind])
	case !c.Flat && known && nested>>kind&1 == 1:
	case !known || flat>>kind&1 == 0 || children.n > 0:
		return fmt.Errorf("column %d: a nested type can't stand here", column)
	}
	if c.Flat && f.has(fieldDictionary) {
		return fmt.Errorf("column %d: a dictionary can't stand here; send its values", column)
	}
	for i := range children.n {
		if err := c.field(f.element(children, i), column, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// metadata adds up the texts of key-value pairs.
func (c *schemaCheck) metadata(of table, pairs vector) {
	for i := range min(pairs.n, c.Fields) {
		kv := of.element(pairs, i)
		c.text += kv.textBytes(pairKey) + kv.textBytes(pairValue)
	}
}

func (r Rules) batch(b table, body int64) (int64, error) {
	rows := b.int64(batchLength)
	if rows < 0 || rows > r.Rows {
		return 0, fmt.Errorf("%d rows in a batch, more than %d", rows, r.Rows)
	}
	if b.has(batchCompression) {
		return 0, errors.New("the batch is compressed: send it as it is")
	}
	nodes, err := b.vector(batchNodes, 16) // length, null count
	if err != nil {
		return 0, err
	}
	for i := range nodes.n {
		length, nulls := b.pair(nodes, i)
		if length < 0 || length > r.Rows || r.Flat && length != rows || nulls < 0 || nulls > length {
			return 0, fmt.Errorf("array %d: %d values and %d nulls in a batch of %d rows", i+1, length, nulls, rows)
		}
	}
	buffers, err := b.vector(batchBuffers, 16) // offset, length
	if err != nil {
		return 0, err
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
	return rows, nil
}
