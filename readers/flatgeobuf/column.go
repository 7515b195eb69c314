package flatgeobuf

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// column is a column of the header.
type column struct {
	columnKind
	name string
}

// columnKind is the meaning of a header's type.
type columnKind struct {
	store store
	bytes int // of a value; 0: it has a length of its own

	// kinds are the kinds of every value, so that a column has the header's type in every part of a
	// file, even without values. The kinds of times depend on their texts.
	kinds geoarrow.FactKinds
}

// store is the representation of values.
type store uint8

const (
	storeInt8 store = iota
	storeUint8
	storeBool
	storeInt16
	storeUint16
	storeInt32
	storeUint32
	storeInt64
	storeUint64
	storeFloat32
	storeFloat64
	storeText
	storeJSON
	storeTime
	storeHex // bytes: tables have no columns of bytes
)

// columnTypes are the types by their number.
var columnTypes = [...]columnKind{
	{storeInt8, 1, geoarrow.FactInt32},    // Byte
	{storeUint8, 1, geoarrow.FactInt32},   // UByte
	{storeBool, 1, geoarrow.FactBool},     // Bool
	{storeInt16, 2, geoarrow.FactInt32},   // Short
	{storeUint16, 2, geoarrow.FactInt32},  // UShort
	{storeInt32, 4, geoarrow.FactInt32},   // Int
	{storeUint32, 4, geoarrow.FactInt64},  // UInt
	{storeInt64, 8, geoarrow.FactInt64},   // Long
	{storeUint64, 8, geoarrow.FactUint64}, // ULong
	{storeFloat32, 4, geoarrow.FactFloat}, // Float
	{storeFloat64, 8, geoarrow.FactFloat}, // Double
	{storeText, 0, geoarrow.FactString},   // String
	{storeJSON, 0, geoarrow.FactJSON},     // Json
	{storeTime, 0, 0},                     // DateTime
	{storeHex, 0, geoarrow.FactString},    // Binary
}

// sink holds the features of the current chunk. All columns are in every chunk.
type sink struct {
	rows.Sink
	header  *header
	columns []*rows.Column // of each of the header's
	nulls   bool           // on_error: null or repair
	bad     []deviation    // of the current feature
}

func newSink(h *header, columns readers.Projection) *sink {
	k := &sink{header: h, columns: make([]*rows.Column, len(h.columns))}
	k.Project(columns)
	k.Init(func() *rows.Column { return &rows.Column{} })
	k.Reset()
	return k
}

// Reset drops the features of the chunk, not what is known about it.
func (k *sink) Reset() {
	k.Sink.Reset()
	k.bad = k.bad[:0]
	for i := range k.columns {
		h := &k.header.columns[i]
		c := k.Column(geoarrow.RoleAttribute, []byte(h.name))
		c.Plain = h.store != storeTime
		if h.kinds != 0 {
			c.Accept(h.kinds)
		}
		k.columns[i] = c
	}
}
