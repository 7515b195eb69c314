package gpkg

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// sink holds the rows of the current chunk. All columns are in every chunk.
type sink struct {
	rows.Sink
	table   *table
	columns []*rows.Column // of each of the table's; nil for the geometry
}

func newSink(t *table, columns readers.Projection) *sink {
	k := &sink{table: t, columns: make([]*rows.Column, len(t.columns))}
	k.Bare = t.geometry < 0
	k.Project(columns)
	k.Init(func() *rows.Column { return &rows.Column{} })
	k.Reset()
	return k
}

// Reset drops the rows of the chunk, not what is known about it.
func (k *sink) Reset() {
	k.Sink.Reset()
	for i := range k.columns {
		d := &k.table.columns[i]
		if d.store == storeGeometry {
			continue
		}
		c := k.Column(geoarrow.RoleAttribute, []byte(d.name))
		c.Plain = d.store != storeTime
		if kinds := kinds[d.store]; kinds != 0 {
			c.Accept(kinds)
		}
		k.columns[i] = c
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
		if c := &out.Attributes[at]; c.Facts.Kinds&geoarrow.FactUnread == 0 {
			d.declare(c, out.Rows)
		}
		at++
	}
	return out, nil
}

// declare gives a column the type that only its declaration tells: bytes, dates and times in UTC.
func (d *column) declare(c *geoarrow.Column, n int) {
	switch d.store {
	case storeBytes:
		c.Type, c.Facts = arrow.BinaryTypes.Binary, declared(arrow.BinaryTypes.Binary)
	case storeDate:
		c.Type, c.Facts = arrow.FixedWidthTypes.Date32, declared(arrow.FixedWidthTypes.Date32)
	case storeTime:
		empty := c.Facts.Kinds == 0
		c.Facts = c.Facts.Join(geoarrow.Facts{Kinds: geoarrow.FactZoned, Zones: geoarrow.OneZone})
		if empty {
			c.Type, c.Offsets, c.Values = c.Facts.Resolve(c.Role).Type, nil, make([]byte, 8*n)
		} else if c.Type.ID() == arrow.TIMESTAMP {
			c.Type = c.Facts.Resolve(c.Role).Type
		}
	}
}

// declared returns the facts of a column of a declared type.
func declared(t arrow.DataType) geoarrow.Facts {
	name, _ := geoarrow.TypeName(t)
	return geoarrow.Facts{Kinds: geoarrow.FactDeclared, Declared: name}
}
