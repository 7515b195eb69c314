package records

import (
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of format/Message.fbs and format/Schema.fbs: the places of fields in their tables.
const (
	slotHeaderType, slotHeader, slotBodyLength = 1, 2, 3
	slotBuffers, slotVariadicCounts            = 2, 4
	slotData, kindDictionary                   = 1, 2

	slotFields, slotSchemaMetadata             = 1, 2
	slotName, slotChildren, slotCustomMetadata = 0, 5, 6
	slotKey, slotValue                         = 0, 1
	maxDepth                                   = 64
	// bytes of all names and metadata; a table that is referenced several times counts each time
	maxTexts = 256 << 20
)

// Message returns the kind of a message, as numbered in format/Message.fbs, and the length of its
// body. It panics if message is not a flatbuffer.
func Message(message []byte) (kind byte, body int64) {
	t := table{flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}}
	return t.byte(slotHeaderType), t.int64(slotBodyLength)
}

// CheckBatch checks the buffers of the message of a record batch or a dictionary: Arrow's code
// trusts their places in the body, and the number of them in a column of views. It panics if
// message is not a flatbuffer.
func CheckBatch(message []byte) error {
	t := table{flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}}
	body := t.int64(slotBodyLength)
	batch, ok := t.below(slotHeader)
	if ok && t.byte(slotHeaderType) == kindDictionary {
		batch, ok = batch.below(slotData)
	}
	if !ok {
		return errors.New("a message without a batch")
	}
	first, n := batch.vector(slotBuffers, 16)
	for i := range n {
		p := first + flatbuffers.UOffsetT(16*i)
		if at, length := batch.GetInt64(p), batch.GetInt64(p+8); at < 0 || length < 0 || at > body || length > body-at {
			return fmt.Errorf("buffer %d has %d bytes from byte %d of a body of %d", i, length, at, body)
		}
	}
	first, views := batch.vector(slotVariadicCounts, 8)
	for i := range views {
		if count := batch.GetInt64(first + flatbuffers.UOffsetT(8*i)); count < 0 || count > int64(n) {
			return fmt.Errorf("a column of %d buffers in a batch of %d", count, n)
		}
	}
	return nil
}

// table is an unchecked table of a flatbuffer: reading beyond its end panics.
type table struct{ flatbuffers.Table }

func (t table) at(slot int) (flatbuffers.UOffsetT, bool) {
	o := t.Offset(flatbuffers.VOffsetT(4 + 2*slot))
	return flatbuffers.UOffsetT(o) + t.Pos, o != 0
}

func (t table) byte(slot int) byte {
	if at, ok := t.at(slot); ok {
		return t.GetByte(at)
	}
	return 0
}

func (t table) int64(slot int) int64 {
	if at, ok := t.at(slot); ok {
		return t.GetInt64(at)
	}
	return 0
}

// below returns the table that a slot refers to.
func (t table) below(slot int) (table, bool) {
	at, ok := t.at(slot)
	if !ok {
		return table{}, false
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: at + flatbuffers.GetUOffsetT(t.Bytes[at:])}}, true
}

// vector returns where the elements of a vector begin, of n bytes, and how many there are.
func (t table) vector(slot, size int) (first flatbuffers.UOffsetT, n int) {
	at, ok := t.at(slot)
	if !ok {
		return 0, 0
	}
	offset := at - t.Pos
	n, first = t.VectorLen(offset), t.Vector(offset)
	if n < 0 || n > (len(t.Bytes)-int(first))/size {
		panic(fmt.Errorf("a vector of %d elements", n))
	}
	return first, n
}

// tables returns those of a vector.
func (t table) tables(slot int) []table {
	first, n := t.vector(slot, 4)
	out := make([]table, n)
	for i := range out {
		p := first + 4*flatbuffers.UOffsetT(i)
		out[i] = table{flatbuffers.Table{Bytes: t.Bytes, Pos: p + flatbuffers.GetUOffsetT(t.Bytes[p:])}}
	}
	return out
}

// text returns the length of a string.
func (t table) text(slot int) int64 {
	at, ok := t.at(slot)
	if !ok {
		return 0
	}
	return int64(len(t.ByteVector(at)))
}

// CheckSchema walks the schema of a message before Arrow's code does. That would follow every
// reference to a shared table, so that a small message may expand to more fields than fit in
// memory. A flatbuffer of a field has at least 16 bytes.
func CheckSchema(message []byte) error {
	t := table{flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}}
	schema, ok := t.below(slotHeader)
	if !ok {
		return errors.New("a message without a schema")
	}
	w := schemaWalk{fields: len(message)/16 + 1, texts: maxTexts}
	if err := w.pairs(schema.tables(slotSchemaMetadata)); err != nil {
		return err
	}
	return w.walk(schema.tables(slotFields), 0)
}

// schemaWalk has the remaining limits.
type schemaWalk struct {
	fields int
	texts  int64
}

func (w *schemaWalk) walk(fields []table, depth int) error {
	for _, f := range fields {
		if depth > maxDepth {
			return fmt.Errorf("types are nested deeper than %d", maxDepth)
		}
		if w.fields--; w.fields < 0 {
			return errors.New("more fields than the message has room for")
		}
		w.texts -= f.text(slotName)
		if err := w.pairs(f.tables(slotCustomMetadata)); err != nil {
			return err
		}
		if err := w.walk(f.tables(slotChildren), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *schemaWalk) pairs(pairs []table) error {
	for _, p := range pairs {
		w.texts -= p.text(slotKey) + p.text(slotValue) + 1
		if w.texts < 0 {
			return fmt.Errorf("names and metadata of more than %d bytes", maxTexts)
		}
	}
	return nil
}
