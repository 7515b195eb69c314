package uploads

import (
	"errors"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Numbers of Message.fbs and Schema.fbs of Arrow 17: fields by their position in the table, members
// of unions by their value.
const (
	messageVersion, messageType, messageHeader                                           = 0, 1, 2
	headerSchema, headerDictionary, headerBatch                                     byte = 1, 2, 3
	schemaFields, schemaMetadata, schemaFeatures                                         = 1, 2, 3
	fieldName, fieldKind, fieldTable, fieldDictionary, fieldChildren, fieldMetadata      = 0, 2, 3, 4, 5, 6
	unionMode                                                                            = 0
	pairKey, pairValue                                                                   = 0, 1
	dictionaryID, dictionaryData                                                         = 0, 1
	batchLength, batchNodes, batchBuffers, batchCompression, batchVariadic               = 0, 1, 2, 3, 4
)

var errDamaged = errors.New("the message is cut or damaged")

// table reads a FlatBuffers table. Its methods panic if the table points outside of its bytes.
type table struct{ flatbuffers.Table }

// vector is the location of the elements of a vector, and their number.
type vector struct {
	at flatbuffers.UOffsetT
	n  int
}

// root returns the table of a message.
func root(header []byte) table {
	return table{flatbuffers.Table{Bytes: header, Pos: flatbuffers.GetUOffsetT(header)}}
}

// slot is the position of field k in the virtual table.
func slot(k int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*k) }

func (t table) has(k int) bool { return t.Offset(slot(k)) != 0 }

func (t table) child(k int) (table, bool) {
	at := t.Offset(slot(k))
	if at == 0 {
		return table{}, false
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(at))}}, true
}

// element returns table i of a vector of tables.
func (t table) element(v vector, i int) table {
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(v.at + flatbuffers.UOffsetT(4*i))}}
}

func (t table) byte(k int) byte {
	at := t.Offset(slot(k))
	if at == 0 {
		return 0
	}
	return t.GetByte(t.Pos + flatbuffers.UOffsetT(at))
}

func (t table) int64(k int) int64 {
	at := t.Offset(slot(k))
	if at == 0 {
		return 0
	}
	return t.GetInt64(t.Pos + flatbuffers.UOffsetT(at))
}

// textBytes returns the length of a text.
func (t table) textBytes(k int) int {
	v, err := t.vector(k, 1)
	if err != nil {
		panic(err)
	}
	return v.n
}

// vector finds a vector of elements of the given size, and checks that they exist.
func (t table) vector(k, size int) (vector, error) {
	at := flatbuffers.UOffsetT(t.Offset(slot(k)))
	if at == 0 {
		return vector{}, nil
	}
	v := vector{t.Vector(at), t.VectorLen(at)}
	if left := len(t.Bytes) - int(v.at); v.n < 0 || left < 0 || v.n > left/size {
		return vector{}, errDamaged
	}
	return v, nil
}

// pair returns element i of a vector of pairs of numbers.
func (t table) pair(v vector, i int) (first, second int64) {
	at := v.at + flatbuffers.UOffsetT(16*i)
	return t.GetInt64(at), t.GetInt64(at + 8)
}

// number returns element i of a vector of numbers.
func (t table) number(v vector, i int) int64 { return t.GetInt64(v.at + flatbuffers.UOffsetT(8*i)) }
