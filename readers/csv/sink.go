package csv

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// sink holds the records of the chunk at hand. All columns are in every chunk.
type sink struct {
	rows.Sink
	dialect *dialect
	columns []*rows.Column // of each field; nil: it is no attribute
}

func newSink(d *dialect, columns readers.Projection) *sink {
	k := &sink{dialect: d, columns: make([]*rows.Column, len(d.names))}
	k.Project(columns)
	k.Fields, k.Bare = true, d.geometry == noGeometry
	k.Init(func() *rows.Column { return &rows.Column{} })
	k.Reset()
	if d.text { // behind the Reset that makes the columns: to ask for each of them whether it is in Text takes its time
		for _, name := range d.names {
			k.Text = append(k.Text, geoarrow.ColumnID{Role: geoarrow.RoleAttribute, Name: string(name)})
		}
		k.Reset()
	}
	return k
}

// Reset forgets the records of the chunk, not what is known of it.
func (k *sink) Reset() {
	k.Sink.Reset()
	for i, name := range k.dialect.names {
		if k.dialect.fields[i]&useAttribute != 0 {
			k.columns[i] = k.Column(geoarrow.RoleAttribute, name)
		}
	}
}
