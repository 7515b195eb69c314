package csv

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// sink holds the records of the current chunk. All columns are in every chunk.
type sink struct {
	rows.Sink
	dialect *dialect
	columns []*rows.Column // of each field; nil: not an attribute
	uses    []use          // of each field: those of the dialect, except that in this chunk some are also attributes
}

func newSink(d *dialect, columns readers.Projection) *sink {
	k := &sink{dialect: d, columns: make([]*rows.Column, len(d.names)), uses: slices.Clone(d.fields)}
	k.Project(columns)
	k.Fields, k.Bare = true, d.geometry == noGeometry
	k.Init(func() *rows.Column { return &rows.Column{} })
	k.Reset()
	if d.text { // after the Reset that makes the columns, since looking up each of them in Text is slow
		for i, name := range d.names {
			if d.fields[i]&useGuess != 0 {
				continue
			}
			k.Text = append(k.Text, geoarrow.ColumnID{Role: geoarrow.RoleAttribute, Name: string(name)})
		}
		k.Reset()
	}
	return k
}

// Reset drops the records of the chunk, not what is known about it.
func (k *sink) Reset() {
	k.Sink.Reset()
	for i, name := range k.dialect.names {
		u := k.dialect.fields[i]
		if u&(useAttribute|useGuess) != 0 {
			k.columns[i] = k.Column(geoarrow.RoleAttribute, name)
		}
		if u&useGuess == 0 {
			continue
		}
		if k.columns[i].Guess = true; k.IsText(k.columns[i].ID) {
			u |= useAttribute
		}
		k.uses[i] = u
	}
}

// reveal makes the columns of a guessed geometry text as well, since one of their values is not a
// geometry.
func (k *sink) reveal() {
	for _, i := range k.dialect.shape {
		if k.uses[i]&useAttribute == 0 {
			k.columns[i].NeedText = true
		}
	}
}
