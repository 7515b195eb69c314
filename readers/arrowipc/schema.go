package arrowipc

import (
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of format/Schema.fbs.
const (
	slotFields, slotSchemaMetadata             = 1, 2
	slotName, slotChildren, slotCustomMetadata = 0, 5, 6
	slotKey, slotValue                         = 0, 1
	mostDepth                                  = 64
	mostTexts                                  = 256 << 20 // bytes of all names and metadata: those of a table that stands in several places count there
)

// table is a table of a flatbuffer, which nobody has checked: to read beyond its end panics.
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

// below gives the table that a slot points to.
func (t table) below(slot int) (table, bool) {
	at, ok := t.at(slot)
	if !ok {
		return table{}, false
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: at + flatbuffers.GetUOffsetT(t.Bytes[at:])}}, true
}

// tables gives those of a vector.
func (t table) tables(slot int) []table {
	at, ok := t.at(slot)
	if !ok {
		return nil
	}
	offset := at - t.Pos
	n, first := t.VectorLen(offset), t.Vector(offset)
	if n < 0 || n > (len(t.Bytes)-int(first))/4 {
		panic(fmt.Errorf("a vector of %d tables", n))
	}
	out := make([]table, n)
	for i := range out {
		p := first + 4*flatbuffers.UOffsetT(i)
		out[i] = table{flatbuffers.Table{Bytes: t.Bytes, Pos: p + flatbuffers.GetUOffsetT(t.Bytes[p:])}}
	}
	return out
}

// text is the length of a string.
func (t table) text(slot int) int64 {
	at, ok := t.at(slot)
	if !ok {
		return 0
	}
	return int64(len(t.ByteVector(at)))
}

// checkSchema walks the schema of a message before Arrow's own code does, which would follow a table that stands in many places into each of them: a small message of
// tables of tables may have more fields than there is memory for. A flatbuffer of a field has 16 bytes or more.
func checkSchema(message []byte) error {
	t := table{flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}}
	schema, ok := t.below(slotHeader)
	if !ok {
		return errors.New("a message without a schema")
	}
	w := schemaWalk{fields: len(message)/16 + 1, texts: mostTexts}
	if err := w.pairs(schema.tables(slotSchemaMetadata)); err != nil {
		return err
	}
	return w.walk(schema.tables(slotFields), 0)
}

// schemaWalk is what may still come.
type schemaWalk struct {
	fields int
	texts  int64
}

func (w *schemaWalk) walk(fields []table, depth int) error {
	if depth > mostDepth {
		return fmt.Errorf("types are nested deeper than %d", mostDepth)
	}
	for _, f := range fields {
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
			return fmt.Errorf("names and metadata of more than %d bytes", mostTexts)
		}
	}
	return nil
}
