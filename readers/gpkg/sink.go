package gpkg

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// sink holds the rows of the current chunk. All columns are in every chunk.
type sink struct {
	rows.Sink
	table  *table
	fields []field // of each of the table's columns
}

// field is a column of the table, and of the chunk.
type field struct {
	*column
	to       *rows.Column // nil for the geometry
	unread   bool
	frequent frequent // kind of values that common reads
}

func newSink(t *table, columns readers.Projection) *sink {
	k := &sink{table: t, fields: make([]field, len(t.columns))}
	k.Bare = t.geometry < 0
	k.Project(columns)
	k.Init(func() *rows.Column { return &rows.Column{} })
	k.Reset()
	return k
}

// Reset drops the rows of the chunk, not what is known about it.
func (k *sink) Reset() {
	k.Sink.Reset()
	for i := range k.fields {
		d := &k.table.columns[i]
		k.fields[i].column, k.fields[i].frequent = d, frequentOf(d, k.table.utf8)
		if d.store == storeGeometry {
			continue
		}
		c := k.Column(geoarrow.RoleAttribute, []byte(d.name))
		c.Plain = true
		if kinds := kinds[d.store]; kinds != 0 {
			c.Accept(kinds)
		}
		k.fields[i].to, k.fields[i].unread = c, c.Unread
		if c.Unread {
			k.fields[i].frequent = frequentNone
		}
	}
}

// Columns returns the chunk, with the types that the table declares.
func (k *sink) Columns(next float64) (*geoarrow.Columns, error) {
	out, err := k.Sink.Columns(next)
	if err != nil {
		return nil, err
	}
	at := 0
	for i := range k.table.columns {
		d := &k.table.columns[i]
		if d.store == storeGeometry {
			continue
		}
		if !k.fields[i].unread {
			d.declare(&out.Attributes[at])
		}
		at++
	}
	return out, nil
}

// declare gives a column the type that only its declaration tells: bytes, dates and times in UTC.
func (d *column) declare(c *geoarrow.Column) {
	switch d.store {
	case storeBytes:
		c.Type, c.Facts = arrow.BinaryTypes.Binary, declared(arrow.BinaryTypes.Binary)
	case storeDate:
		c.Type, c.Facts = arrow.FixedWidthTypes.Date32, declared(arrow.FixedWidthTypes.Date32)
	case storeTime:
		c.Facts = geoarrow.Facts{Kinds: geoarrow.FactZoned, Zones: geoarrow.OneZone, Digits: shorten(c.Values)}
		c.Type = c.Facts.Resolve(c.Role).Type
	}
}

// shorten turns microseconds to milliseconds if all of them are whole ones, and returns the number of
// digits.
func shorten(values []byte) (digits uint8) {
	for at := 0; at < len(values); at += 8 {
		if int64(binary.LittleEndian.Uint64(values[at:]))%1000 != 0 {
			return 6
		}
	}
	for at := 0; at < len(values); at += 8 {
		b := values[at:][:8]
		binary.LittleEndian.PutUint64(b, uint64(int64(binary.LittleEndian.Uint64(b))/1000))
	}
	return 3
}

// declared returns the facts of a column of a declared type.
func declared(t arrow.DataType) geoarrow.Facts {
	name, _ := geoarrow.TypeName(t)
	return geoarrow.Facts{Kinds: geoarrow.FactDeclared, Declared: name}
}
